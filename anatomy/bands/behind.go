package bands

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/server"
	"github.com/redline-go/redline/record/breakdown"
)

// Bounds on the reported chains behind one part.
const (
	maxBehind  = 16
	maxMerged  = 8    // of those beyond it
	leastShare = 0.01 // of the part
)

// behind returns what a part's waits waited for, the longest first. Chains too short to be
// reported alone are reported as one if they differ only in who called for the wait.
func (a *Requests) behind(s *sum, n int, total time.Duration) []breakdown.Chain {
	least := leastShare * float64(s.took)
	behind := a.divided(s.behind)
	ids := longestFirst(behind)
	kept := enough(behind, ids, maxBehind, least)
	list := a.chains(behind, ids[:kept], n, total)
	like, rest := map[alike]goroutines.ChainID{}, map[goroutines.ChainID]followed{}
	for _, id := range ids[kept:] {
		key := a.alike(id)
		if _, ok := like[key]; !ok {
			like[key] = id // the longest stands for all
		}
		rest[like[key]] = rest[like[key]].plus(behind[id])
	}
	ids = longestFirst(rest)
	list = append(list, a.chains(rest, ids[:enough(rest, ids, maxMerged, least)], n, total)...)
	slices.SortStableFunc(list, func(x, y breakdown.Chain) int { return cmp.Compare(y.NS, x.NS) })
	return list
}

// divided returns chains with the counts of a link that several begin with divided among them
// by their time: a stretch counts for whichever chain the last piece of it belongs to, often one too
// short to be reported.
func (a *Requests) divided(behind map[goroutines.ChainID]followed) map[goroutines.ChainID]followed {
	type within struct {
		took  time.Duration
		begun float64
	}
	links := map[goroutines.ChainID]within{} // with all that lies behind them
	for id, f := range behind {
		for i, above := range a.Chains.List(id) {
			w := links[above]
			links[above] = within{w.took + f.took, w.begun + f.begun[i]}
		}
	}
	out := make(map[goroutines.ChainID]followed, len(behind))
	for id, f := range behind {
		for i, above := range a.Chains.List(id) {
			f.begun[i] = links[above].begun * float64(f.took) / float64(max(1, links[above].took))
		}
		out[id] = f
	}
	return out
}

func longestFirst(behind map[goroutines.ChainID]followed) []goroutines.ChainID {
	return slices.SortedFunc(maps.Keys(behind), func(x, y goroutines.ChainID) int {
		return cmp.Or(cmp.Compare(behind[y].took, behind[x].took), cmp.Compare(x, y))
	})
}

// enough returns how many of the longest chains, at most most, took least each.
func enough(behind map[goroutines.ChainID]followed, ids []goroutines.ChainID, most int, least float64) (n int) {
	for n < min(len(ids), most) && float64(behind[ids[n]].took) >= least {
		n++
	}
	return n
}

// alike is a chain without who called for its waits.
type alike [goroutines.MaxLinks]struct {
	entry, site interned.Name
	state       interned.State
}

func (a *Requests) alike(id goroutines.ChainID) (key alike) {
	for i, id := range a.Chains.List(id) {
		l := a.Chains.Links[id]
		key[i].entry, key[i].site, key[i].state = l.Entry, l.Site, l.State
	}
	return key
}

// chains returns chains with the mean request's part of them.
func (a *Requests) chains(behind map[goroutines.ChainID]followed, ids []goroutines.ChainID, n int, total time.Duration) []breakdown.Chain {
	var list []breakdown.Chain
	for _, id := range ids {
		f := behind[id]
		c := breakdown.Chain{NS: int64(f.took) / int64(n), Share: float64(f.took) / float64(total), Links: a.links(id, true)}
		for i := range c.Links {
			c.Links[i].Times = f.begun[i] / float64(n)
		}
		list = append(list, c)
	}
	return list
}

// serves reports whether goroutines that begin in a function serve requests. One that has ended no longer says so of itself.
func serves(entry string) bool {
	kind, _ := server.OfEntry(entry)
	return kind != server.None
}

// links returns a chain; if wanted, with the stacks of its last link and of those in the target's code, or whose outermost frames, which
// may be in it, are lost.
func (a *Requests) links(id goroutines.ChainID, stacks bool) []breakdown.Link {
	if id == 0 {
		return nil
	}
	ids := a.Chains.List(id)
	links := make([]breakdown.Link, len(ids))
	for i, id := range ids {
		l := a.Chains.Links[id]
		entry := a.Stacks.Names[l.Entry]
		links[i] = breakdown.Link{Goroutine: entry, Request: l.Request || serves(entry),
			State: interned.States[l.State], Site: a.Stacks.Names[l.Site]}
		if info := a.Stacks.Info(a.Chains.Stacks[id]); stacks && (i == len(ids)-1 || l.Path != 0 || info.Cut) {
			links[i].Stack, links[i].Cut, links[i].Operation = info.Frames, info.Cut, info.Operation
		}
	}
	return links
}
