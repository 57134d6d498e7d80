package planlog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/record/statement"
)

// textLog is what PostgreSQL 15 wrote with log_analyze.
const textLog = "7 orders WHERE torn\n" +
	"2026-11-23 02:00:00.000 UTC [12] LOG:  duration: 4.210 ms  plan:\n" +
	"\tQuery Text: SELECT id\n\t FROM orders WHERE note = 's3cret-one' AND uid = 77 ORDER BY created_at DESC LIMIT 5\n" +
	"\tLimit  (cost=10.00..11.00 rows=5 width=4) (actual time=1.000..4.000 rows=5 loops=1)\n" +
	"\t  ->  Sort  (cost=10.00..10.50 rows=40 width=12) (actual time=1.000..4.000 rows=5 loops=1)\n" +
	"\t        Sort Key: created_at DESC, COALESCE(note, 's3cret-two, really'::text)\n" +
	"\t        Sort Method: top-N heapsort  Memory: 25kB\n" +
	"\t        ->  Seq Scan on orders o  (cost=0.00..955.00 rows=40 width=12) (actual time=0.010..3.900 rows=40 loops=1)\n" +
	"\t              Filter: ((note = 's3cret-one'::text) AND (uid = 77) AND (name ~~ '%s3cret-three'::text))\n" +
	"\t              Rows Removed by Filter: 39960\n" +
	"\tQuery Identifier: -42\n" +
	"2026-11-23 02:00:00.000 UTC [12] LOG:  duration: 1.000 ms  statement: SELECT 's3cret-four'\n" +
	"2026-11-23 02:00:00.000 UTC [12] LOG:  duration: 0.100 ms  plan:\n" +
	"\tQuery Text: SELECT 1 FROM t WHERE id = 5\n" +
	"\tIndex Scan using t_pkey on s.t  (cost=0.29..8.31 rows=1 width=4)\n" +
	"\t  Index Cond: (id = 5)\n" +
	"2026-11-23 02:00:00.000 UTC [12] LOG:  duration: 9.100 ms  plan:\n\tQuery Text: SELECT 's3cret-five'\n\tRes"

func TestTextLog(t *testing.T) {
	entries := Read([]byte(textLog), Stderr)
	if len(entries) != 2 {
		t.Fatalf("%d entries: %+v", len(entries), entries)
	}
	e := entries[0]
	if e.QueryID != -42 || e.Duration != 4.21 ||
		e.Key != statement.Key("select id from orders where note = $1 and uid = $2 order by created_at desc limit $3") {
		t.Errorf("%+v", e)
	}
	root, err := index.Parse(e.Plan)
	if err != nil {
		t.Fatal(err)
	}
	scan := root.Plans[0].Plans[0]
	if root.Type != "Limit" || scan.Relation != "orders" || scan.Alias != "o" || scan.Removed != 39960 ||
		scan.Actual == nil || *scan.Actual != 40 || scan.Cost != 955 {
		t.Errorf("%+v", scan)
	}
	if want := "((note = '…'::text) AND (uid = …) AND (name ~~ '%…'::text))"; scan.Filter != want {
		t.Errorf("filter %s, want %s", scan.Filter, want)
	}
	if keys := root.Plans[0].SortKey; len(keys) != 2 || keys[0] != "created_at DESC" {
		t.Errorf("keys %q", keys)
	}
	second, err := index.Parse(entries[1].Plan)
	if err != nil || second.Index != "t_pkey" || second.Schema != "s" || second.Relation != "t" || second.IndexCond != "(id = …)" {
		t.Errorf("%+v, %v", second, err)
	}
	withoutSecrets(t, entries)
}

// message is an entry in JSON, with fields that may hold anything.
const message = `duration: 2.000 ms  plan:
{
  "Query Text": "SELECT a FROM t WHERE b = 's3cret-one'",
  "Query Parameters": "$1 = 's3cret-two'",
  "Query Identifier": 99,
  "Plan": {
    "Node Type": "Seq Scan", "Relation Name": "t", "Alias": "t", "Total Cost": 12.5, "Plan Rows": 3,
    "Filter": "(b = 's3cret-one'::text)", "Output": ["'s3cret-three'::text"], "Function Call": "f('s3cret-four')"
  }
}`

func TestOtherFormats(t *testing.T) {
	line, err := json.Marshal(map[string]any{"message": message, "query_id": 99})
	if err != nil {
		t.Fatal(err)
	}
	jsonLog := `gment":"torn"}` + "\n" + string(line) + "\n" + `{"message":"duration: 1.0 ms  plan:\n{\"Query`
	row := strings.Repeat(",", csvMessage) + `"` + strings.ReplaceAll(message, `"`, `""`) + `"` +
		strings.Repeat(",", csvQueryID-csvMessage) + "99\n"
	csvLog := "torn \"\"half\" of a row\n" + row + row + `2026,"torn`
	lines := "LOG:  " + strings.ReplaceAll(message, "\n", "\n\t") + "\nLOG:  next\n"
	for _, c := range []struct {
		format Format
		log    string
		want   int
	}{{JSON, jsonLog, 1}, {CSV, csvLog, 2}, {Stderr, lines, 1}} {
		entries := Read([]byte(c.log), c.format)
		if len(entries) != c.want {
			t.Errorf("%s: %d entries, want %d", c.format, len(entries), c.want)
			continue
		}
		root, err := index.Parse(entries[0].Plan)
		if err != nil || entries[0].QueryID != 99 || entries[0].Duration != 2 || root.Cost != 12.5 || root.Filter != "(b = '…'::text)" {
			t.Errorf("%s: %+v, %+v, %v", c.format, entries[0], root, err)
		}
		withoutSecrets(t, entries)
	}
}

func withoutSecrets(t *testing.T, entries []Entry) {
	t.Helper()
	for _, e := range entries {
		if strings.Contains(string(e.Plan), "s3cret") || strings.Contains(string(e.Plan), "77") {
			t.Errorf("a constant is kept: %s", e.Plan)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(textLog, 0)
	f.Add("LOG:  "+strings.ReplaceAll(message, "\n", "\n\t")+"\n", 0)
	f.Add(`{"message":"duration: 1.0 ms  plan:\n{}"}`, 1)
	f.Add(strings.Repeat(",", csvMessage)+`"duration: 1.0 ms  plan:`+"\n{}\"\n", 2)
	f.Fuzz(func(t *testing.T, log string, format int) {
		for _, e := range Read([]byte(log), [...]Format{Stderr, JSON, CSV}[uint(format)%3]) {
			if root, err := index.Parse(e.Plan); err != nil || root == nil {
				t.Errorf("%s: %v", e.Plan, err)
			}
		}
	})
}
