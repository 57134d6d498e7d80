package database_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
)

// A Limit over a Sort reads and sorts 385 blocks for the first 50 rows: 7.7
// blocks per row, where an index in the order wanted needs one.
func TestLimitOverSortIsWaste(t *testing.T) {
	const plan = `[{"Plan":{"Node Type":"Limit","Total Cost":900,"Plan Rows":50,"Plans":[{"Node Type":"Sort","Sort Key":["created_at DESC"],"Total Cost":890,"Plan Rows":20000,
		"Plans":[{"Node Type":"Seq Scan","Relation Name":"links","Alias":"links","Total Cost":585,"Plan Rows":20000}]}]}}]`
	b := idle()
	found := Expect(t, database.SlowQuery, b.Statement("SELECT * FROM links ORDER BY created_at DESC LIMIT $1", int64(b.Requests()), 18*ms, 50, 385, plan), "db-slow-query at orders.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "CREATE INDEX ON links (created_at DESC)") {
		t.Errorf("remedy %q", found[0].Remedy)
	}
}

// An aggregate of all rows reads what it needs: no index would save it.
func TestWholeTableIsNoWaste(t *testing.T) {
	const plan = `[{"Plan":{"Node Type":"Aggregate","Total Cost":635,"Plan Rows":1,"Plans":[{"Node Type":"Seq Scan","Relation Name":"links","Alias":"links","Total Cost":585,"Plan Rows":20000}]}}]`
	b := idle()
	Expect(t, database.SlowQuery, b.Statement("SELECT sum(clicks) FROM links", int64(b.Requests()), 4*ms, 1, 385, plan))
}
