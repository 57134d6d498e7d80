package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/record/database"
)

const (
	// fanout is about how many entries of an index are in a block of 8 kB: keys
	// of 8 to 16 bytes, with a line pointer and 70 to 90 % full.
	fanout = 300
	// unknownDepth is the depth of an index of unknown size: up to 27 million rows.
	unknownDepth = 3
	// Halves is the factor by which an index must cut the work of a statement to be
	// named: an index that leaves more than half of it is not the remedy.
	Halves = 2
)

// defaults are PostgreSQL's, for records without settings.
var defaults = database.Planner{SeqPage: 1, RandomPage: 4, Tuple: 0.01, IndexTuple: 0.005, Operator: 0.0025}

// Catalogue holds what is known about the tables of plans.
type Catalogue struct {
	Tables  []database.Table
	Planner *database.Planner // nil for PostgreSQL's defaults
}

func (c Catalogue) table(n *Node) *database.Table {
	for i := range c.Tables {
		if t := &c.Tables[i]; t.Name == n.Relation && (n.Schema == "" || n.Schema == t.Schema) {
			return t
		}
	}
	return nil
}

func (c Catalogue) planner() database.Planner {
	if c.Planner == nil || !(c.Planner.SeqPage > 0) || !(c.Planner.RandomPage > 0) {
		return defaults
	}
	return *c.Planner
}

// Scan is a place where a plan reads a table.
type Scan struct {
	Node    *Node
	Table   *database.Table // nil if the catalogue was not read
	Filter  string          // all that its rows must meet, including the index's conditions
	SortKey []string        // of the sort above it that takes only its rows
	Limited bool            // only the first rows of that sort are wanted
	Loops   float64         // how often it runs per execution
	Wanted  float64         // rows wanted each time
	Cost    float64         // the planner's, of one run
	// Lookups is how often an index would be searched in place of one scan, for the rows of the other side of a join; 0 for as often as
	// it scans. Filter then has the join's condition, and Wanted is the rows for each.
	Lookups float64
	// early is the planner's cost of a whole run, where it expects a limit to end it soon: it reads an index in the order
	// wanted and discards what does not meet the filter. 0 for others.
	early   float64
	whole   bool // every row of the table is wanted
	planner database.Planner
}

// Removed is how many rows an execution reads and discards; 0 when it is not known.
func (s Scan) Removed() float64 { return s.Node.Removed * max(1, s.Node.Loops) }

// walkState is the state of the walk of a plan.
type walkState struct {
	pure    bool // the rows go to the client one by one
	sort    []string
	sorting float64 // cost of the sort and the nodes below
	limited bool
	limit   float64 // on rows of the nodes below, infinite for none
	ceiling float64 // most cost that a limit above allows
	loops   float64
	depth   int
	join    *join // that needs the rows of the nodes below, nil for none
}

// Scans lists the scans of a plan. rows is how many rows an execution returned on
// average, negative if unknown.
func Scans(root *Node, rows float64, c Catalogue) (all []Scan) {
	var walk func(n *Node, at walkState)
	walk = func(n *Node, at walkState) {
		if at.depth > maxDepth {
			return
		}
		subs, cost := subqueries(n)
		for _, sub := range subs {
			walk(sub.Node, walkState{limit: math.Inf(1), ceiling: math.Inf(1), loops: at.loops * sub.loops, depth: at.depth + 1})
		}
		if n.Relation != "" && n.Type != "ModifyTable" {
			s := scan(n, at, rows, c)
			s.Cost = max(0, s.Cost-cost)
			all = append(all, s)
			return
		}
		at.depth++
		keys, limit, inOrder := ordered(n, at)
		joined := at.join
		at.join = nil
		switch n.Type {
		case "Limit":
			at.limit, at.ceiling = n.Rows, min(at.ceiling, n.Cost)
			at.limited = true
		case "Sort", "Incremental Sort":
			at.sort, at.sorting, at.ceiling = n.SortKey, n.Cost, math.Inf(1)
		case "Gather", "Gather Merge", "LockRows", "Result", "ModifyTable", "Append", "Merge Append", "Subquery Scan":
		default:
			at.pure, at.sort, at.limited, at.limit = false, nil, false, math.Inf(1)
			if n.Type != "Nested Loop" && n.Type != "Memoize" && n.Type != "Materialize" {
				at.ceiling = math.Inf(1)
			}
		}
		for i := range n.Plans {
			if n.Plans[i].subquery() {
				continue
			}
			below := at
			if n.Type == "Nested Loop" && i > 0 && n.Plans[i].Type != "Materialize" { // which keeps the rows
				below.loops *= max(1, n.Plans[0].Rows)
			}
			if inOrder && i == 0 {
				below.sort, below.limited, below.limit = keys, true, limit
			}
			if passes(n.Type) {
				below.join = joined
			} else {
				below.join = joinAt(n, i)
			}
			walk(&n.Plans[i], below)
		}
	}
	walk(root, walkState{pure: true, limit: math.Inf(1), ceiling: math.Inf(1), loops: 1})
	return all
}

