package index

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/record/database"
)

// finish turns a design into advice, unless the index exists.
func (s Scan) finish(d design) Advice {
	a := Advice{Why: d.why, ByValue: d.byValue}
	keys := d.keys()
	name, full := s.names()
	if len(keys) == 0 {
		if columns := s.optional(); len(columns) > 0 && len(a.Why) == 0 {
			a.Why = append(a.Why, fmt.Sprintf("The conditions on %s are optional ($1 IS NULL OR column = $1): PostgreSQL "+
				"leaves out those whose parameter is NULL, so an index helps the calls that give its column a value. Index "+
				"the columns to which calls give values (%s), followed by the column of ORDER BY: %s.",
				s.Node.Relation, strings.Join(columns, ", "),
				"CREATE INDEX ON "+name+" ("+Quote(columns[0])+")"))
		}
		if s.Filter != "" && len(a.Why) == 0 {
			a.Why = append(a.Why, fmt.Sprintf("Rewrite the condition on %s so that an index can serve it (a plain column "+
				"compared with a value): %s", s.Node.Relation, s.Filter))
		}
		return a
	}
	if s.Table != nil {
		for _, index := range s.Table.Indexes {
			if s.serves(index, d) {
				if reads := s.Node.Index == index.Name || s.Node.Uses(index.Name); !reads || len(a.Why) == 0 {
					a.Why = append(a.Why, s.unused(index)...)
				}
				return a
			}
		}
		a.Why = append(a.Why, s.unfit(d)...)
	}
	if fraction, column := s.unselective(d); fraction > 0 {
		a.Why = append(a.Why, fmt.Sprintf("An index on %s alone would not help: one value is in %.0f %% of the "+
			"rows.", Quote(column), 100*fraction))
		return a
	}
	var texts []string
	for _, k := range keys {
		texts = append(texts, k.String())
	}
	on := "(" + strings.Join(texts, ", ") + ")"
	if d.method != "" {
		on = "USING " + d.method + " " + on
	}
	if len(d.where) > 0 {
		on += " WHERE " + strings.Join(d.where, " AND ")
	}
	a.Create, a.Qualified, a.Exact = "CREATE INDEX ON "+name+" "+on, "CREATE INDEX ON "+full+" "+on, s.exact(d)
	return a
}

// names returns the table's name, with its schema where that is not public, and with its schema in any case.
func (s Scan) names() (name, full string) {
	name = Quote(s.Node.Relation)
	if full = name; s.Table != nil && s.Table.Schema != "" {
		full = Quote(s.Table.Schema) + "." + name
		if s.Table.Schema != "public" {
			name = full
		}
	}
	return name, full
}

// optional returns the columns that a call may give a value, or not ($1 IS NULL OR column = $1), and that no index begins with.
func (s Scan) optional() (columns []string) {
	for _, c := range conditions(s.Filter, s.Node.Alias) {
		if c.op != either || len(c.sides) != 2 {
			continue
		}
		absent, value := c.sides[0], c.sides[1]
		if strings.HasPrefix(bare(value.text), "$") {
			absent, value = value, absent
		}
		if left, ok := strings.CutSuffix(bare(absent.text), " IS NULL"); ok && strings.HasPrefix(left, "$") && value.op == equal &&
			value.column != "" && value.cast == "" && !s.leads(value.column) {
			columns = append(columns, value.column)
		}
	}
	return columns
}

// leads reports whether an index of the table begins with a column.
func (s Scan) leads(column string) bool {
	return s.Table != nil && slices.ContainsFunc(s.Table.Indexes, func(i database.Index) bool {
		return i.Valid && len(i.Keys) > 0 && i.Keys[0].Column == column
	})
}

