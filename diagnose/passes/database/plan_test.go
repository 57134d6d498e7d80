package database_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
	"github.com/redline-go/redline/record/database"
)

// A Limit over a Sort reads and sorts 385 blocks for the first 50 rows: 7.7
// blocks per row, where an index in the order wanted needs one.
func TestLimitOverSortIsWaste(t *testing.T) {
	const plan = `[{"Plan":{"Node Type":"Limit","Total Cost":900,"Plan Rows":50,"Plans":[{"Node Type":"Sort","Sort Key":["created_at DESC"],"Total Cost":890,"Plan Rows":20000,
		"Plans":[{"Node Type":"Seq Scan","Relation Name":"links","Alias":"links","Total Cost":585,"Plan Rows":20000}]}]}}]`
	b := idle()
	found := Expect(t, slow.Query, b.Statement("SELECT * FROM links ORDER BY created_at DESC LIMIT $1",
		int64(b.Requests()), 18*ms, 50, 385, plan), "db-slow-query at orders.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "CREATE INDEX ON links (created_at DESC)") {
		t.Errorf("remedy %q", found[0].Remedy)
	}
}

// No index has a random order.
func TestRandomOrderNeedsNoIndex(t *testing.T) {
	const plan = `[{"Plan":{"Node Type":"Limit","Total Cost":900,"Plan Rows":5,"Plans":[{"Node Type":"Sort","Sort Key":["(random())"],"Total Cost":890,"Plan Rows":20000,
		"Plans":[{"Node Type":"Seq Scan","Relation Name":"links","Alias":"links","Filter":"(tenant = $1)","Total Cost":585,"Plan Rows":20000}]}]}}]`
	b := idle()
	found := Expect(t, slow.Query, b.Statement("SELECT * FROM links WHERE tenant = $1 ORDER BY random() LIMIT $2",
		int64(b.Requests()), 22*ms, 5, 385, plan), "db-slow-query at orders.go:41")
	if len(found) == 1 && (strings.Contains(found[0].Remedy, "CREATE INDEX") || !strings.Contains(found[0].Remedy, "keys")) {
		t.Errorf("remedy %q", found[0].Remedy)
	}
}

// An aggregate of all rows reads what it needs: no index would save it.
func TestWholeTableIsNoWaste(t *testing.T) {
	const plan = `[{"Plan":{"Node Type":"Aggregate","Total Cost":635,"Plan Rows":1,` +
		`"Plans":[{"Node Type":"Seq Scan","Relation Name":"links","Alias":"links","Total Cost":585,"Plan Rows":20000}]}}]`
	b := idle()
	Expect(t, slow.Query, b.Statement("SELECT sum(clicks) FROM links", int64(b.Requests()), 4*ms, 1, 385, plan))
}

// Where no index helps, the statement's form says what to do.
func TestRemedyByForm(t *testing.T) {
	const plan = `[{"Plan":{"Node Type":"Index Scan","Relation Name":"links","Alias":"links",` +
		`"Index Name":"links_pkey","Total Cost":585,"Plan Rows":20000}}]`
	for text, c := range map[string]struct {
		rows   float64
		remedy string
	}{
		"SELECT * FROM links ORDER BY id LIMIT $1 OFFSET $2": {20, "later pages cost more"},
		"SELECT count(*) FROM links":                         {1, "every row that it counts"},
		"SELECT * FROM links ORDER BY id":                    {20000, "returns 20,000 rows per call"},
		"SELECT sum(clicks) FROM links":                      {1, "Look at EXPLAIN"},
	} {
		b := idle()
		found := Expect(t, slow.Query, b.Statement(text, int64(b.Requests()), 80*ms, c.rows, 385, plan),
			"db-slow-query at orders.go:41")
		if len(found) == 1 && !strings.Contains(found[0].Remedy, c.remedy) {
			t.Errorf("%s: %s", text, found[0].Remedy)
		}
	}
}