// subquery reports whether a node is run for an expression of its parent, and not for that one's rows.
func (n *Node) subquery() bool { return n.Parent == "SubPlan" || n.Parent == "InitPlan" }

// looped is a node and how often one execution of its parent runs it.
type looped struct {
	*Node
	loops float64
}

// subqueries returns the subqueries of a node, the most expensive first, and what they cost it together. The planner does not say whether
// one runs for each row; if the node's cost could not contain that, its rows are kept (a hashed subplan), or it depends on none.
func subqueries(n *Node) (list []looped, cost float64) {
	for i := range n.Plans {
		if n.Plans[i].subquery() {
			list = append(list, looped{&n.Plans[i], 1})
		}
	}
	slices.SortStableFunc(list, func(a, b looped) int { return cmp.Compare(b.Cost, a.Cost) })
	for i, sub := range list {
		if each := max(1, n.Rows); sub.Parent == "SubPlan" && cost+each*sub.Cost <= n.Cost {
			list[i].loops = each
		}
		cost += list[i].loops * sub.Cost
	}
	return list, cost
}

func scan(n *Node, at walkState, rows float64, c Catalogue) Scan {
	s := Scan{Node: n, Table: c.table(n), SortKey: at.sort, Limited: at.limited, Loops: max(1, at.loops, n.Loops), Wanted: max(1, n.Rows)}
	s.planner = c.planner()
	filters := []string{}
	add := func(text string) {
		if text != "" {
			filters = append(filters, "("+bare(text)+")")
		}
	}
	add(n.IndexCond)
	bitmapConditions(n, add, 0)
	add(n.Filter)
	s.Filter = strings.Join(filters, " AND ")
	s.whole = s.Filter == "" && !at.limited && n.Type != "Bitmap Heap Scan" // either of several conditions
	if n.Actual != nil {
		s.Wanted = max(1, *n.Actual)
		s.Loops = max(1, n.Loops)
	}
	matched := s.Wanted
	switch {
	case at.pure && rows >= 0:
		s.Wanted = max(1, rows/s.Loops)
	default:
		s.Wanted = min(s.Wanted, max(1, at.limit))
	}
	if at.limited && len(at.sort) > 0 && s.listed() {
		// An index finds the values of a list one after another: their rows are read and sorted, however few are returned.
		s.Wanted = max(s.Wanted, matched)
	}
	s.Cost = n.Cost
	switch {
	case len(at.sort) == 0:
		s.Cost = min(s.Cost, at.ceiling) // it stops when the limit is reached
		if at.limited && n.Index != "" && n.Filter != "" && s.Cost < n.Cost {
			s.early, s.SortKey = n.Cost, s.orderOf(n.Index)
		}
	case at.limited && s.order(nil) != nil:
		s.Cost = max(s.Cost, at.sorting) // the index saves the sort too
	}
	return s.lookedUp(at.join, c)
}

// listed reports whether a column is compared with a list of values.
func (s Scan) listed() bool {
	return slices.ContainsFunc(conditions(s.Filter, s.Node.Alias), func(c condition) bool { return c.list })
}

// bitmapConditions adds the conditions of the index scans below a bitmap heap scan.
func bitmapConditions(n *Node, add func(string), depth int) {
	for i := range n.Plans {
		if below := &n.Plans[i]; strings.HasPrefix(below.Type, "Bitmap") && below.Type != "BitmapOr" && depth < maxDepth {
			add(below.IndexCond)
			bitmapConditions(below, add, depth+1)
		}
	}
}

// orderOf returns the order in which an index of the table has its rows, as a plan's sort key; nil where it is no plain columns'.
func (s Scan) orderOf(name string) (keys []string) {
	if s.Table == nil {
		return nil
	}
	at := slices.IndexFunc(s.Table.Indexes, func(i database.Index) bool { return i.Name == name })
	if at < 0 {
		return nil
	}
	for _, k := range s.Table.Indexes[at].Keys {
		if k.Column == "" {
			return nil
		}
		keys = append(keys, Quote(s.Node.Alias)+"."+Quote(k.Column))
	}
	return keys
}

// depth is how many blocks a descent of an index on a table reads.
func (s Scan) depth() float64 {
	if s.Table == nil || s.Table.Rows < 0 {
		return unknownDepth
	}
	return max(1, math.Ceil(math.Log(max(1, s.Table.Rows))/math.Log(fanout)))
}

