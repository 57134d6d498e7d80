package flame

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/stacks"
)

// Set is the flame graphs of a page. It marshals to JSON; web/page/src/flame/tree.ts reads it.
// The zero value is empty and ready.
type Set struct {
	// Strings holds the names of functions and files.
	Strings []string `json:"strings"`
	// Functions holds name, file; name, file; ... as indexes into Strings.
	Functions []int `json:"functions"`
	// Frames holds function, line; function, line; ...: a function's index, and the line.
	Frames []int   `json:"frames"`
	Graphs []Graph `json:"graphs"`

	strings   map[string]int
	functions map[[2]int]int
	frames    map[frameKey]int
}

// Graph is one flame graph.
type Graph struct {
	ID    string `json:"id"` // cpu, allocs, heap, mutex, block, goroutine, requests, path
	Title string `json:"title"`
	Note  string `json:"note,omitempty"` // what it covers, and what it lacks
	// Up holds for each node how many levels to climb from the one before it to find its
	// caller: 0 is a callee of that node itself. The first node is a callee of the root,
	// which is not listed.
	Up []int `json:"up"`
	// First is the number of the set's frames that graphs before this one have.
	First int `json:"first"`
	// Frame holds for each node its frame, counted backwards from the first frame that no node
	// before it in the set has: 0 is that one.
	Frame   []int    `json:"frame"`
	Columns []Column `json:"columns"`
	// Combine says what the parts of several spans are together: their sum, unless it is one of Combine's.
	Combine string `json:"combine,omitempty"`
	// Noise is set where the columns are two runs.
	Noise *Noise `json:"noise,omitempty"`
}

// What parts of several spans are together, where they are not summed.
const (
	CombineMeans = "means"   // each part is a mean, and counts by its weight
	CombineState = "instant" // each part is the state at one instant
)

// Column is one kind of value over the nodes of a graph.
type Column struct {
	Name string `json:"name"`
	Unit string `json:"unit"` // as of charts: ns, bytes, 1
	// Self holds for each node its own value, without those of its callees.
	Self []int64 `json:"self"`
	// Scale is what one of Self stands for; 0 is 1.
	Scale float64 `json:"scale,omitempty"`
	// Parts are the spans of time that Self can be divided into; nil where it cannot.
	Parts []Part `json:"parts,omitempty"`
}

type frameKey struct{ function, line int }

// tree is a graph in the making.
type tree struct {
	root *node
	size int
}

type node struct {
	frame   code.Frame
	self    []int64
	total   int64 // of all columns, with the callees': to order by
	callees []*node
	at      map[code.Frame]*node
	shares  []share
}

// maxNodes bounds the nodes of one graph. A graph of 100,000 distinct stacks of 30 frames has
// about a million.
const maxNodes = 1_500_000

// leftOut is the function that stands for the stacks that a full graph has no room for.
const leftOut = "(stacks beyond this page's bound; the profile in the bundle has them)"

// add counts a stack, innermost first, in a column.
func (t *tree) add(stack []code.Frame, column int, value int64) {
	if t.root == nil {
		t.root = &node{}
	}
	n := t.root
	for i := len(stack) - 1; i >= 0; i-- {
		n = t.callee(n, stack[i])
	}
	n.count(column, value)
}

// find returns the node of a stack, innermost first; nil where the tree lacks it.
func (t *tree) find(stack []code.Frame) *node {
	n := t.root
	for _, f := range slices.Backward(stack) {
		if n == nil {
			return nil
		}
		n = n.at[f]
	}
	return n
}

func (n *node) count(column int, value int64) {
	for len(n.self) <= column {
		n.self = append(n.self, 0)
	}
	n.self[column] += value
}

// callee returns the callee of n in a frame.
func (t *tree) callee(n *node, f code.Frame) *node {
	if at := n.at[f]; at != nil {
		return at
	}
	if t.size >= maxNodes {
		f = code.Frame{Function: leftOut}
		if at := n.at[f]; at != nil || n.frame == f {
			return cmp.Or(at, n)
		}
	}
	if n.at == nil {
		n.at = map[code.Frame]*node{}
	}
	next := &node{frame: f}
	n.at[f], n.callees = next, append(n.callees, next)
	t.size++
	return next
}

// addProfile counts all stacks of a profile in a column.
func (t *tree) addProfile(p *stacks.Profile, column int) {
	for _, s := range p.Samples {
		t.add(s.Stack, column, s.Value)
	}
}

// put writes a tree into the set; an empty one is left out.
func (s *Set) put(g Graph, t *tree) {
	if t.root == nil || len(t.root.callees) == 0 {
		return
	}
	t.root.order()
	g.First = len(s.Frames) / 2
	g.Up, g.Frame = make([]int, 0, t.size), make([]int, 0, t.size)
	for i := range g.Columns {
		g.Columns[i].Self = make([]int64, 0, t.size)
	}
	depth := 0 // of the node before
	last := map[[2]int]int{}
	var walk func(n *node, at int)
	walk = func(n *node, at int) {
		g.Up, depth = append(g.Up, depth-at+1), at
		next := len(s.Frames) / 2
		g.Frame = append(g.Frame, next-s.frame(n.frame))
		for i := range g.Columns {
			self := int64(0)
			if i < len(n.self) {
				self = n.self[i]
			}
			g.Columns[i].Self = append(g.Columns[i].Self, self)
		}
		putShares(&g, n, len(g.Up)-1, last)
		for _, c := range n.callees {
			walk(c, at+1)
		}
	}
	for _, c := range t.root.callees {
		walk(c, 1)
	}
	s.Graphs = append(s.Graphs, g)
}

// order sorts callees, the largest first, so that the same run makes the same page.
func (n *node) order() int64 {
	n.total = 0
	for _, v := range n.self {
		n.total += v
	}
	for _, c := range n.callees {
		n.total += c.order()
	}
	slices.SortFunc(n.callees, func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.frame.Function, b.frame.Function),
			cmp.Compare(a.frame.File, b.frame.File), cmp.Compare(a.frame.Line, b.frame.Line))
	})
	return n.total
}

// frame returns the index of a frame, a new one for one that the set has not seen.
func (s *Set) frame(f code.Frame) int {
	if s.frames == nil {
		s.strings, s.functions, s.frames = map[string]int{}, map[[2]int]int{}, map[frameKey]int{}
	}
	pair := [2]int{s.text(f.Function), s.text(f.File)}
	function, ok := s.functions[pair]
	if !ok {
		function = len(s.functions)
		s.functions[pair] = function
		s.Functions = append(s.Functions, pair[0], pair[1])
	}
	key := frameKey{function, f.Line}
	at, ok := s.frames[key]
	if !ok {
		at = len(s.frames)
		s.frames[key] = at
		s.Frames = append(s.Frames, function, f.Line)
	}
	return at
}

func (s *Set) text(text string) int {
	at, ok := s.strings[text]
	if !ok {
		at = len(s.Strings)
		s.strings[text] = at
		s.Strings = append(s.Strings, notation.Clean(text))
	}
	return at
}