// A page of groups is chosen too late, whether or not its plan scans too much.
func TestPageOfGroups(t *testing.T) {
	const plan = `[{"Plan":{"Node Type":"Limit","Total Cost":900,"Plan Rows":10,"Plans":[{"Node Type":"Aggregate","Total Cost":890,` +
		`"Plan Rows":3000,"Plans":[{"Node Type":"Index Scan","Relation Name":"links","Alias":"links","Index Name":"links_pkey",` +
		`"Total Cost":585,"Plan Rows":20000}]}]}}]`
	b := idle()
	found := Expect(t, slow.Query, b.Statement("SELECT slug, count(*) FROM links GROUP BY slug ORDER BY slug LIMIT $1 OFFSET $2",
		int64(b.Requests()), 80*ms, 10, 385, plan), "db-slow-query at orders.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "a page of the groups") {
		t.Errorf("remedy %q", found[0].Remedy)
	}
}

// An existing index is not advised, and the finding says why it does not serve; the
// result of hypopg for an advised one is evidence.
func TestIndexesOfTheCatalogue(t *testing.T) {
	const plan = `[{"Plan":{"Node Type":"Seq Scan","Relation Name":"links","Alias":"links",` +
		`"Filter":"(slug ~~ $1)","Total Cost":5380,"Plan Rows":10}}]`
	const text, advised = "SELECT * FROM links WHERE slug LIKE $1", "CREATE INDEX ON links (slug text_pattern_ops)"
	table := database.Table{Schema: "public", Name: "links", Rows: 2e5, Pages: 2600,
		Columns: []database.Column{{Name: "slug", Type: "text"}}, Indexes: []database.Index{{
			Name: "links_slug", Method: "btree", Valid: true, Definition: "CREATE INDEX links_slug ON links (slug)",
			Keys: []database.IndexKey{{Column: "slug", Class: "text_ops"}},
		}}}
	b := idle()
	b.Statement(text, int64(b.Requests()), 27*ms, 10, 2600, plan).
		Tables([]database.Table{table}, database.IndexCheck{Index: advised, Before: 5380, After: 42, Used: true})
	found := Expect(t, slow.Query, b, "db-slow-query at orders.go:41")
	if len(found) != 1 || !strings.Contains(found[0].Remedy, advised) || !strings.Contains(found[0].Remedy,
		"links_slug orders slug by its collation") {
		t.Fatalf("%+v", found)
	}
	checked := false
	for _, e := range found[0].Evidence {
		checked = checked || strings.Contains(e.Text, "checked with hypopg: the planner's cost falls from 5,380 to 42")
	}
	if !checked {
		t.Errorf("the result of hypopg is no evidence: %+v", found[0].Evidence)
	}
	table.Indexes[0].Keys[0].Bytes = true
	b = idle()
	b.Statement(text, int64(b.Requests()), 27*ms, 10, 2600, plan).Tables([]database.Table{table})
	found = Expect(t, slow.Query, b, "db-slow-query at orders.go:41")
	if len(found) == 1 && (strings.Contains(found[0].Remedy, advised) || !strings.Contains(found[0].Remedy,
		"The index exists: CREATE INDEX links_slug")) {
		t.Errorf("remedy %q", found[0].Remedy)
	}
}

// TestPageOfAJoinThatStopsEarly: by the planner's costs the join reads all that matches, and no index halves that. A page of it that
// touches many blocks for each of its rows still lacks the indexes, and does not need another way to page first.
func TestPageOfAJoinThatStopsEarly(t *testing.T) {
	const text = "SELECT * FROM versions v LEFT JOIN origins o USING (id) WHERE v.workspace = $1 LIMIT $2 OFFSET $3"
	const plan = `[{"Plan":{"Node Type":"Limit","Total Cost":2377,"Plan Rows":15,"Plans":[{"Node Type":"Hash Join","Join Type":"Right",
		"Hash Cond":"(o.id = v.id)","Total Cost":5912,"Plan Rows":150,"Plans":[
		{"Node Type":"Seq Scan","Relation Name":"origins","Alias":"o","Total Cost":2419,"Plan Rows":60000},
		{"Node Type":"Hash","Total Cost":1491,"Plan Rows":150,"Plans":[{"Node Type":"Seq Scan","Relation Name":"versions","Alias":"v",
		"Filter":"(workspace = $1)","Total Cost":1491,"Plan Rows":150}]}]}]}}]`
	page := func(blocks float64) *Builder {
		b := idle()
		return b.Statement(text, int64(b.Requests()), 27*ms, 20, blocks, plan).
			Tables([]database.Table{{Name: "origins", Rows: 60000, Pages: 1669}, {Name: "versions", Rows: 60000, Pages: 741}})
	}
	const versions, origins = "CREATE INDEX ON versions (workspace)", "CREATE INDEX ON origins (id)"
	found := Expect(t, slow.Query, page(1081), "db-slow-query at orders.go:41")
	if len(found) == 1 && (!strings.Contains(found[0].Remedy, versions) || !strings.Contains(found[0].Remedy, origins)) {
		t.Error(found[0].Remedy)
	}
	found = Expect(t, slow.Query, page(90), "db-slow-query at orders.go:41") // it reads little: OFFSET is what grows
	if len(found) == 1 && !strings.HasPrefix(found[0].Remedy, "Continue after the last row") {
		t.Error(found[0].Remedy)
	}
}

