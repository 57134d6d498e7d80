package index

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/redline-go/redline/record/database"
)

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
const steady = " lower upper md5 length abs btrim ltrim rtrim reverse mod "

// dates are functions and casts that truncate a time: a range of the column itself
// selects the same rows and needs no index on an expression. Parts of a time, such as its month in any year, are no range.
const dates = " date date_trunc to_char "

func (s Scan) addEqual(d *design, c condition) {
	switch {
	case c.column != "":
		d.addKey(&d.equal, key{column: c.column})
	case c.cast != "" && s.relabels(c):
		d.addKey(&d.equal, key{column: c.inner})
	case c.cast == "date" || strings.Contains(dates, " "+c.function+" "):
		how := "a range of %[1]s itself, from the beginning of the period to that of the next"
		if c.cast == "date" || c.function == "date" {
			how = "a range, %[1]s >= $1 AND %[1]s < $1 + interval '1 day'"
		}
		d.why = append(d.why, fmt.Sprintf("No index on %[1]s serves %[2]s: write it as "+how+".", Quote(c.inner), c.expression))
		d.addKey(&d.rest, key{column: c.inner})
	case c.cast != "":
		is := ""
		if t := s.typeOf(c.inner); t != "" {
			is = " (of type " + t + ")"
		}
		d.why = append(d.why, fmt.Sprintf("The comparison casts %s%s to %s, and no index on the column serves that: pass the "+
			"parameter in the column's own type.", Quote(c.inner), is, c.cast))
		d.addKey(&d.equal, key{column: c.inner})
	case s.steady(c):
		d.addKey(&d.equal, key{expression: c.expression})
		if i := s.leading(c.inner); i != "" {
			d.why = append(d.why, fmt.Sprintf("%s indexes %s itself, so it does not serve %s.", i, Quote(c.inner), c.expression))
		}
	case c.function == "" && hiddenField.MatchString(c.expression):
		why := fmt.Sprintf("An index on the expression serves %s: CREATE INDEX ON %s ((%s)), with the statement's own key.", c.expression,
			Quote(s.Node.Relation), hiddenField.ReplaceAllString(c.expression, " ->> 'key'"))
		if i := s.looking(c.inner); i != "" {
			why += fmt.Sprintf(" So does %s (GIN), if the statement compares %s @> jsonb_build_object(key, value).", i, Quote(c.inner))
		}
		d.why, d.field = append(d.why, why), true
	}
}

// addMember says how an array's members are found: an index of the array itself finds none of them.
func (s Scan) addMember(d *design, c condition) {
	if c.column == "" {
		return
	}
	by := fmt.Sprintf("CREATE INDEX ON %s USING gin (%s)", Quote(s.Node.Relation), Quote(c.column))
	if i := s.looking(c.column); i != "" {
		by = i + " (GIN)"
	}
	d.why = append(d.why, fmt.Sprintf("No index serves %s: write %s @> ARRAY[value], which %s serves.", bare(c.text), Quote(c.column), by))
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
		if column == "" {
			if !s.steady(c) {
				d.why = append(d.why, fmt.Sprintf("Only trigrams (pg_trgm) of exactly %s serve a pattern that begins with a wildcard, and "+
					"an index can hold them only if the expression is immutable.", c.expression))
				return
			}
			k.expression = c.expression
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
				"\"C\".", i, Quote(column), k.class))
		}
		if c.op == matches {
			d.why = append(d.why, fmt.Sprintf("The index serves patterns that begin with text; for those that begin with %%, "+
				"use CREATE INDEX ON %s USING gin (%s gin_trgm_ops) with the extension pg_trgm.", Quote(s.Node.Relation),
				strings.TrimSuffix(k.String(), " "+k.class)))
		}
	case column != "":
		d.addKey(&d.rest, key{column: column})
	case c.cast == "date" || strings.Contains(dates, " "+c.function+" "):
		d.why = append(d.why, fmt.Sprintf("No index serves %s: compare %s itself.", c.expression, Quote(c.inner)))
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
			"(to_tsvector('english', %s)), with the statement's own configuration.", Quote(s.Node.Relation), Quote(c.inner)))
		return
	case c.column == "":
		return
	case s.typeOf(c.column) == "jsonb":
		k.class = "jsonb_path_ops"
	}
	method, class := looksBy(s.typeOf(c.column))
	if class != "" {
		k.class = class
	}
	d.method, d.rest = method, []key{k}
}

// looksBy returns the access method whose indexes look into the values of a type, and the operator class, "" for the type's own: GiST
// into ranges, shapes, networks and label trees, for which GIN has none, and GIN into documents, arrays and words.
func looksBy(typ string) (method, class string) {
	typ, _, _ = strings.Cut(typ, "(") // geometry(Point,4326)
	switch typ = typ[strings.LastIndexByte(typ, '.')+1:]; typ {
	case "inet", "cidr":
		return "gist", "inet_ops"
	case "geometry", "geography", "box", "circle", "point", "polygon", "cube", "ltree":
		return "gist", ""
	}
	if strings.HasSuffix(typ, "range") { // tstzrange, int4multirange
		return "gist", ""
	}
	return "gin", ""
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
			where := Quote(c.column)
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
