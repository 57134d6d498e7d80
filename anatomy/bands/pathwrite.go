package bands

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/record/breakdown"
)

// largest returns the branches that a path keeps. A branch has no more time than the one
// above it and comes after it, so what is kept is a tree.
func largest(root *branch) map[*branch]bool {
	type found struct {
		*branch
		order int
	}
	var all []found
	var walk func(b *branch)
	walk = func(b *branch) {
		for _, key := range sortedKeys(b.below) {
			all = append(all, found{b.below[key], len(all)})
			walk(b.below[key])
		}
	}
	walk(root)
	slices.SortFunc(all, func(x, y found) int { return cmp.Or(cmp.Compare(y.took, x.took), cmp.Compare(x.order, y.order)) })
	kept := map[*branch]bool{}
	for _, f := range all[:min(len(all), maxNodes)] {
		kept[f.branch] = true
	}
	return kept
}

// sortedKeys returns the keys of branches, those of the longest first.
func sortedKeys(below map[branchKey]*branch) []branchKey {
	return slices.SortedFunc(maps.Keys(below), func(x, y branchKey) int {
		return cmp.Or(cmp.Compare(below[y].took, below[x].took), cmp.Compare(x.kind, y.kind), cmp.Compare(x.state, y.state),
			cmp.Compare(x.name, y.name), cmp.Compare(x.at, y.at))
	})
}

// writer turns branches into the record's nodes. Each time per request is the difference
// of two rounded running sums, so that nodes add up to the rounded mean.
type writer struct {
	a        *Requests
	requests time.Duration
	total    time.Duration
	kept     map[*branch]bool
	sum      time.Duration
}

// nodes returns what is below a branch. It writes what is below a node before the node's
// own time.
func (w *writer) nodes(b *branch) []breakdown.PathNode {
	var list []breakdown.PathNode
	var small time.Duration
	rest := b.took
	for _, key := range sortedKeys(b.below) {
		c := b.below[key]
		rest -= c.took
		if !w.kept[c] {
			small += c.took
			continue
		}
		before := w.sum / w.requests
		n := w.node(c)
		n.NS = int64(w.sum/w.requests - before)
		list = append(list, n)
	}
	if small > 0 {
		before := w.sum / w.requests
		w.sum += small
		list = append(list, breakdown.PathNode{Kind: breakdown.PathOther, NS: int64(w.sum/w.requests - before), Share: w.share(small)})
	}
	w.sum += rest
	return list
}

func (w *writer) share(took time.Duration) float64 {
	return float64(took) / float64(max(1, w.total))
}

func (w *writer) node(b *branch) breakdown.PathNode {
	n := breakdown.PathNode{Kind: b.kind, Function: b.function, Own: b.own, Share: w.share(b.took)}
	if b.kind == breakdown.PathState || b.kind == breakdown.PathRequest {
		n.State = interned.States[b.state]
	}
	if f := longest(b.frames, compareFrames); f.Function != "" {
		n.Function, n.File, n.Line = b.function, f.File, f.Line
	}
	n.Site = w.a.Stacks.Names[longest(b.sites, cmp.Compare[interned.Name])]
	if b.stack != 0 {
		n.Stack = w.a.Stacks.Info(b.stack).Frames
	}
	if f, ok := w.a.Stacks.Entries[b.function]; ok && b.kind == breakdown.PathGoroutine {
		n.File, n.Line, n.Own = f.File, f.Line, w.a.Stacks.Own.Owns(f)
	}
	n.Nodes = w.nodes(b)
	return n
}

// longest returns the key that took longest; the zero one of none.
func longest[K comparable](times map[K]time.Duration, compare func(x, y K) int) (best K) {
	most := time.Duration(-1)
	for key, took := range times {
		if took > most || took == most && compare(key, best) < 0 {
			best, most = key, took
		}
	}
	return best
}