// pages is how many of the table's blocks its rows can be in.
func (s Scan) pages() float64 {
	if s.Table == nil || !(s.Table.Pages > 0) {
		return math.Inf(1)
	}
	return s.Table.Pages
}

// Selective reports whether a scan reads a whole table for a few of its rows: half of its cost and more, by the planner's figures, is for
// rows that its conditions leave out.
func (s Scan) Selective() bool {
	return s.Node.Type == "Seq Scan" && s.Filter != "" && s.Loops*s.Cost >= Halves*s.neededCost(s.planner)
}

// NeededBlocks is how many blocks an execution would visit with a fitting index: its
// descent, its leaves, and at most one block per row.
func (s Scan) NeededBlocks() float64 {
	blocks := s.depth() + s.Wanted/fanout + min(s.Wanted, s.pages())
	if s.whole {
		if p := s.pages(); !math.IsInf(p, 1) {
			blocks = p
		}
	}
	return s.searches() * blocks
}

// neededCost is the same in the planner's units.
func (s Scan) neededCost(p database.Planner) float64 {
	if s.whole {
		return s.Loops * s.Cost
	}
	pages := 1 + math.Floor(s.Wanted/fanout) + min(s.Wanted, s.pages())
	return s.searches() * (p.RandomPage*pages + s.Wanted*(p.IndexTuple+p.Tuple+p.Operator))
}

// Waste is the scan whose work an index would save most of.
type Waste struct {
	Scan
	// Needed is the part of the statement's work that the index leaves, from 0 to 1.
	Needed float64
	// Blocks is how many an execution would visit with the index.
	Blocks float64
	// Also are the statement's other scans that an index would save at least half as much of.
	Also []Scan
}

// Advise names the index that the scan lacks, and those of the others.
func (w Waste) Advise() Advice {
	a := w.Scan.Advise()
	same := 0
	for _, s := range w.Also {
		other := s.Advise().Create
		switch {
		case other == "" || other == a.Create:
		case s.Node.Relation != w.Node.Relation && s.plainFilter() == w.plainFilter():
			same++
		default:
			a.Why = append(a.Why, "The plan also scans "+s.Node.Relation+": "+other+".")
		}
	}
	if same > 0 {
		tables := "a further table"
		if same > 1 {
			tables = fmt.Sprintf("%d more tables", same)
		}
		a.Why = append(a.Why, "The plan scans "+tables+" under the same condition: if they are partitions, create the index on the table "+
			"that they are of.")
	}
	return a
}

// plainFilter is a scan's filter without its own name.
func (s Scan) plainFilter() string { return strings.ReplaceAll(s.Filter, s.Node.Alias+".", "") }

// Worst finds the scan that wastes the most, if indexes for what is scanned would cut the work of the whole
// statement to half or less: by the planner's costs and also by blocks (per execution,
// negative if unknown), if these were counted. rows is how many rows an execution
// returned, negative if unknown. If they would not, ok is false and worst the scan that wastes the most, if one does.
func Worst(root *Node, rows, blocks float64, c Catalogue) (worst Waste, ok bool) {
	planner := c.planner()
	needed, most, waste, total := 0.0, 0.0, 0.0, root.Cost
	type excessive struct {
		Scan
		cost float64
	}
	var all []excessive
	scans := Scans(root, rows, c)
	for _, s := range scans {
		needed += s.NeededBlocks()
	}
	for _, s := range scans {
		if blocks >= Halves*needed {
			s.Cost = max(s.Cost, s.early) // so many are read that the limit does not end it soon
		}
		total = max(total, s.Loops*s.Cost)
		excess := s.Loops*s.Cost - s.neededCost(planner)
		if s.Filter == "" && (len(s.SortKey) == 0 || !s.Limited) || excess <= 0 {
			continue
		}
		all, waste = append(all, excessive{s, excess}), waste+excess
		if excess > most {
			worst, most, ok = Waste{Scan: s}, excess, true
		}
	}
	if !ok {
		return Waste{}, false
	}
	for _, e := range all {
		if e.Node != worst.Node && Halves*e.cost >= most {
			worst.Also = append(worst.Also, e.Scan)
		}
	}
	worst.Blocks, worst.Needed = needed, max(0, total-waste)/total
	if blocks >= 0 {
		worst.Needed = min(1, needed/max(1, blocks))
	}
	byCost := total >= Halves*(total-waste)
	removed := worst.Removed() >= Halves*worst.Wanted*worst.searches() // it was run, and its rows counted
	return worst, (byCost || removed) && worst.Needed <= 1.0/Halves    // the scan is known even if its index alone is no remedy
}
