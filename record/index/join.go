package index

import (
	"cmp"
	"slices"
	"strings"
)

// join is a hash or merge join above a scan, which reads all rows that match the scan's own conditions to find those of the other
// side. With an index on the join's columns, a nested loop would look them up.
type join struct {
	cond  string
	other float64 // rows of the other side
	rows  float64 // that it returns
}

// passes reports whether a node only hands on the rows of a table to the join above it.
func passes(node string) bool {
	switch node {
	case "Hash", "Sort", "Incremental Sort", "Gather", "Gather Merge", "Materialize":
		return true
	}
	return false
}

// joinAt returns what a join looks up in its i-th child; nil where no nested loop could: the rows of an outer join's preserved side are
// wanted whether or not they match, as is the side of which a semijoin returns rows.
func joinAt(n *Node, i int) *join {
	cond := cmp.Or(n.HashCond, n.MergeCond)
	if cond == "" || len(n.Plans) != 2 || i > 1 {
		return nil
	}
	inner := 1 // the second child is the inner side
	switch {
	case n.Join == "Inner" || n.Join == "":
		inner = i
	case strings.HasPrefix(n.Join, "Right"):
		inner = 0
	case n.Join == "Full":
		return nil
	}
	if i != inner {
		return nil
	}
	return &join{cond: cond, other: rowsOf(&n.Plans[1-i]), rows: rowsOf(n)}
}

func rowsOf(n *Node) float64 {
	if n.Actual != nil {
		return *n.Actual * max(1, n.Loops)
	}
	return n.Rows
}

// lookedUp returns the scan as look-ups of a join's other side, if an index that does not exist would make that cheaper.
func (s Scan) lookedUp(j *join, c Catalogue) Scan {
	if j == nil || s.Loops > 1 || s.Table == nil {
		return s
	}
	columns := conditions(j.cond, s.Node.Alias)
	if !slices.ContainsFunc(columns, func(c condition) bool { return c.op == equal }) {
		return s
	}
	by := s
	if by.Filter != "" {
		by.Filter += " AND "
	}
	by.Filter += bare(j.cond) // conditions joined by AND, as the filter
	by.SortKey, by.Limited, by.whole, by.early = nil, false, false, 0
	by.Lookups = max(1, j.other)
	by.Wanted = max(1, j.rows/by.Lookups)
	if p := c.planner(); by.neededCost(p) >= s.neededCost(p) || by.Advise().Create == "" {
		return s
	}
	return by
}

// searches is how often an index would be searched in an execution.
func (s Scan) searches() float64 { return cmp.Or(s.Lookups, s.Loops) }
