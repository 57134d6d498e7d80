package sqlite

import (
	"strings"
	"testing"
)

// TestRunsAgain: a table is read again for each row of the table before it in the same loop, or of the query around
// it, but not for a co-routine's.
func TestRunsAgain(t *testing.T) {
	plan := []step{
		{2, 0, "CO-ROUTINE subquery"}, {5, 2, "SCAN releases"}, {9, 0, "SCAN subquery"}, {12, 0, "SEARCH users USING INDEX u (id=?)"},
		{20, 0, "CORRELATED SCALAR SUBQUERY 2"}, {23, 20, "SCAN notes"}, {30, 0, "USE TEMP B-TREE FOR ORDER BY"},
	}
	want := map[string]bool{"SCAN releases": false, "SCAN subquery": false, "SEARCH users USING INDEX u (id=?)": true, "SCAN notes": true}
	for at, s := range plan {
		if again, ok := want[s.detail]; ok && runsAgain(plan, at) != again {
			t.Errorf("%s runs again: %v", s.detail, !again)
		}
	}
}

// TestRowsOf: rowids count rows only where the service does not choose them.
func TestRowsOf(t *testing.T) {
	_, db := shop(t, "delete")
	for _, text := range []string{
		"CREATE TABLE sales (id INTEGER PRIMARY KEY, stall TEXT)",
		"INSERT INTO sales SELECT 10010000000000000 + id, 'x' FROM customers ORDER BY id LIMIT 300",
		"CREATE TABLE late (id INTEGER PRIMARY KEY, stall TEXT)",
		"INSERT INTO late SELECT 10010000000000000 + 1000000007 * id, 'x' FROM customers ORDER BY id LIMIT 300",
		"CREATE TABLE none (id INTEGER PRIMARY KEY)",
		"CREATE TABLE keyed (id TEXT PRIMARY KEY) WITHOUT ROWID",
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	for table, want := range map[string]int64{"customers": 2000, "sales": 300, "late": 300, "none": -1, "keyed": -1} {
		if got := rowsOf(t.Context(), db, table); got != want {
			t.Errorf("%s: %d rows, want %d", table, got, want)
		}
	}
}

func TestSortKeys(t *testing.T) {
	columns := []string{"id", "status", "placed"}
	here := func(name string) (string, bool) { return columnHere(name, "s", "scans", columns) }
	for list, want := range map[string][2]string{
		"placed DESC, id":                                          {"placed id", ""},
		"s.status, `id` desc NULLS LAST":                           {"status id", ""},
		"CASE scans.status WHEN ? THEN ? ELSE ? END,scans.id desc": {"", "CASE scans.status WHEN ? THEN ? ELSE ? END"},
		"coalesce(placed, id), id":                                 {"", "coalesce(placed, id)"},
		"placed, lower(status), id":                                {"placed", ""},
		"customers.name, id":                                       {"", ""},
		"placed COLLATE NOCASE":                                    {"placed", ""},
	} {
		got, expression := sortKeys(list, here)
		if strings.Join(got, " ") != want[0] || expression != want[1] {
			t.Errorf("%s: %q by %q", list, got, expression)
		}
	}
}
