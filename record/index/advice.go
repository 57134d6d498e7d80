package index

import (
	"fmt"
	"regexp"
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
	text := quote(k.column)
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
	var d design
	var ranges, nulls, alternatives []condition
	for _, c := range conditions(s.Filter, s.Node.Alias) {
		switch c.op {
		case equal:
			s.addEqual(&d, c)
		case ranged:
			ranges = append(ranges, c)
		case matches, prefixed, infix, contains:
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
		} else if c.expression != "" && c.op == ranged {
			s.addRange(&design{}, c)
		}
	}
	if len(d.rest) == 0 {
		d.rest = sort
	}
	s.addPartial(&d, nulls)
	for _, c := range alternatives {
		if len(d.keys()) > 0 && !s.selectsMore(c, d) {
			continue
		}
		if why := s.alternatives(c); why != "" {
			d = design{why: append(d.why, why)}
			break
		}
	}
	return s.finish(d)
}

// rangePart is the part of the rows that the planner expects between two values that it does not know (selfuncs.h,
// DEFAULT_RANGE_INEQ_SEL).
const rangePart = 0.005

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
// both sides serves neither. "" if a side is no column, or none lacks an index.
func (s Scan) alternatives(c condition) string {
	name, _ := s.names()
	var texts []string
	for _, side := range c.sides {
		if side.column == "" || side.op != equal && side.op != ranged {
			return ""
		}
		text := fmt.Sprintf("CREATE INDEX ON %s (%s)", name, quote(side.column))
		if s.leading(side.column) == "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf("Each side of the OR needs its own index; the planner combines them (BitmapOr): %s.", strings.Join(texts, "; "))
}

func (d *design) addKey(to *[]key, k key) {
	for _, before := range d.keys() {
		if before.column == k.column && before.expression == k.expression {
			return
		}
	}
	*to = append(*to, k)
}

// steady are immutable functions of the server, so an index can hold their results.
// Others depend on settings such as the time zone.
const steady = " lower upper md5 length abs btrim ltrim rtrim reverse mod coalesce "

// dates are functions and casts that truncate a time: a range of the column itself
// selects the same rows and needs no index on an expression.
const dates = " date date_trunc date_part to_char extract "

func (s Scan) addEqual(d *design, c condition) {
	switch {
	case c.column != "":
		d.addKey(&d.equal, key{column: c.column})
	case c.cast != "" && s.relabels(c):
		d.addKey(&d.equal, key{column: c.inner})
	case c.cast == "date" || strings.Contains(dates, " "+c.function+" "):
		d.why = append(d.why, fmt.Sprintf("No index on %[1]s serves %[2]s: write it as a range, %[1]s >= $1 AND %[1]s < "+
			"$1 + interval '1 day'.", quote(c.inner), c.expression))
		d.addKey(&d.rest, key{column: c.inner})
	case c.cast != "":
		is := ""
		if t := s.typeOf(c.inner); t != "" {
			is = " (of type " + t + ")"
		}
		d.why = append(d.why, fmt.Sprintf("The comparison casts %s%s to %s, and no index on the column serves that: pass the "+
			"parameter in the column's own type.", quote(c.inner), is, c.cast))
		d.addKey(&d.equal, key{column: c.inner})
	case s.steady(c):
		d.addKey(&d.equal, key{expression: c.expression})
		if i := s.leading(c.inner); i != "" {
			d.why = append(d.why, fmt.Sprintf("%s indexes %s itself, so it does not serve %s.", i, quote(c.inner), c.expression))
		}
	case c.function == "" && hiddenField.MatchString(c.expression):
		why := fmt.Sprintf("An index on the expression serves %s: CREATE INDEX ON %s ((%s)), with the statement's own key.", c.expression,
			quote(s.Node.Relation), hiddenField.ReplaceAllString(c.expression, " ->> 'key'"))
		if i := s.looking(c.inner); i != "" {
			why += fmt.Sprintf(" So does %s (GIN), if the statement compares %s @> jsonb_build_object(key, value).", i, quote(c.inner))
		}
		d.why, d.field = append(d.why, why), true
	}
}

// single reports whether a column has one value in all rows, by the planner's statistics.
func (s Scan) single(column string) bool {
	return s.Table != nil && slices.ContainsFunc(s.Table.Columns, func(c database.Column) bool {
		return c.Name == column && c.Known && c.Distinct == 1 && c.Nulls == 0
	})
}

// looking returns the name of a GIN index that looks into a column's documents; "" without one.
func (s Scan) looking(column string) string {
	if s.Table == nil {
		return ""
	}
	for _, index := range s.Table.Indexes {
		if index.Method == "gin" && len(index.Keys) > 0 && index.Keys[0].Column == column && looksInto(index.Keys[0].Class, "") {
			return index.Name
		}
	}
	return ""
}

// hiddenField matches the field of a jsonb column whose key is a parameter or a hidden constant.
var hiddenField = regexp.MustCompile(` ->> (?:\$\d+|'[^']*…[^']*')(?:::text)?$`)

// steady reports whether an index may hold the expression: an immutable function,
// or a field of a jsonb column.
func (s Scan) steady(c condition) bool {
	if strings.Contains(c.expression, "…") {
		return false // a hidden constant
	}
	if c.function != "" {
		return strings.Contains(steady, " "+c.function+" ") && !strings.Contains(strings.TrimPrefix(c.expression, c.function+"("), "::date")
	}
	return strings.Contains(c.expression, " ->> '")
}

// relabels reports whether a cast changes only the name of the type, so that an index
// on the column serves: varchar to text.
func (s Scan) relabels(c condition) bool {
	t := s.typeOf(c.inner)
	return c.cast == "text" && (t == "" || strings.HasPrefix(t, "character varying") || t == "text")
}

func (s Scan) typeOf(column string) string {
	if s.Table != nil {
		for _, c := range s.Table.Columns {
			if c.Name == column {
				return c.Type
			}
		}
	}
	return ""
}

// addRange adds the one condition that the last key can serve.
func (s Scan) addRange(d *design, c condition) {
	column := c.column
	if c.cast != "" && s.relabels(c) {
		column = c.inner
	}
	switch {
	case (c.op == infix || c.op == contains) && len(d.equal) > 0:
		return // the equality serves better
	case c.op == contains:
		s.addContains(d, c)
	case c.op == infix:
		k := key{column: column, class: "gin_trgm_ops"}
		switch {
		case column == "" && c.function != "" && s.steady(c):
			k.expression = c.expression
		case column == "":
			k.column = c.inner
		}
		d.method, d.rest = "gin", []key{k}
		d.why = append(d.why, "Only trigrams serve a pattern that begins with a wildcard: run CREATE EXTENSION pg_trgm first.")
	case c.op == matches || c.op == prefixed:
		k := key{column: column, class: s.patternClass(column)}
		if column == "" {
			if !s.steady(c) {
				return
			}
			k = key{expression: c.expression, class: "text_pattern_ops"}
		}
		d.bytes, d.byValue = true, c.op == matches
		d.rest = []key{k}
		if i := s.leading(column); column != "" && i != "" {
			d.why = append(d.why, fmt.Sprintf("%s orders %s by its collation, but LIKE needs byte order: use %s, or COLLATE "+
				"\"C\".", i, quote(column), k.class))
		}
		if c.op == matches {
			d.why = append(d.why, fmt.Sprintf("The index serves patterns that begin with text; for those that begin with %%, "+
				"use CREATE INDEX ON %s USING gin (%s gin_trgm_ops) with the extension pg_trgm.", quote(s.Node.Relation),
				strings.TrimSuffix(k.String(), " "+k.class)))
		}
	case column != "":
		d.addKey(&d.rest, key{column: column})
	case c.cast == "date" || strings.Contains(dates, " "+c.function+" "):
		d.why = append(d.why, fmt.Sprintf("No index serves %s: compare %s itself.", c.expression, quote(c.inner)))
		d.addKey(&d.rest, key{column: c.inner})
	case s.steady(c):
		d.addKey(&d.rest, key{expression: c.expression})
	}
}

// addContains adds the key of an index that looks into values: of a document, an array or words.
func (s Scan) addContains(d *design, c condition) {
	k := key{column: c.column}
	switch {
	case c.column == "" && strings.HasPrefix(c.expression, "to_tsvector('") && !strings.Contains(c.expression, "…"):
		k.expression = c.expression
	case c.column == "" && c.function == "to_tsvector":
		d.why = append(d.why, fmt.Sprintf("An index on the words serves the condition: CREATE INDEX ON %s USING gin "+
			"(to_tsvector('english', %s)), with the statement's own configuration.", quote(s.Node.Relation), quote(c.inner)))
		return
	case c.column == "":
		return
	case s.typeOf(c.column) == "jsonb":
		k.class = "jsonb_path_ops"
	}
	d.method, d.rest = "gin", []key{k}
}

// patternClass is the operator class whose order is that of the bytes.
func (s Scan) patternClass(column string) string {
	if strings.HasPrefix(s.typeOf(column), "character varying") {
		return "varchar_pattern_ops"
	}
	return "text_pattern_ops"
}

var orderBy = regexp.MustCompile(`^(.*?)( USING .*)?( DESC)?( NULLS (?:FIRST|LAST))?$`)

// order returns the sort's keys as keys of an index; nil if one is not a column of the
// scan, because an index then gives no order.
func (s Scan) order(equal []key) (keys []key) {
	for _, text := range s.SortKey {
		m := orderBy.FindStringSubmatch(text)
		c := condition{}
		if m == nil || m[2] != "" || strings.Contains(m[1], " COLLATE ") || !c.of(m[1], s.Node.Alias) {
			return nil
		}
		k := key{column: c.column, desc: m[3] != "", nulls: m[4]}
		if c.cast != "" && s.relabels(c) {
			k.column = c.inner
		}
		if k.column == "" {
			if !s.steady(c) {
				return nil
			}
			k.expression = c.expression
		}
		if !slices.ContainsFunc(equal, func(e key) bool { return e.column == k.column && e.expression == k.expression }) {
			keys = append(keys, k)
		}
	}
	return keys
}

// addPartial makes the index partial by a condition that at least halves the table, and adds the
// others as keys.
func (s Scan) addPartial(d *design, nulls []condition) {
	for _, c := range nulls {
		if c.column == "" {
			continue
		}
		part, known := 1.0, false
		if s.Table != nil {
			for _, column := range s.Table.Columns {
				if column.Name == c.column && column.Known {
					known = true
					switch c.op {
					case isNull:
						part = column.Nulls
					case notNull:
						part = 1 - column.Nulls
					default:
						part = 0.5
					}
				}
			}
		}
		if known && part <= 1.0/Halves {
			where := quote(c.column)
			switch c.op {
			case isNull:
				where += " IS NULL"
			case notNull:
				where += " IS NOT NULL"
			case isFalse:
				where = "NOT " + where
			}
			d.where = append(d.where, where)
			if len(d.keys()) == 0 {
				d.rest = []key{{column: c.column}}
			}
		} else if c.op == isNull {
			d.addKey(&d.equal, key{column: c.column})
		}
	}
}
