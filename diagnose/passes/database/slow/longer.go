package slow

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/record/statement"
)

// searched is a step of SQLite's plan that looks rows up: the table, its index, and how many of its columns it uses.
var searched = regexp.MustCompile(`^SEARCH (\S+) (?:AS \S+ )?USING (?:COVERING )?INDEX (\S+) \(([^()]*)\)`)

// longer begins a remedy with the index that SQLite lacks where it has one: it looks rows up by all columns that are compared with
// one value, and sorts what it finds, although the order would let it read less: a range of it is wanted, or its first rows.
func longer(lead evidence.Asked) string {
	table, columns, ok := statement.Keys(lead.Text)
	if !ok || lead.Plan == nil || !slices.Contains(lead.Plan.Rows, "USE TEMP B-TREE FOR ORDER BY") {
		return ""
	}
	for _, row := range lead.Plan.Rows {
		m := searched.FindStringSubmatch(row)
		if m == nil || !strings.EqualFold(m[1], table) {
			continue
		}
		used := strings.Count(m[3], "=?")
		if used == 0 || used >= len(columns) || !ranged(lead.Text, columns[used]) {
			continue
		}
		quoted := make([]string, len(columns))
		for i, c := range columns {
			quoted[i] = index.Quote(c)
		}
		return fmt.Sprintf("CREATE INDEX %s ON %s (%s): at present SQLite searches %s by (%s) alone, and reads and sorts all rows that "+
			"it finds. If that is not enough, ", index.Quote(table+"_"+strings.Join(columns, "_")), index.Quote(table),
			strings.Join(quoted, ", "), m[2], m[3])
	}
	return ""
}

// ranged reports whether a statement wants a range of a column, or only the first rows.
func ranged(text, column string) bool {
	normal := statement.Normal(text)
	return strings.Contains(normal, " limit ") ||
		regexp.MustCompile(`\b`+regexp.QuoteMeta(strings.ToLower(column))+"[\"`]? (?:<|>|between )").MatchString(normal)
}
