package statement_test

import (
	"testing"

	"github.com/redline-go/redline/record/statement"
)

// TestCounted: PostgreSQL's counters replace each constant by a parameter, also those that are words or have a sign.
func TestCounted(t *testing.T) {
	for sent, counted := range map[string]string{
		"SELECT id FROM t WHERE deleted = FALSE AND kind = 'a';":         "SELECT id FROM t WHERE deleted = $1 AND kind = $2",
		"SELECT COALESCE(v::boolean,false) FROM p UNION ALL SELECT -1":   "SELECT COALESCE(v::boolean,$1) FROM p UNION ALL SELECT $2",
		"INSERT INTO t (a, b, c) VALUES (?, NULL, true)":                 "INSERT INTO t (a, b, c) VALUES ($1, $2, $3)",
		"SELECT id FROM t WHERE gone IS NULL AND shown IS NOT TRUE":      "SELECT id FROM t WHERE gone IS NULL AND shown IS NOT TRUE",
		"UPDATE t SET falsehood = ?, n = n - ? WHERE id = ?":             "UPDATE t SET falsehood = $1, n = n - $2 WHERE id = $3",
		"SELECT id FROM t WHERE state IN (1, -1, NULL) ORDER BY id DESC": "SELECT id FROM t WHERE state IN ($1, $2, $3) ORDER BY id DESC",
	} {
		a, b := statement.Counted(statement.Normal(sent)), statement.Counted(statement.Normal(counted))
		if a != b {
			t.Errorf("%q\n%q", a, b)
		}
	}
	if a, b := statement.Counted("SELECT a FROM t"), statement.Counted("SELECT b FROM t"); a == b {
		t.Error("two statements are one")
	}
}
