package database

import (
	"strings"
	"testing"
)

func TestPlan(t *testing.T) {
	for _, c := range []struct{ name, plan, table, index string }{
		{"sort above a scan", `[{"Plan":{"Node Type":"Limit","Plans":[{"Node Type":"Sort","Sort Key":["created_at DESC"],"Plans":[
			{"Node Type":"Seq Scan","Relation Name":"orders","Filter":"(uid = $1)","Total Cost":5000}]}]}}]`, "orders", "CREATE INDEX ON orders (uid, created_at DESC)"},
		{"parallel scan, cast column", `[{"Plan":{"Node Type":"Gather","Plans":[{"Node Type":"Seq Scan","Parallel Aware":true,"Relation Name":"orders",
			"Filter":"((o.email)::text = 'x'::text)","Total Cost":5000}]}}]`, "orders", "CREATE INDEX ON orders (email)"},
		{"two conditions and a range", `[{"Plan":{"Node Type":"Seq Scan","Relation Name":"t","Filter":"((a = $1) AND (b = $2) AND (c > $3))","Total Cost":9}}]`, "t", "CREATE INDEX ON t (a, b, c)"},
		{"in a list", `[{"Plan":{"Node Type":"Seq Scan","Relation Name":"t","Filter":"(order_id = ANY ($1))","Total Cost":9}}]`, "t", "CREATE INDEX ON t (order_id)"},
		{"expression", `[{"Plan":{"Node Type":"Seq Scan","Relation Name":"t","Filter":"(lower(a) = $1)","Total Cost":9}}]`, "t", ""},
		{"index that still filters", `[{"Plan":{"Node Type":"Index Scan","Relation Name":"t","Index Name":"t_a","Index Cond":"(a = $1)","Filter":"(b = $2)","Total Cost":9}}]`, "t", "CREATE INDEX ON t (b)"},
		{"costliest of two", `[{"Plan":{"Node Type":"Hash Join","Plans":[{"Node Type":"Seq Scan","Relation Name":"small","Filter":"(x = 1)","Total Cost":2},
			{"Node Type":"Seq Scan","Relation Name":"large","Filter":"(y = 1)","Total Cost":200}]}}]`, "large", "CREATE INDEX ON large (y)"},
		{"served by an index", `[{"Plan":{"Node Type":"Index Scan","Relation Name":"t","Index Name":"t_a","Index Cond":"(a = $1)","Total Cost":9}}]`, "", ""},
		{"whole table wanted", `[{"Plan":{"Node Type":"Seq Scan","Relation Name":"t","Total Cost":9}}]`, "", ""},
	} {
		root, err := parsePlan([]byte(c.plan))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		s, ok := costliest(root)
		if ok != (c.table != "") || s.Table != c.table {
			t.Errorf("%s: scan of %q (%v), want %q", c.name, s.Table, ok, c.table)
		}
		if ok && s.indexFor() != c.index {
			t.Errorf("%s: %q, want %q", c.name, s.indexFor(), c.index)
		}
	}
	for _, bad := range []string{"", "null", "[]", "[{}]", `{"Plan":1}`, "[" + strings.Repeat(" ", maxPlanBytes) + "]"} {
		if _, err := parsePlan([]byte(bad)); err == nil {
			t.Errorf("%.20q is read as a plan", bad)
		}
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(`[{"Plan":{"Node Type":"Seq Scan","Relation Name":"t","Filter":"((a)::text = $1)","Sort Key":["b DESC"]}}]`))
	f.Add([]byte(`[{"Plan":{"Plans":[{"Plans":[{}]}]}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if root, err := parsePlan(data); err == nil {
			if s, ok := costliest(root); ok {
				s.indexFor()
			}
		}
	})
}
