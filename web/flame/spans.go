package flame

import (
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/profiles"
	"github.com/redline-go/redline/record/stacks"
)

// Part is what one span of time has of a column.
type Part struct {
	From float64 `json:"from"` // s of the run
	To   float64 `json:"to"`
	// Weight is how many of what is averaged the part stands for.
	Weight int `json:"weight,omitempty"`
	// Node holds the nodes whose own value in the span is not zero, each as its distance from
	// the one before; the first node of a graph is 0.
	Node []int   `json:"node"`
	Self []int64 `json:"self"`
}

// share is what a node has of a part.
type share struct {
	column, part int
	value        int64
}

// Bounds on what is inlined for a selection of time. A graph whose profiles have more
// stacks in sum gets fewer and longer parts, and one that has too many in a single profile
// none.
const (
	maxParts  = 40
	maxShares = 40_000
)

// addParts counts the profiles of a kind one by one, or groups of neighbours, in the nodes of a tree
// that has them all. It says for each part the span that it covers; nil where time cannot
// be distinguished, because there is one profile only or too much of them. Of profiles of an instant, each is
// a part, and the tree gets the nodes that it lacks.
func (t *tree) addParts(rec *record.Record, k kind) ([]Part, error) {
	var listed []record.Profile
	judged := rec.Judged()
	for _, l := range rec.Profiles(k.typ) {
		if l.Span.To >= judged.From && l.Span.From <= judged.To { // as package stacks reads them
			listed = append(listed, l)
		}
	}
	if len(listed) < 2 || len(listed) > maxParts*100 || k.state && len(listed) > maxParts {
		return nil, nil
	}
	each := (len(listed) + maxParts - 1) / maxParts
	parts := make([]Part, (len(listed)+each-1)/each)
	shares := 0
	for i, l := range listed {
		p := &parts[i/each]
		if i%each == 0 {
			p.From = l.Span.From.Seconds()
		}
		p.To = l.Span.To.Seconds()
		data, err := rec.ReadProfile(l)
		if err != nil {
			return nil, err
		}
		parsed, err := profiles.Parse(data)
		if err != nil {
			return nil, err
		}
		for column, value := range k.values {
			flat, err := stacks.Flatten(parsed, value)
			if err != nil {
				return nil, err
			}
			for _, s := range flat.Samples {
				if k.state {
					t.add(s.Stack, column, 0)
				}
				if n := t.find(s.Stack); n != nil {
					shares += n.share(column, i/each, s.Value)
				}
			}
		}
		if shares > maxShares {
			return nil, nil
		}
	}
	return parts, nil
}

// share counts a value in a part; it returns 1 for the first of its part and column.
func (n *node) share(column, part int, value int64) int {
	for i := range n.shares {
		if s := &n.shares[i]; s.column == column && s.part == part {
			s.value += value
			return 0
		}
	}
	n.shares = append(n.shares, share{column, part, value})
	return 1
}

func (t *tree) dropShares() {
	if t.root != nil {
		t.root.dropShares()
	}
}

func (n *node) dropShares() {
	n.shares = nil
	for _, c := range n.callees {
		c.dropShares()
	}
}

// putShares writes what a node has of each part; at is its place in the graph, and last the
// place of the node before it in each column's parts.
func putShares(g *Graph, n *node, at int, last map[[2]int]int) {
	for _, s := range n.shares {
		p := &g.Columns[s.column].Parts[s.part]
		key := [2]int{s.column, s.part}
		p.Node, p.Self = append(p.Node, at-last[key]), append(p.Self, s.value)
		last[key] = at
	}
}
