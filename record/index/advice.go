package index

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/record/database"
)

// Advice is the remedy for a scan.
type Advice struct {
	// Create is the statement that creates the index; empty if none helps.
	Create string
	// Qualified is the same with the table's schema, as far as it is known.
	Qualified string
	// Why are sentences: why the existing indexes do not serve, and further changes.
	Why []string
	// Exact: with the index, the scan reads only rows that it returns. Otherwise it also reads what conditions leave out that the index
	// does not hold, or sorts.
	Exact bool
	// ByValue: whether the index is used depends on a parameter's value, so that
	// no generic plan shows it.
	ByValue bool
}

// String is the advice as a remedy.
func (a Advice) String() string {
	parts := slices.Clone(a.Why)
	if a.Create != "" {
		parts = append([]string{a.Create + "."}, parts...)
	}
	return strings.Join(parts, " ")
}

// key is a key of an advised index.
type key struct {
	column     string // or
	expression string
	class      string // operator class, "" for the type's own
	desc       bool
	nulls      string // " NULLS FIRST", " NULLS LAST" where not the direction's own
}

func (k key) String() string {
	text := Quote(k.column)
	if k.column == "" {
		text = k.expression
		if !called.MatchString(text) {
			text = "(" + text + ")"
		}
	}
	if k.class != "" {
		text += " " + k.class
	}
	if k.desc {
		text += " DESC"
	}
	return text + k.nulls
}

// design is an index being designed.
type design struct {
	equal, rest []key
	where       []string // of a partial one
	method      string
	why         []string
	byValue     bool
	bytes       bool // its last key must order text byte by byte
	field       bool // a field of a document is compared for equality too, which needs an index of its own
}

func (d design) keys() []key { return append(slices.Clone(d.equal), d.rest...) }

// Advise names the index that a scan lacks: the columns compared for equality,
// then those of the order or of a range. It names none that exists.
func (s Scan) Advise() Advice {
	if s.Table == nil && strings.HasPrefix(s.Node.Relation, "pg_") {
		return Advice{Why: []string{s.Node.Relation +
			" is one of the server's own catalogues, which take no index: read it once, at start-up."}}
	}
	var d design
	var ranges, nulls, alternatives []condition
	for _, c := range conditions(s.Filter, s.Node.Alias) {
		switch c.op {
		case equal:
			s.addEqual(&d, c)
		case member:
			s.addMember(&d, c)
		case ranged, matches, prefixed, infix, contains:
			ranges = append(ranges, c)
		case either:
			alternatives = append(alternatives, c)
		case isNull, notNull, isTrue, isFalse:
			nulls = append(nulls, c)
		}
	}
	if d.field { // it selects, and what all rows have alike adds nothing to it
		d.equal = slices.DeleteFunc(d.equal, func(k key) bool { return s.single(k.column) })
	}
	sort := s.order(d.equal)
	for _, c := range ranges {
		if c.op == ranged && c.expression == "" && len(sort) > 0 && sort[0].column == c.column {
			continue // the order's own column
		}
		if len(d.rest) == 0 && (len(sort) == 0 || !s.Limited) {
			s.addRange(&d, c)
		}
	}
	if len(d.rest) == 0 {
		d.rest = sort
	}
	s.addPartial(&d, nulls)
	for _, c := range alternatives {
		if len(d.keys()) > 0 && !s.selectsMore(c, d) && !s.onlyOrders(d) {
			continue
		}
		if why := s.alternatives(c); why != "" {
			d = design{why: append(d.why, why)}
			break
		}
	}
	return s.finish(d)
}

// exact reports whether an index of a design leads to the rows that a scan returns, and to no others: each condition is one of its keys,
// and it has the order of which a limit takes the first. Values of a list are looked up one after another, without an order.
func (s Scan) exact(d design) bool {
	keys := d.keys()
	held := func(c condition, in []key) bool {
		return slices.ContainsFunc(in, func(k key) bool {
			return k.column != "" && (k.column == c.column || k.column == c.inner) || k.column == "" && k.expression == c.expression
		})
	}
	sorts := s.Limited && len(s.SortKey) > 0
	for _, c := range conditions(s.Filter, s.Node.Alias) {
		switch c.op {
		case equal:
			if !held(c, keys) || c.list && sorts {
				return false
			}
		case ranged, prefixed, contains:
			if !held(c, d.rest[:min(1, len(d.rest))]) {
				return false
			}
		case isNull, notNull, isTrue, isFalse:
			if !held(c, keys) && !slices.ContainsFunc(d.where, func(w string) bool { return strings.Contains(w, Quote(c.column)) }) {
				return false
			}
		default:
			return false
		}
	}
	order := s.order(d.equal)
	return !sorts || len(order) > 0 && slices.Equal(d.rest, order)
}

// rangePart is the part of the rows that the planner expects between two values that it does not know (selfuncs.h,
// DEFAULT_RANGE_INEQ_SEL).
const rangePart = 0.005

// onlyOrders reports whether the index of a design is there, the scan reads it, and it selects nothing: it only has the order.
func (s Scan) onlyOrders(d design) bool {
	orders := func(there database.Index) bool { return there.Name == s.Node.Index && s.serves(there, d) }
	return s.Table != nil && len(d.equal) == 0 && s.Node.IndexCond == "" && slices.ContainsFunc(s.Table.Indexes, orders)
}

// selectsMore reports whether the sides of an OR together select at most half of the rows that a design's keys do, by the planner's
// statistics.
func (s Scan) selectsMore(c condition, d design) bool {
	sides := 0.0
	for _, side := range c.sides {
		part, known := s.part(side.column)
		if !known || side.op != equal {
			return false
		}
		sides += part
	}
	all := 1.0
	for _, k := range d.equal {
		part, known := s.part(k.column)
		if !known {
			return false
		}
		all *= part
	}
	if len(d.rest) > 0 {
		all *= rangePart
	}
	return sides*Halves <= all
}

// alternatives advises an index for each side of an OR: the planner combines them (BitmapOr), and one for
// both sides serves neither. If each side has one, the scan of an index in the order of its rows, or of the whole table, tests the OR
// for each row, and one SELECT per side searches. "" if a side is no column.
func (s Scan) alternatives(c condition) string {
	name, _ := s.names()
	var texts, there []string
	for _, side := range c.sides {
		if side.column == "" || side.op != equal && side.op != ranged && side.op != isNull {
			return ""
		}
		text := fmt.Sprintf("CREATE INDEX ON %s (%s)", name, Quote(side.column))
		index := s.leading(side.column)
		switch {
		case index == "" && !slices.Contains(texts, text):
			texts = append(texts, text)
		case index != "" && !slices.Contains(there, index):
			there = append(there, index)
		}
	}
	if len(texts) == 0 {
		return fmt.Sprintf("The plan tests the OR for each row that it reads. Write one SELECT per side of the OR, each with the ORDER BY "+
			"and the LIMIT, and combine them by UNION: each can then search %s.", strings.Join(there, " or "))
	}
	return fmt.Sprintf("Each side of the OR needs its own index; the planner combines them (BitmapOr): %s.", strings.Join(texts, "; "))
}