// serves reports whether an index serves a design: it begins with the columns of
// equality, in any order, and continues with the rest, in either direction. A wider
// one serves as well, and so does a partial one that holds all rows wanted.
func (s Scan) serves(index database.Index, d design) bool {
	method := d.method
	if method == "" {
		method = "btree"
	}
	if index.Predicate != "" && !implied(index.Predicate, d.where) {
		if !s.meets(index.Predicate) {
			return false
		}
		parts := split(bare(index.Predicate), " AND ")
		d.equal = slices.DeleteFunc(slices.Clone(d.equal), func(k key) bool { // the predicate says it
			return k.column != "" && implied(Quote(k.column)+" IS NULL", parts)
		})
	}
	keys := d.keys()
	if index.Method != method || len(keys) == 0 || len(index.Keys) < len(keys) {
		return false
	}
	for _, k := range d.equal {
		if !slices.ContainsFunc(index.Keys[:len(d.equal)], func(there database.IndexKey) bool { return same(there, k) }) {
			return false
		}
	}
	forward, backward := true, true
	for i, k := range d.rest {
		there := index.Keys[len(d.equal)+i]
		if !same(there, k) || d.bytes && !there.Bytes || d.method == "gin" && !looksInto(there.Class, k.class) {
			return false
		}
		first := k.desc
		if k.nulls != "" {
			first = strings.HasSuffix(k.nulls, "FIRST")
		}
		forward = forward && there.Desc == k.desc && there.NullsFirst == first
		backward = backward && there.Desc != k.desc && there.NullsFirst != first
	}
	return forward || backward
}

// looksInto reports whether a GIN index of one operator class serves a condition that another is advised for:
// that of patterns is no other's, and of documents, arrays and words each default serves.
func looksInto(there, advised string) bool {
	const patterns = "gin_trgm_ops"
	return there == advised || there != patterns && advised != patterns
}

func same(there database.IndexKey, k key) bool {
	if k.column != "" {
		return there.Column == k.column
	}
	return there.Expression != "" && plainText(there.Expression) == plainText(k.expression)
}

// plainText is an expression without the brackets and blanks that printing adds.
func plainText(text string) string {
	return strings.NewReplacer("(", "", ")", "", " ", "").Replace(text)
}

// meets reports whether all rows of a scan meet an index's predicate, by the texts of its conditions. Where constants are hidden,
// different ones look the same.
func (s Scan) meets(predicate string) bool {
	return !strings.Contains(predicate, hidden) && s.mayMeet(predicate)
}

// mayMeet is meets, but for the constants that are hidden.
func (s Scan) mayMeet(predicate string) bool {
	var texts []string
	for _, c := range conditions(s.Filter, s.Node.Alias) {
		texts = append(texts, unqualified(c.text, s.Node.Alias))
	}
	return implied(predicate, texts)
}

// hidden stands for a constant that a record does not hold.
const hidden = "…"

// implied reports whether the conditions include each part of an index's predicate.
func implied(predicate string, where []string) bool {
	for _, part := range split(bare(predicate), " AND ") {
		if !slices.ContainsFunc(where, func(w string) bool { return plainText(w) == plainText(part) }) {
			return false
		}
	}
	return true
}

// unused says why a plan does not use an index that would serve.
func (s Scan) unused(index database.Index) (why []string) {
	if !index.Valid {
		return []string{fmt.Sprintf("%s is invalid, because its CREATE INDEX CONCURRENTLY failed: run REINDEX INDEX "+
			"CONCURRENTLY %s.",
			index.Name, Quote(index.Name))}
	}
	if s.Node.Index == index.Name || s.Node.Uses(index.Name) {
		return []string{fmt.Sprintf("The plan already reads %s: the extra rows come from other conditions or row versions, "+
			"which its keys do not cover.", index.Name)}
	}
	if part, known := s.part(index.Keys[0].Column); known && len(index.Keys) == 1 && index.Predicate == "" && s.dearer(part) {
		return []string{fmt.Sprintf("%s does not help: one value of %s is in %.0f %% of the rows.", index.Name, Quote(index.Keys[0].Column),
			100*part)}
	}
	why = []string{fmt.Sprintf("The index exists: %s, but this plan does not read it.", index.Definition)}
	if s.stale() {
		return append(why, fmt.Sprintf("The planner's statistics are stale: run ANALYZE %s.", Quote(s.Node.Relation)))
	}
	return append(why, "Compare the plan for the application's own values (auto_explain, or EXPLAIN (ANALYZE, BUFFERS) with "+
		"them): a parameter of another type, or a random_page_cost far above the storage's, keeps the planner from using it.")
}

