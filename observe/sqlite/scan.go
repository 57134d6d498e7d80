package sqlite

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"

	"github.com/redline-go/redline/record/operation"
)

// step is a row of EXPLAIN QUERY PLAN.
type step struct {
	id, parent int // 0 is the statement
	detail     string
}

// loops reports whether a step reads a table, once for each row of those before it.
func (s step) loops() bool {
	return strings.HasPrefix(s.detail, "SCAN ") || strings.HasPrefix(s.detail, "SEARCH ")
}

// runsAgain reports whether a step runs again for each row of another table: after another one of the same loop, or in a
// subquery that depends on the row around it. A co-routine and what is materialised run once.
func runsAgain(plan []step, at int) bool {
	s := plan[at]
	for i, other := range plan {
		if i < at && other.parent == s.parent && other.loops() || other.id == s.parent && strings.HasPrefix(other.detail, "CORRELATED ") {
			return true
		}
	}
	return false
}

// scans returns the tables that a plan reads from end to end, with the columns by which
// the statement compares or sorts them.
func scans(ctx context.Context, db *sql.DB, text string, plan []step) (list []operation.SQLiteScan) {
	sorts := slices.ContainsFunc(plan, func(s step) bool { return strings.Contains(s.detail, "TEMP B-TREE FOR ORDER BY") })
	for at, s := range plan {
		detail, inner := s.detail, runsAgain(plan, at)
		words := strings.Fields(detail)
		if len(words) < 2 {
			continue
		}
		virtual := strings.Contains(detail, "VIRTUAL TABLE")
		// An index that is made for one execution takes a scan to make.
		whole := words[0] == "SCAN" && !strings.Contains(detail, "CONSTANT ROW") && (!virtual || wholeVirtual.MatchString(detail)) ||
			words[0] == "SEARCH" && strings.Contains(detail, "USING AUTOMATIC")
		if !whole {
			continue
		}
		table := tableOf(text, words[1])
		columns := columnsOf(ctx, db, table)
		if len(columns) == 0 {
			continue // a subquery, or a table function
		}
		if virtual {
			// The rows of a full-text table are counted in its docsize table; the
			// virtual table itself would be read from end to end.
			if n := rowsOf(ctx, db, table+"_docsize"); n > 0 {
				list = append(list, operation.SQLiteScan{Table: table, Rows: n, Virtual: true, Inner: inner})
			}
			continue
		}
		s := operation.SQLiteScan{Table: table, Rows: rowsOf(ctx, db, table), Inner: inner && words[0] == "SCAN"}
		indexed := indexedIn(ctx, db, table)
		conditions := chosen.ReplaceAllString(assigned.ReplaceAllString(text, " $1"), " ")
		for _, c := range slices.Concat(compared.FindAllStringSubmatch(conditions, -1), joined.FindAllStringSubmatch(conditions, -1)) {
			name, ok := columnHere(c[1], words[1], table, columns)
			if !ok || slices.Contains(s.Columns, name) {
				continue
			}
			op := strings.ToUpper(c[2])
			if op != "LIKE" && op != "GLOB" && slices.Contains(indexed, name) {
				continue // another index of it would not be used either
			}
			s.Columns = append(s.Columns, name)
			if op == "" || op == "=" || op == "==" || op == "IN" || op == "IS" {
				s.Equal = append(s.Equal, name)
			}
		}
		if m := ordered.FindStringSubmatch(text); sorts && m != nil {
			s.Sorts, s.SortsBy = sortKeys(m[1], func(by string) (string, bool) { return columnHere(by, words[1], table, columns) })
		}
		list = append(list, s)
	}
	return list
}

// sortKey is one key of an ORDER BY that is a name.
var sortKey = regexp.MustCompile("(?i)^([\\w.\"`\\[\\]]+)(?:\\s+COLLATE\\s+\\w+)?(?:\\s+(?:ASC|DESC))?(?:\\s+NULLS\\s+\\w+)?$")

// sortKeys returns the columns of a table by which a statement sorts, up to the first key that is none, and that key if it is the first of
// all and an expression: no index of columns has its order.
func sortKeys(list string, here func(string) (string, bool)) (columns []string, expression string) {
	depth := 0
	keys := strings.FieldsFunc(list, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth == 0
	})
	for i, key := range keys {
		key = strings.TrimSpace(key)
		m := sortKey.FindStringSubmatch(key)
		if m == nil {
			if i == 0 {
				expression = key
			}
			return columns, expression
		}
		name, ok := here(m[1])
		if !ok {
			return columns, ""
		}
		columns = append(columns, name)
	}
	return columns, ""
}

