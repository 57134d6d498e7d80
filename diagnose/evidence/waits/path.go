package waits

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// Path is the critical path of the requests; see breakdown.Path. It is empty if there is
// no anatomy.
type Path struct {
	tree   *breakdown.Path
	serial []breakdown.Serial
}

// Path returns the requests' critical path.
func (p *Requests) Path() Path {
	if p.Anatomy == nil || p.Anatomy.Path == nil {
		return Path{}
	}
	return Path{p.Anatomy.Path, p.Anatomy.Serial}
}

// Nodes returns the first level of the tree, the longest first; nil without one.
func (x Path) Nodes() []breakdown.PathNode {
	if x.tree == nil {
		return nil
	}
	return x.tree.Nodes
}

// In returns the nodes at which the path is in a state, wherever that is.
func (x Path) In(state breakdown.State) (list []breakdown.PathNode) {
	var gather func(nodes []breakdown.PathNode)
	gather = func(nodes []breakdown.PathNode) {
		for _, n := range nodes {
			if n.Kind == breakdown.PathState && n.State == state {
				list = append(list, n)
			}
			gather(n.Nodes)
		}
	}
	gather(x.Nodes())
	return list
}

// Behind returns the part of request time behind the goroutines that began in a
// function, wherever on the path they are waited for, as one node.
func (x Path) Behind(entry string) (sum breakdown.PathNode, ok bool) {
	var gather func(nodes []breakdown.PathNode)
	gather = func(nodes []breakdown.PathNode) {
		for _, n := range nodes {
			if n.Kind != breakdown.PathGoroutine || n.Function != entry {
				gather(n.Nodes)
				continue
			}
			if !ok {
				sum, ok = n, true
				sum.Nodes = slices.Clone(n.Nodes)
				continue
			}
			sum.NS, sum.Share = sum.NS+n.NS, sum.Share+n.Share
			sum.Nodes = append(sum.Nodes, n.Nodes...)
		}
	}
	gather(x.Nodes())
	return sum, ok
}

// Serial returns the work of the goroutines that began in a function.
func (x Path) Serial(entry string) (breakdown.Serial, bool) {
	i := slices.IndexFunc(x.serial, func(s breakdown.Serial) bool { return s.Goroutine == entry })
	if i < 0 {
		return breakdown.Serial{}, false
	}
	return x.serial[i], true
}

// worksFor is the part of a function's time that a callee must have to be the one
// that works: below it, the caller itself or several callees do.
const worksFor = 0.5

// Worker returns the innermost of the target's own functions that has at least half
// of what a node's goroutine runs, assists of the collector included, and its part
// of the node's time, 0 to 1. ok is false if the goroutine hardly runs, or what it
// runs was not sampled.
func Worker(n breakdown.PathNode) (work breakdown.PathNode, part float64, ok bool) {
	var below []breakdown.PathNode
	ran := 0.0
	for _, c := range n.Nodes {
		if c.Kind == breakdown.PathState && (c.State == breakdown.StateRunning || c.State == breakdown.StateAssist) {
			below, ran = append(below, c.Nodes...), ran+c.Share
		}
	}
	for {
		best, found := heaviestOwn(below)
		if !found || best.Share < worksFor*ran {
			break
		}
		work, ran, ok = best, best.Share, true
		below = best.Nodes
	}
	if !ok || !(n.Share > 0) {
		return breakdown.PathNode{}, 0, false
	}
	return work, min(1, work.Share/n.Share), true
}

// heaviestOwn sums the nodes of each of the target's own functions and returns the
// heaviest.
func heaviestOwn(nodes []breakdown.PathNode) (best breakdown.PathNode, ok bool) {
	sums := map[string]breakdown.PathNode{}
	for _, n := range nodes {
		if n.Kind != breakdown.PathWork || !n.Own {
			continue
		}
		if s, there := sums[n.Function]; there {
			n.NS, n.Share, n.Nodes = n.NS+s.NS, n.Share+s.Share, append(slices.Clone(s.Nodes), n.Nodes...)
			n.File, n.Line = s.File, s.Line
		}
		sums[n.Function] = n
	}
	for _, n := range sums {
		if !ok || cmp.Or(cmp.Compare(n.Share, best.Share), cmp.Compare(best.Function, n.Function)) > 0 {
			best, ok = n, true
		}
	}
	return best, ok
}

// PlaceOf returns the place of a node's function.
func PlaceOf(n breakdown.PathNode) code.Frame {
	return code.Frame{Function: n.Function, File: n.File, Line: n.Line}
}
