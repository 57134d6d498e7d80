package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/database"
)

// TestOrderOfANestedLoop: a loop has the order of its outer side's rows, by their own columns and by those of the inner side that are
// equal to them. An outer join's inner side may be empty, and a column that nothing equates has no order.
func TestOrderOfANestedLoop(t *testing.T) {
	const plan = `[{"Plan":{"Node Type":"Limit","Total Cost":90,"Plan Rows":10,"Plans":[{"Node Type":"Sort","Sort Key":[%q],"Total Cost":90,"Plan Rows":50,
		"Plans":[{"Node Type":"Nested Loop","Join Type":%q,"Total Cost":80,"Plan Rows":50,"Plans":[
		{"Node Type":"Index Scan","Relation Name":"t","Alias":"t","Index Name":"t_uid","Index Cond":"(uid = $1)","Total Cost":60,"Plan Rows":50},
		{"Node Type":"Memoize","Total Cost":2,"Plan Rows":1,"Plans":[{"Node Type":"Index Scan","Relation Name":"u","Alias":"u","Index Name":"u_id",
		"Index Cond":"((id)::text = (t.parent)::text)","Total Cost":2,"Plan Rows":1}]}]}]}]}}]`
	for _, c := range []struct{ sort, join, want string }{
		{"t.at DESC", "Inner", "CREATE INDEX ON t (uid, at DESC)"},
		{"u.id", "Inner", "CREATE INDEX ON t (uid, parent)"},
		{"u.id DESC", "Inner", "CREATE INDEX ON t (uid, parent DESC)"},
		{"t.at", "Left", "CREATE INDEX ON t (uid, at)"},
		{"u.id", "Left", ""},
		{"u.name", "Inner", ""},
	} {
		root, err := Parse(fmt.Appendf(nil, plan, c.sort, c.join))
		if err != nil {
			t.Fatal(err)
		}
		scans := Scans(root, 10, Catalogue{Tables: []database.Table{table("t", btree("t_uid", "uid")), table("u", btree("u_id", "id"))}})
		if a := scans[0].Advise(); a.Create != c.want {
			t.Errorf("%s of the %s join: %q, %v; want %q", c.sort, c.join, a.Create, a.Why, c.want)
		}
	}
}

// TestOrInTheOrderOfAnIndex: a scan that only has its order from an index tests the OR for each row, and one SELECT per side searches.
func TestOrInTheOrderOfAnIndex(t *testing.T) {
	const plan = `[{"Plan":{"Node Type":"Limit","Total Cost":90,"Plan Rows":1,
		"Plans":[{"Node Type":"Index Scan","Relation Name":"t","Alias":"t","Index Name":"t_at","Total Cost":9000,"Plan Rows":50000,
		"Filter":"((at >= (now() - $1)) OR (%s = $1))"}]}}]`
	for column, want := range map[string]string{"at": "combine them by UNION: each can then search t_at.",
		"state": "CREATE INDEX ON t (state)"} {
		root, err := Parse(fmt.Appendf(nil, plan, column))
		if err != nil {
			t.Fatal(err)
		}
		scans := Scans(root, 1, Catalogue{Tables: []database.Table{table("t", btree("t_at", "at"))}})
		if a := scans[0].Advise(); a.Create != "" || len(a.Why) != 1 || !strings.Contains(a.Why[0], want) {
			t.Errorf("%s: %q, %v; want %q", column, a.Create, a.Why, want)
		}
	}
}