// Two statements that lack one index are one finding: the longer index serves both, and the gain is that of both.
func TestOneIndexForTwoStatements(t *testing.T) {
	scan := func(table string) string {
		return `{"Node Type":"Seq Scan","Relation Name":"` + table + `","Alias":"` + table +
			`","Filter":"(thread = $1)","Total Cost":5380,"Plan Rows":200}`
	}
	page := `[{"Plan":{"Node Type":"Limit","Total Cost":9000,"Plan Rows":20,"Plans":[{"Node Type":"Sort",` +
		`"Sort Key":["sent DESC"],"Total Cost":8900,"Plan Rows":200,"Plans":[` + scan("messages") + `]}]}}]`
	last, other := `[{"Plan":`+scan("messages")+`}]`, `[{"Plan":`+scan("users")+`}]`
	second := "SELECT text FROM messages WHERE thread = $1"
	with := func(plan string) *Builder {
		b := idle()
		n := int64(b.Requests())
		return b.Statement("SELECT * FROM messages WHERE thread = $1 ORDER BY sent DESC LIMIT $2", n, 22*ms, 20, 2600, page).
			Statement(second, n, 20*ms, 20, 2600, plan)
	}
	one := Expect(t, slow.Query, with(other), "db-slow-query at orders.go:41")
	both := Expect(t, slow.Query, with(last), "db-slow-query at orders.go:41")
	if len(one) != 1 || len(both) != 1 {
		return
	}
	f := both[0]
	if !strings.Contains(f.Remedy, "CREATE INDEX ON messages (thread, sent DESC)") ||
		!has(f, "another statement lacks the index, at orders.go:41: "+second) {
		t.Errorf("%s; %v", f.Remedy, f.Evidence)
	}
	if f.Share < 1.5*one[0].Share || f.GainCeiling < 1.5*one[0].GainCeiling || has(one[0], "another statement") {
		t.Errorf("share %.2f and gain %.2f of both, %.2f and %.2f of one", f.Share, f.GainCeiling, one[0].Share, one[0].GainCeiling)
	}
}

// A page and the count of its rows read the same rows under a condition that no index serves: the remedy serves both.
func TestOneConditionForTwoStatements(t *testing.T) {
	scan := func(value, column string) string {
		return `{"Node Type":"Seq Scan","Relation Name":"metrics","Alias":"metrics",` +
			`"Filter":"((` + value + ` = $9) OR (` + column + ` ~~* ((\"%\" || $1))))","Total Cost":5380,"Plan Rows":200}`
	}
	page := `[{"Plan":{"Node Type":"Limit","Total Cost":9000,"Plan Rows":20,"Plans":[` + scan("$4", "name") + `]}}]`
	with := func(column string) *Builder {
		b := idle()
		n := int64(b.Requests())
		count := `[{"Plan":{"Node Type":"Aggregate","Total Cost":9000,"Plan Rows":1,"Plans":[` + scan("$5", column) + `]}}]`
		return b.Statement("SELECT * FROM metrics WHERE $4 = $9 OR name ILIKE $1 LIMIT $2", n, 22*ms, 20, 2600, page).
			Statement("SELECT count(*) FROM metrics WHERE $5 = $9 OR "+column+" ILIKE $1", n, 20*ms, 1, 2600, count)
	}
	one := Expect(t, slow.Query, with("help"), "db-slow-query at orders.go:41")
	both := Expect(t, slow.Query, with("name"), "db-slow-query at orders.go:41")
	if len(one) == 1 && len(both) == 1 && (both[0].Share < 1.5*one[0].Share || !has(both[0], "another statement reads the same rows")) {
		t.Errorf("share %.2f of both, %.2f of one: %v", both[0].Share, one[0].Share, both[0].Evidence)
	}
}
