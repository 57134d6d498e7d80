package waits

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

const (
	// mostHanded is the part of a request's time in the goroutine that it hands its work to.
	mostHanded = 0.5
	// leastRest is the least share that is more than the error of a sum of shares.
	leastRest = 1e-6
)

// Unfolded returns the first level of the critical path, the longest first. Where requests hand their work to a goroutine and wait for it,
// as below net/http.TimeoutHandler, what that does takes the place of the wait, which would hide it. handed are the functions
// in which such goroutines begin.
func (p *Requests) Unfolded() (nodes []breakdown.PathNode, handed []string) {
	nodes = slices.Clone(p.Path().Nodes())
	for {
		i := slices.IndexFunc(nodes, p.handsOver)
		if i < 0 {
			return nodes, handed
		}
		n := nodes[i]
		handed = append(handed, n.Function)
		rest := breakdown.PathNode{Kind: breakdown.PathOther, Share: n.Share, NS: n.NS} // what was not followed further
		for _, c := range n.Nodes {
			rest.Share, rest.NS = rest.Share-c.Share, rest.NS-c.NS
		}
		nodes = slices.Concat(nodes[:i], nodes[i+1:], n.Nodes)
		if rest.Share > leastRest {
			nodes = append(nodes, rest)
		}
		slices.SortStableFunc(nodes, func(x, y breakdown.PathNode) int { return cmp.Compare(y.Share, x.Share) })
	}
}

// handsOver reports whether a node is a wait for the one goroutine that a request starts to do its work: it begins in a closure of the
// function that waits. Whoever starts several wants them to work at a time, and waits for whichever is last.
func (p *Requests) handsOver(n breakdown.PathNode) bool {
	outer, _, _ := strings.Cut(n.Site, " < ")
	if n.Kind != breakdown.PathGoroutine || !(n.Share > mostHanded) || !closureOf(n.Function, []code.Frame{SiteFrame(outer)}) {
		return false
	}
	if n := p.begunIn(n.Function); n > 0 {
		return float64(n) <= p.Nesting()*float64(p.Anatomy.Requests)+float64(p.Anatomy.Cut)
	}
	return !p.Stacks.User(code.Frame{Function: n.Function, File: n.File}) // no request is whole, and a library hands over one
}

// Starts reports whether requests are known to start the goroutines that begin in a function, in a given function of the user's.
func (p *Requests) Starts(entry string, at code.Frame) bool {
	return closureOf(entry, []code.Frame{at}) || p.starts(entry)
}

// begunIn returns how many goroutines that began in a function requests were seen to start.
func (p *Requests) begunIn(entry string) (n int) {
	for _, h := range slices.Concat(p.Anatomy.Helpers, p.Anatomy.Left) {
		if h.Entry == entry {
			n += h.Count
		}
	}
	return n
}