var (
	// wholeVirtual is a virtual table that is read from end to end: the full-text
	// modules of SQLite number that plan 0 and give it no condition, whereas a search by
	// MATCH or rowid has another number or a text after it.
	wholeVirtual = regexp.MustCompile(`VIRTUAL TABLE INDEX 0:( LEFT-JOIN)?$`)
	// compared finds a column that is compared with a value, or with another column.
	compared = regexp.MustCompile("(?i)([\\w.\"`\\[\\]]+)\\s*(=|==|<=|>=|<|>|\\bLIKE\\b|\\bGLOB\\b|\\bIN\\b|\\bIS\\b|\\bBETWEEN\\b)\\s*")
	// assigned finds what an UPDATE sets, which no index is for.
	assigned = regexp.MustCompile(`(?is)\bSET\s.+?(\bWHERE\b|\bFROM\b|\bRETURNING\b|$)`)
	// chosen finds the choices of a CASE, which select no rows. One within another leaves the outer one's end, which compares nothing.
	chosen = regexp.MustCompile(`(?is)\bCASE\b.*?\bEND\b`)
	// joined finds the column on the right of a comparison.
	joined = regexp.MustCompile("\\s*(?:=)\\s*([\\w.\"`\\[\\]]+\\.[\\w\"`\\[\\]]+)()")
	// ordered finds the sort key of a statement with a LIMIT.
	ordered = regexp.MustCompile(`(?is)\bORDER BY (.+?)\s+LIMIT\b`)
	// from finds the tables and their aliases.
	from = regexp.MustCompile("(?i)\\b(?:FROM|JOIN|UPDATE|INTO|,)\\s+([\\w\"`\\[\\]]+)(?:\\s+AS)?\\s+([\\w\"`]+)")
)

// tableOf returns the table that a plan calls by its alias.
func tableOf(text, alias string) string {
	for _, m := range from.FindAllStringSubmatch(text, -1) {
		if strings.EqualFold(unquoted(m[2]), alias) {
			return unquoted(m[1])
		}
	}
	return alias
}

// unquoted strips the quotes of an identifier, of which SQLite takes three kinds.
func unquoted(name string) string { return strings.Trim(name, "\"`[]") }

// columnHere returns the table's column that a name means, with or without its table.
func columnHere(name, alias, table string, columns []string) (string, bool) {
	if of, column, ok := strings.Cut(name, "."); ok {
		if of = unquoted(of); !strings.EqualFold(of, alias) && !strings.EqualFold(of, table) {
			return "", false
		}
		name = column
	}
	name = unquoted(name)
	i := slices.IndexFunc(columns, func(c string) bool { return strings.EqualFold(c, name) })
	if i < 0 {
		return "", false
	}
	return columns[i], true
}

// columnsOf returns a table's columns in order, nil if they are unknown.
func columnsOf(ctx context.Context, db *sql.DB, table string) (columns []string) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if rows.Scan(&name) == nil {
			columns = append(columns, name)
		}
	}
	if rows.Err() != nil {
		return nil
	}
	return columns
}

// indexedIn returns the columns of a table that lead an index or are its rowid.
func indexedIn(ctx context.Context, db *sql.DB, table string) (columns []string) {
	rows, err := db.QueryContext(ctx, `SELECT i.name FROM pragma_index_list(?1) l JOIN pragma_index_info(l.name) i ON i.seqno = 0 WHERE l.partial = 0
		UNION SELECT name FROM pragma_table_info(?1) WHERE pk = 1 AND upper(type) = 'INTEGER'`, table)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var name sql.NullString // an index on an expression has no column
		if rows.Scan(&name) == nil && name.Valid {
			columns = append(columns, name.String)
		}
	}
	if rows.Err() != nil {
		return nil
	}
	return columns
}

const (
	// leastRow is how many bytes a row takes at least in a file, with its entry in the page.
	leastRow = 8
	// mostCounted bounds a count of rows.
	mostCounted = 100_000
)

// rowsOf returns about how many rows a table has: the span of its rowids, which costs two
// walks down the tree and not a count. Where the file has no room for so many, the ids are the
// service's own (a time, a random number), and the rows are counted, up to mostCounted.
// -1 if the table has no rowid.
func rowsOf(ctx context.Context, db *sql.DB, table string) int64 {
	name := `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
	var first, last, size sql.NullInt64
	err := db.QueryRowContext(ctx, "SELECT (SELECT min(rowid) FROM "+name+"), (SELECT max(rowid) FROM "+name+
		"), (SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())").Scan(&first, &last, &size)
	if err != nil || !last.Valid {
		return -1
	}
	rows := last.Int64 - first.Int64 + 1
	if rows > 0 && rows <= size.Int64/leastRow {
		return rows
	}
	if db.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+name+" LIMIT ?)", mostCounted).Scan(&rows) != nil {
		return -1
	}
	return rows
}
