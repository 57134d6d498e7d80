package flame

import (
	"slices"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// bands are the columns of the graph of requests.
var bands = []struct {
	name   string
	parts  func(*breakdown.Anatomy) []breakdown.Part
	during func(*breakdown.During) []breakdown.Piece
}{
	{"mean of all", func(a *breakdown.Anatomy) []breakdown.Part { return a.All },
		func(d *breakdown.During) []breakdown.Piece { return d.All }},
	{"median request", func(a *breakdown.Anatomy) []breakdown.Part { return a.Median },
		func(d *breakdown.During) []breakdown.Piece { return d.Median }},
	{"tail", func(a *breakdown.Anatomy) []breakdown.Part { return a.Tail },
		func(d *breakdown.During) []breakdown.Piece { return d.Tail }},
}

// AddAnatomy adds what the requests of execution traces do, on and off the CPU: a graph of
// their states with the stacks that wait and what was waited for, a column per band, and
// one of their critical path.
func (s *Set) AddAnatomy(a *breakdown.Anatomy) {
	var t tree
	g := Graph{
		ID:    "requests",
		Title: "Requests",
		Note:  "States of a request, the stacks in which it waits, and below them what it waited for.",
	}
	for column, b := range bands {
		g.Columns = append(g.Columns, Column{Name: b.name, Unit: "ns"})
		for _, p := range b.parts(a) {
			t.part(column, p)
		}
	}
	t.divideRequests(a, &g)
	s.put(g, &t)
	if a.Path != nil {
		t = tree{root: &node{}}
		for _, n := range a.Path.Nodes {
			t.path(t.root, n, 0)
		}
		s.put(Graph{ID: "path", Title: "Critical path", Columns: []Column{{Name: "mean request", Unit: "ns"}},
			Note: "The work that a request depends on at each instant, its own or that of others."}, &t)
	}
}

// part counts a part of the mean request: its state, its stack, and what it waited for.
func (t *tree) part(column int, p breakdown.Part) {
	stack := stackOf(p)
	own := p.NS
	for _, c := range p.Behind {
		// Links are outermost first: each waits for the next.
		chain := make([]code.Frame, 0, len(c.Links)+len(stack))
		for _, l := range slices.Backward(c.Links) {
			chain = append(chain, code.Frame{Function: "waits for " + l.String()})
		}
		if ns := min(c.NS, own); ns > 0 {
			t.add(append(chain, stack...), column, ns)
			own -= ns
		}
	}
	t.add(stack, column, own)
}

// stackOf is where a part stands in the graph, innermost first.
func stackOf(p breakdown.Part) []code.Frame {
	if len(p.Stack) == 0 && p.Site != "" {
		return []code.Frame{{Function: p.Site}, {Function: string(p.State)}}
	}
	return append(slices.Clone(p.Stack), code.Frame{Function: string(p.State)})
}

// divideRequests lets the graph of requests be looked at by time, where a run has several traces: what a
// part waited for is not divided, and counts at the part.
func (t *tree) divideRequests(a *breakdown.Anatomy, g *Graph) {
	if len(a.During) < 2 || len(a.During) > maxParts || t.root == nil {
		return
	}
	parts := make([]Part, len(a.During))
	for i := range a.During {
		d := &a.During[i]
		parts[i] = Part{From: d.From.Seconds(), To: d.To.Seconds(), Weight: d.Requests}
		for column, b := range bands {
			for _, piece := range b.during(d) {
				if piece.Part < 0 || piece.Part >= len(a.All) {
					continue // a damaged file's
				}
				if n := t.find(stackOf(a.All[piece.Part])); n != nil {
					n.share(column, i, piece.NS)
				}
			}
		}
	}
	g.Combine = CombineMeans
	for i := range g.Columns {
		g.Columns[i].Parts = slices.Clone(parts)
	}
}

// deepestPath bounds the nodes of a critical path below each other; diagnosis keeps to fewer.
const deepestPath = 100

func (t *tree) path(below *node, p breakdown.PathNode, depth int) {
	if depth == deepestPath {
		return
	}
	n := t.callee(below, code.Frame{Function: pathName(p), File: p.File, Line: p.Line})
	own := p.NS
	for _, c := range p.Nodes {
		t.path(n, c, depth+1)
		own -= c.NS
	}
	n.count(0, max(own, 0))
}

// pathName names a node of the critical path.
func pathName(p breakdown.PathNode) string {
	name := p.Function
	if name == "" {
		name = p.Site
	}
	switch p.Kind {
	case breakdown.PathWork:
	case breakdown.PathState:
		if name != "" {
			name = " in " + name
		}
		name = string(p.State) + name
	case breakdown.PathGoroutine:
		name = "waits for goroutine " + name
	case breakdown.PathRequest:
		name = "waits for another request in " + name
	default:
		name = "(smaller parts)"
	}
	return notation.Clean(name)
}