// unfit names the indexes that hold the columns but do not serve.
func (s Scan) unfit(d design) (why []string) {
	keys := d.keys()
	for _, index := range s.Table.Indexes {
		at := slices.IndexFunc(index.Keys, func(there database.IndexKey) bool {
			return keys[0].column != "" &&
				there.Column == keys[0].column
		})
		switch {
		case at > 0 && index.Method == "btree":
			why = append(why, fmt.Sprintf("%s has %s only after %s, but an index is searched from its first column.", index.Name,
				Quote(keys[0].column), nameOf(index.Keys[0])))
		case at == 0 && index.Predicate != "" && !s.mayMeet(index.Predicate):
			why = append(why, fmt.Sprintf("%s is partial (%s), and the statement does not match its "+
				"condition.", index.Name, index.Predicate))
		case at == 0 && !d.bytes && len(keys) > 1 && s.ordered(index, d.equal):
			why = append(why, fmt.Sprintf("%s has the order wanted, but also holds rows that the conditions leave out: these "+
				"are read too, until enough rows that match are found.", index.Name))
		case at == 0 && !d.bytes && len(keys) > 1 && s.Limited && len(s.SortKey) > 0:
			why = append(why, fmt.Sprintf("%s finds the rows, but not in the order wanted, so all are read and sorted to "+
				"return the first ones.", index.Name))
		}
	}
	return why[:min(len(why), 2)]
}

// ordered reports whether the rows of an index that have one value of its first column are in the order of the sort, of which a limit
// takes the first.
func (s Scan) ordered(index database.Index, equal []key) bool {
	order := s.order(equal)
	return s.Limited && len(order) > 0 && len(index.Keys) > 1 && order[0].column != "" && index.Keys[1].Column == order[0].column &&
		slices.ContainsFunc(equal, func(k key) bool { return k.column == index.Keys[0].Column })
}

func nameOf(k database.IndexKey) string {
	if k.Column != "" {
		return Quote(k.Column)
	}
	return k.Expression
}

// leading returns the name of a plain index that begins with a column, else "".
func (s Scan) leading(column string) string {
	if s.Table == nil || column == "" {
		return ""
	}
	for _, index := range s.Table.Indexes {
		if index.Method == "btree" && len(index.Keys) > 0 && index.Keys[0].Column == column && !index.Keys[0].Bytes {
			return index.Name
		}
	}
	return ""
}

// References advises the indexes that deleting rows of a table needs, because each
// foreign key that points at it is checked.
func References(root *Node, c Catalogue) (all []Advice) {
	if root.Operation != "Delete" && root.Operation != "Update" {
		return nil
	}
	t := c.table(root)
	if t == nil {
		return nil
	}
	for _, r := range t.References {
		// An update checks only if it changes the key, which plans do not show.
		if r.Indexed || root.Operation == "Update" {
			continue
		}
		var columns []string
		for _, name := range r.Columns {
			columns = append(columns, Quote(name))
		}
		name := Quote(r.Table)
		if r.Schema != "public" {
			name = Quote(r.Schema) + "." + name
		}
		create := fmt.Sprintf("CREATE INDEX ON %s (%s)", name, strings.Join(columns, ", "))
		all = append(all, Advice{Create: create, Qualified: create, Why: []string{
			fmt.Sprintf("Deleting a row from %s scans all of %s (%.0f blocks) for rows that refer to it.",
				t.Name, r.Table, r.Pages)}})
	}
	return all
}
