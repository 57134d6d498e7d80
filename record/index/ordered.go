package index

import "strings"

// ordered returns what a limit and a sort above a nested loop ask of its outer side: its own columns in the sort's order, and how many of
// its rows. The loop keeps the order of these rows, so with an index in that order the limit ends both sides early. ok is false where the
// loop's rows are sorted by anything else.
func ordered(n *Node, at walkState) (keys []string, limit float64, ok bool) {
	if n.Type != "Nested Loop" || n.Join != "Inner" && n.Join != "Left" || len(n.Plans) != 2 || !at.limited || n.Plans[0].Relation == "" {
		return nil, 0, false
	}
	outer, inner := &n.Plans[0], &n.Plans[1]
	for inner.Relation == "" && len(inner.Plans) == 1 { // such as Memoize
		inner = &inner.Plans[0]
	}
	for _, text := range at.sort {
		m := orderBy.FindStringSubmatch(text)
		if m == nil {
			return nil, 0, false
		}
		if c := (condition{}); !c.of(m[1], outer.Alias) {
			column := n.equalTo(inner, m[1], outer.Alias)
			if column == "" {
				return nil, 0, false
			}
			text = Quote(outer.Alias) + "." + Quote(column) + strings.TrimPrefix(text, m[1])
		}
		keys = append(keys, text)
	}
	return keys, at.limit * max(1, outer.Rows/max(1, n.Rows)), len(keys) > 0
}

// equalTo returns the outer side's column to which an inner join makes a column of its inner side equal; "" for none.
func (n *Node) equalTo(inner *Node, text, outer string) string {
	var wanted condition
	if n.Join != "Inner" || !wanted.of(text, inner.Alias) {
		return ""
	}
	for _, c := range conditions(inner.IndexCond, inner.Alias) {
		sides := split(bare(c.text), " = ")
		if c.op != equal || c.list || len(sides) != 2 || wanted.column == "" || c.column != wanted.column && c.inner != wanted.column {
			continue
		}
		for _, side := range sides {
			if strings.Contains(side, outer+".") || strings.Contains(side, Quote(outer)+".") { // the inner side's column has no such name
				return columnWithin(bare(side), outer)
			}
		}
	}
	return ""
}
