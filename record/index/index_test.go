package index

import (
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/database"
)

// table is a table of a hundred thousand rows with the given indexes.
func table(name string, indexes ...database.Index) database.Table {
	return database.Table{Schema: "public", Name: name, Rows: 1e5, Pages: 1000, Live: 1e5, Indexes: indexes}
}

func btree(name string, keys ...string) database.Index {
	one := database.Index{Name: name, Method: "btree", Valid: true, Definition: "CREATE INDEX " + name}
	for _, k := range keys {
		column, desc := strings.CutSuffix(k, " DESC")
		one.Keys = append(one.Keys, database.IndexKey{Column: column, Desc: desc, NullsFirst: desc, Class: "text_ops"})
	}
	return one
}

func gin(name, column, class string) database.Index {
	return database.Index{Name: name, Method: "gin", Valid: true, Definition: "CREATE INDEX " + name,
		Keys: []database.IndexKey{{Column: column, Class: class}}}
}

func adviseOn(t *testing.T, plan string, rows float64, tables ...database.Table) Advice {
	t.Helper()
	root, err := Parse([]byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	worst, ok := Worst(root, rows, -1, Catalogue{Tables: tables})
	if !ok {
		t.Fatalf("%s has no wasteful scan", plan)
	}
	return worst.Advise()
}

func seq(filter string) string {
	return `[{"Plan":{"Node Type":"Seq Scan","Relation Name":"t","Alias":"t","Filter":"` + filter + `","Total Cost":5000}}]`
}

func limited(filter, key string) string {
	return `[{"Plan":{"Node Type":"Limit","Plan Rows":10,"Plans":[{"Node Type":"Sort","Sort Key":["` + key + `"],"Plans":[
			{"Node Type":"Seq Scan","Relation Name":"t","Alias":"t","Filter":"` + filter + `","Total Cost":5000,"Plan Rows":500}]}]}}]`
}

func TestAdvice(t *testing.T) {
	for _, c := range []struct{ name, plan, index string }{
		{"equality", seq("(uid = $1)"), "t (uid)"},
		{"equality, order", limited("(uid = $1)", "created_at DESC"), "t (uid, created_at DESC)"},
		{"the order wins over a range", limited("((uid = $1) AND (size > $2))", "created_at"), "t (uid, created_at)"},
		{"range in the order", limited("((uid = $1) AND (id < $2))", "id DESC"), "t (uid, id DESC)"},
		{"nulls", limited("(uid = $1)", "done NULLS FIRST"), "t (uid, done NULLS FIRST)"},
		{"order alone", limited("", "created_at DESC"), "t (created_at DESC)"},
		{"equalities before the range", seq("((c > $3) AND (a = $1) AND (b = $2))"), "t (a, b, c)"},
		{"value first", seq("($1 = uid)"), "t (uid)"},
		{"list", seq("(uid = ANY ($1))"), "t (uid)"},
		{"varchar", seq("((email)::text = $1)"), "t (email)"},
		{"lower", seq("(lower(email) = $1)"), "t (lower(email))"},
		{"lower of varchar", seq("(lower((email)::text) = $1)"), "t (lower((email)::text))"},
		{"field of jsonb", seq("((doc ->> 'k'::text) = $1)"), "t ((doc ->> 'k'::text))"},
		{"date", seq("(date(created_at) = $1)"), "t (created_at)"},
		{"cast to date", seq("((created_at)::date = $1)"), "t (created_at)"},
		{"cast to numeric", seq("((uid)::numeric = $1)"), "t (uid)"},
		{"pattern", seq("(name ~~ $1)"), "t (name text_pattern_ops)"},
		{"pattern's begin", seq("(name ~~ '…%'::text)"), "t (name text_pattern_ops)"},
		{"pattern with a wildcard first", seq("(name ~~ '%…'::text)"), "t USING gin (name gin_trgm_ops)"},
		{"ILIKE", seq("(name ~~* $1)"), "t USING gin (name gin_trgm_ops)"},
		{"ILIKE of an expression", seq("(lower(name) ~~ '%…%'::text)"), "t USING gin (lower(name) gin_trgm_ops)"},
		{"array", seq("(tags @> '{…}'::text[])"), "t USING gin (tags)"},
		{"array that shares a value", seq("((tags && $1) AND (size > 3))"), "t USING gin (tags)"},
		{"words", seq("(words @@ to_tsquery($1))"), "t USING gin (words)"},
		{"words of a text", seq("(to_tsvector('english'::regconfig, body) @@ $1)"), "t USING gin (to_tsvector('english'::regconfig, body))"},
		{"an equality beside an array", seq("((tags @> $1) AND (uid = $2))"), "t (uid)"},
		{"contained", seq("($1 @> tags)"), ""},
		{"member of an array", seq("($1 = ANY (tags))"), ""},
		{"ILIKE of a document's field", seq("((doc ->> 'name'::text) ~~* $1)"), "t USING gin ((doc ->> 'name'::text) gin_trgm_ops)"},
		{"ILIKE of a function that may change", seq("(unaccent(name) ~~* $1)"), ""},
		{"month", seq("(date_trunc('month'::text, created_at) = $1)"), "t (created_at)"},
		{"weekday", seq("(date_part('dow'::text, created_at) = $1)"), ""},
		{"names to be quoted", seq(`(\"userId\" = $1)`), `t ("userId")`},
		{"or", seq("((a = $1) OR (b = $2))"), ""},
		{"unknown function", seq("(secret_sauce(a) = $1)"), ""},
		{"two columns", seq("(a = b)"), ""},
		{"bitmap and a filter", `[{"Plan":{"Node Type":"Bitmap Heap Scan","Relation Name":"t","Alias":"t","Filter":"(b = $2)","Total Cost":5000,"Plans":[
			{"Node Type":"Bitmap Index Scan","Index Name":"t_a","Index Cond":"(a = $1)"}]}}]`, "t (a, b)"},
		{"index scan that sorts", `[{"Plan":{"Node Type":"Limit","Plan Rows":10,"Plans":[{"Node Type":"Sort","Sort Key":["created_at DESC"],"Plans":[
			{"Node Type":"Index Scan","Relation Name":"t","Alias":"t","Index Name":"t_a","Index Cond":"(a = $1)","Total Cost":5000,"Plan Rows":5000}]}]}}]`, "t (a, created_at DESC)"},
	} {
		want := c.index
		if want != "" {
			want = "CREATE INDEX ON " + want
		}
		if a := adviseOn(t, c.plan, 1); a.Create != want {
			t.Errorf("%s: %q, want %q (%q)", c.name, a.Create, want, a.Why)
		}
	}
}

// TestTypesOfColumns: which indexes look into a column, and whether a pattern can be matched without a cast, depends on its type.
func TestTypesOfColumns(t *testing.T) {
	for _, c := range []struct{ typ, filter, index string }{
		{"text[]", "(c @> $1)", "t USING gin (c)"},
		{"jsonb", "(c @> $1)", "t USING gin (c jsonb_path_ops)"},
		{"tstzrange", "(c && $1)", "t USING gist (c)"},
		{"int4multirange", "(c @> $1)", "t USING gist (c)"},
		{"geometry(Point,4326)", "(c && $1)", "t USING gist (c)"},
		{"public.geography", "(c && $1)", "t USING gist (c)"},
		{"inet", "(c && $1)", "t USING gist (c inet_ops)"},
		{"ltree", "(c @> $1)", "t USING gist (c)"},
		{"uuid", "((c)::text ~~* $1)", ""},
		{"character varying(40)", "((c)::text ~~* $1)", "t USING gin (c gin_trgm_ops)"},
	} {
		on, want := table("t"), c.index
		on.Columns = []database.Column{{Name: "c", Type: c.typ}}
		if want != "" {
			want = "CREATE INDEX ON " + want
		}
		if a := adviseOn(t, seq(c.filter), 1, on); a.Create != want {
			t.Errorf("%s, %s: %q, want %q (%q)", c.typ, c.filter, a.Create, want, a.Why)
		}
	}
}

// TestWhyNoIndexServes: the reason names what would serve instead, and no other set of rows.
func TestWhyNoIndexServes(t *testing.T) {
	for _, c := range []struct{ filter, why, not string }{
		{"($1 = ANY (tags))", "write tags @> ARRAY[value], which CREATE INDEX ON t USING gin (tags) serves", "Rewrite"},
		{"(unaccent(name) ~~* $1)", "of exactly unaccent(name)", "CREATE EXTENSION"},
		{"(date_trunc('month'::text, at) = $1)", "from the beginning of the period to that of the next", "1 day"},
		{"((at)::date = $1)", "at < $1 + interval '1 day'", ""},
		{"((a = $1) OR (a IS NULL))", "(BitmapOr): CREATE INDEX ON t (a).", "Rewrite"},
	} {
		a := adviseOn(t, seq(c.filter), 1, table("t"))
		if why := a.String(); !strings.Contains(why, c.why) || c.not != "" && strings.Contains(why, c.not) {
			t.Errorf("%s: %s", c.filter, why)
		}
	}
	if a := adviseOn(t, strings.ReplaceAll(seq("(relname = $1)"), `"t"`, `"pg_class"`), 1); a.Create != "" || len(a.Why) == 0 {
		t.Errorf("an index of the server's own catalogue: %s", a)
	}
}

// TestExact: an index that does not hold all conditions, or the order, leads to rows that are not returned.
func TestExact(t *testing.T) {
	for plan, want := range map[string]bool{
		seq("(uid = $1)"):                                     true,
		seq("((uid = $1) AND (at > $2))"):                     true,
		seq("((uid = $1) AND (done IS NULL))"):                true,
		seq("((uid = $1) AND (id <> $2))"):                    false,
		seq("((uid = $1) AND (at > $2) AND (size > $3))"):     false,
		seq("((uid = $1) AND (name ~~* $2))"):                 false,
		limited("(uid = $1)", "at DESC"):                      true,
		limited("((uid = $1) AND (at < $2))", "at DESC"):      true,
		limited("((uid = $1) AND (size > $2))", "at DESC"):    false,
		limited("(uid = ANY ($1))", "at DESC"):                false,
		limited("(uid = $1)", "(count(*))"):                   false,
		limited("((uid = $1) AND (done IS NULL))", "at DESC"): true,
	} {
		if a := adviseOn(t, plan, 1, table("t")); a.Create == "" || a.Exact != want {
			t.Errorf("%s: %s, exact %t", plan, a, a.Exact)
		}
	}
}

// TestListHasNoOrder: the rows of a list's values are all read and sorted, so that an index saves nothing where these are most.
func TestListHasNoOrder(t *testing.T) {
	for filter, want := range map[string]bool{"(uid = $1)": true, "(uid = ANY ($1))": false} {
		root, err := Parse([]byte(strings.Replace(limited(filter, "at DESC"), `"Plan Rows":500`, `"Plan Rows":50000`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if worst, ok := Worst(root, 10, 1000, Catalogue{Tables: []database.Table{table("t")}}); ok != want {
			t.Errorf("%s: %t, %+v", filter, ok, worst)
		}
	}
}

// TestDearerByTheServersCosts: where a random block costs hardly more than the next one, a common value's rows are worth finding.
func TestDearerByTheServersCosts(t *testing.T) {
	root, err := Parse([]byte(seq("(uid = $1)")))
	if err != nil {
		t.Fatal(err)
	}
	common := table("t", btree("t_uid", "uid"))
	common.Columns = []database.Column{{Name: "uid", Distinct: 2, Known: true}}
	for random, helps := range map[float64]bool{4: false, 1.1: true} {
		planner := defaults
		planner.RandomPage = random
		worst, ok := Worst(root, 1, -1, Catalogue{Tables: []database.Table{common}, Planner: &planner})
		if why := worst.Advise().String(); !ok || strings.Contains(why, "does not help") == helps {
			t.Errorf("%v: %s", random, why)
		}
	}
}

// TestLimitIsNoStaleness: a limit ends a scan before it has read all the rows that the planner expects.
func TestLimitIsNoStaleness(t *testing.T) {
	a := adviseOn(t, `[{"Plan":{"Node Type":"Limit","Plan Rows":10,"Total Cost":900,"Plans":[{"Node Type":"Seq Scan",`+
		`"Relation Name":"t","Alias":"t","Filter":"(uid = $1)","Total Cost":5000,"Plan Rows":500,"Actual Rows":10,"Actual Loops":1}]}}]`,
		10, table("t", btree("t_uid", "uid")))
	if why := a.String(); strings.Contains(why, "stale") || !strings.Contains(why, "The index exists") {
		t.Error(why)
	}
}

// TestPartialIndex: a partial index serves a statement that has its condition, and lacks only what others would lack, too.
func TestPartialIndex(t *testing.T) {
	partial := func(where string, keys ...string) database.Table {
		one := btree("t_live", keys...)
		one.Predicate = where
		return table("t", one)
	}
	const filter = "((uid = $1) AND (deleted_at IS NULL))"
	a := adviseOn(t, seq(filter), 1, partial("(deleted_at IS NULL)", "uid"))
	if a.Create != "" || !strings.Contains(a.String(), "The index exists") {
		t.Errorf("the statement has the index's condition: %s", a)
	}
	a = adviseOn(t, limited(filter, "at DESC"), 1, partial("(deleted_at IS NULL)", "uid"))
	if why := a.String(); strings.Contains(why, "does not match") || !strings.Contains(why, "not in the order wanted") {
		t.Errorf("it lacks the order: %s", why)
	}
	if a := adviseOn(t, seq(filter), 1, partial("(paid_at IS NULL)", "uid")); !strings.Contains(a.String(), "does not match") {
		t.Errorf("another condition: %s", a)
	}
	kind := "((uid = $1) AND (kind = '…'::text))" // constants that a record does not hold may differ
	a = adviseOn(t, seq(kind), 1, partial("(kind = '…'::text)", "uid"))
	if a.Create == "" || strings.Contains(a.String(), "does not match") {
		t.Errorf("a condition of which only the beginning is known: %s", a)
	}
}

// TestFieldBesideColumns: a field of a document whose key is a parameter selects what columns do not: one that an index serves
// already, and one that is the same in all rows, though the planner puts brackets around some of the conditions.
func TestFieldBesideColumns(t *testing.T) {
	filter := "((org = $1) AND (((kind)::text = ANY ((ARRAY[$2, $3])::text[])) AND ((labels ->> $4) = $5)))"
	runs := table("t", btree("t_org", "org"))
	runs.Columns = []database.Column{{Name: "kind", Type: "character varying", Distinct: 1, Known: true}}
	const field, documents = "CREATE INDEX ON t ((labels ->> 'key'))", "So does t_labels (GIN)"
	a := adviseOn(t, seq(filter), 1, runs)
	if a.Create != "" || !strings.Contains(a.String(), field) || strings.Contains(a.String(), documents) {
		t.Errorf("advises %s", a)
	}
	runs.Indexes = append(runs.Indexes, gin("t_labels", "labels", "jsonb_path_ops"))
	if a := adviseOn(t, seq(filter), 1, runs); !strings.Contains(a.String(), field) || !strings.Contains(a.String(), documents) {
		t.Errorf("with an index of documents, advises %s", a)
	}
	// Without such a field the column stays: a queue's rare state may not be in the planner's sample.
	if a := adviseOn(t, seq("((kind = $1) AND ((uid)::numeric = $2))"), 1, runs); a.Create != "CREATE INDEX ON t (kind, uid)" {
		t.Errorf("beside a cast, advises %s", a)
	}
	runs.Columns[0].Distinct = 5
	if a := adviseOn(t, seq(filter), 1, runs); a.Create != "CREATE INDEX ON t (org, kind)" {
		t.Errorf("of five kinds, advises %s", a)
	}
}

// An index that exists is not advised; the advice says why it does not serve.
func TestExistingIndex(t *testing.T) {
	invalid := btree("t_uid", "uid")
	invalid.Valid = false
	partial := btree("t_live", "uid")
	partial.Predicate = "(deleted_at IS NULL)"
	for _, c := range []struct {
		name, filter string
		index        database.Index
		create, why  string
	}{
		{"the same", "(uid = $1)", btree("t_uid", "uid"), "", "The index exists"},
		{"a wider one", "(uid = $1)", btree("t_uid_at", "uid", "at"), "", "The index exists"},
		{"in another order", "((a = $1) AND (b = $2))", btree("t_b_a", "b", "a", "c"), "", "The index exists"},
		{"invalid", "(uid = $1)", invalid, "", "REINDEX INDEX CONCURRENTLY t_uid"},
		{"second column", "(uid = $1)", btree("t_at_uid", "at", "uid"), "t (uid)", "searched from its first column"},
		{"partial", "(uid = $1)", partial, "t (uid)", "partial"},
		{"of a collation", "(name ~~ $1)", btree("t_name", "name"), "t (name text_pattern_ops)", "t_name orders name by its collation"},
		{"below lower", "(lower(name) = $1)", btree("t_name", "name"), "t (lower(name))", "t_name indexes name itself"},
		{"a document", "(doc @> $1)", gin("t_doc", "doc", ""), "", "The index exists"},
		{"a document and patterns", "(doc @> $1)", gin("t_doc", "doc", "gin_trgm_ops"), "t USING gin (doc)", ""},
		{"a field whose key is a parameter", "((doc ->> $2) = $1)", btree("t_uid", "uid"), "", "CREATE INDEX ON t ((doc ->> 'key'))"},
		{"words of a hidden configuration", "(to_tsvector($1, body) @@ $2)", btree("t_uid", "uid"), "", "USING gin (to_tsvector('english', body))"},
		{"either", "((a = $1) OR (b = $2))", btree("t_a", "a"), "", "(BitmapOr): CREATE INDEX ON t (b)."},
		{"either of three", "((b = $1) OR (a = $2) OR (b > $3))", btree("t_a", "a"), "", "(BitmapOr): CREATE INDEX ON t (b)."},
		{"either of expressions", "((a = $1) OR (secret_sauce(b) = $2))", btree("t_a", "a"), "", "Rewrite the condition"},
		{"optional ones", "((($1 IS NULL) OR ((uid)::bigint = $1)) AND (($2 IS NULL) OR (b = $2)) AND (($3 IS NULL) OR (a = $3)))",
			btree("t_a", "a"), "",
			"Index the columns to which calls give values (b), followed by the column of ORDER BY: CREATE INDEX ON t (b)."},
		{"a cast", "((uid)::numeric = $1)", btree("t_uid", "uid"), "", "in the column's own type"},
	} {
		a := adviseOn(t, seq(c.filter), 1, table("t", c.index))
		want := c.create
		if want != "" {
			want = "CREATE INDEX ON " + want
		}
		if a.Create != want || !strings.Contains(strings.Join(a.Why, " "), c.why) {
			t.Errorf("%s: %q, want %q and %q", c.name, a, want, c.why)
		}
	}
}

// TestSelectiveSides: the sides of an OR that select few rows come before an equality that nearly all rows meet, whose index does not
// help; otherwise after it.
func TestSelectiveSides(t *testing.T) {
	const filter = "((COALESCE(due, at) > $2) AND (status = $4) AND ((source = $1) OR (target = $1)))"
	transfers := table("t", btree("t_status", "status"))
	transfers.Schema = "bank"
	column := func(name string, distinct float64) database.Column {
		return database.Column{Name: name, Type: "text", Distinct: distinct, Known: true}
	}
	transfers.Columns = []database.Column{column("status", 1), column("source", 2000), column("target", 2000)}
	const both = "(BitmapOr): CREATE INDEX ON bank.t (source); CREATE INDEX ON bank.t (target)."
	if a := adviseOn(t, seq(filter), 1, transfers); a.Create != "" || !strings.HasSuffix(a.String(), both) {
		t.Errorf("of two selective sides: %s", a)
	}
	transfers.Columns[0].Distinct = 1e6
	if a := adviseOn(t, seq(filter), 1, transfers); !strings.Contains(a.String(), "The index exists") {
		t.Errorf("of a selective equality: %s", a)
	}
	transfers.Columns[0].Distinct = 1
	a := adviseOn(t, seq("(status = $1)"), 1, transfers)
	if want := "t_status does not help: one value of status is in 100 % of the rows."; a.String() != want {
		t.Errorf("of an equality that all rows meet: %s, want %s", a, want)
	}
}

// An index that has the order wanted is not said to lack it: its extra rows are the matter.
func TestIndexesThatDoNotServe(t *testing.T) {
	const both = "((uid = $1) AND (kind = $2))"
	for keys, want := range map[string]string{
		"uid":      "finds the rows, but not in the order wanted",
		"uid size": "finds the rows, but not in the order wanted",
		"uid id":   "has the order wanted, but also holds rows that the conditions leave out",
	} {
		a := adviseOn(t, limited(both, "id DESC"), 1, table("t", btree("t_uid", strings.Fields(keys)...)))
		if why := strings.Join(a.Why, " "); a.Create != "CREATE INDEX ON t (uid, kind, id DESC)" || !strings.Contains(why, "t_uid "+want) {
			t.Errorf("%s: %s, %q", keys, a.Create, why)
		}
	}
}

// A scan is wasteful by comparison with the work of an index that fits, not from a number
// of blocks on.
func TestWaste(t *testing.T) {
	for _, c := range []struct {
		name, plan   string
		rows, blocks float64
		wasted       bool
	}{
		{"one row of a table", seq("(uid = $1)"), 1, 1000, true},
		{"half of its rows", seq("(uid = $1)"), 5e4, 1000, false},
		{"a scan that stops early", `[{"Plan":{"Node Type":"Limit","Total Cost":2,"Plan Rows":10,"Plans":[{"Node Type":"Seq Scan","Relation Name":"t","Alias":"t","Filter":"(uid = $1)","Total Cost":5000}]}}]`, 10, 3, false},
		{"the inner side of a loop", `[{"Plan":{"Node Type":"Nested Loop","Total Cost":850,"Plans":[{"Node Type":"Index Scan","Relation Name":"t","Index Cond":"(uid = $1)","Index Name":"t_uid","Total Cost":400,"Plan Rows":100},
			{"Node Type":"Index Scan","Relation Name":"u","Index Name":"u_id","Index Cond":"(id = t.uid)","Total Cost":4.5,"Plan Rows":1}]}}]`, 100, 500, false},
		{"kept for a loop", `[{"Plan":{"Node Type":"Nested Loop","Total Cost":9600,"Plans":[{"Node Type":"Seq Scan","Relation Name":"u","Alias":"u","Total Cost":8000,"Plan Rows":1000},
			{"Node Type":"Materialize","Total Cost":501,"Plans":[{"Node Type":"Seq Scan","Relation Name":"t","Alias":"t","Filter":"(uid = $1)","Total Cost":500,"Plan Rows":5}]}]}}]`, 5000, -1, false},
		{"beside either of two conditions", `[{"Plan":{"Node Type":"Nested Loop","Total Cost":9600,"Plans":[{"Node Type":"Bitmap Heap Scan","Relation Name":"u","Alias":"u","Total Cost":50,"Plan Rows":9},
			{"Node Type":"Seq Scan","Relation Name":"t","Alias":"t","Filter":"(uid = u.id)","Total Cost":1000,"Plan Rows":1}]}}]`, 9, 1800, true},
		{"a small part of the plan", `[{"Plan":{"Node Type":"Hash Join","Total Cost":9000,"Plans":[{"Node Type":"Seq Scan","Relation Name":"u","Alias":"u","Total Cost":8000,"Plan Rows":100000},
			{"Node Type":"Hash","Plans":[{"Node Type":"Seq Scan","Relation Name":"t","Alias":"t","Filter":"(uid = $1)","Total Cost":500,"Plan Rows":1}]}]}}]`, 5, 1000, false},
	} {
		root, err := Parse([]byte(c.plan))
		if err != nil {
			t.Fatal(err)
		}
		if worst, ok := Worst(root, c.rows, c.blocks, Catalogue{Tables: []database.Table{table("t"), table("u")}}); ok != c.wasted {
			t.Errorf("%s: %v, %+v", c.name, ok, worst)
		}
	}
}

// TestScansOfOneStatement: a view reads a table twice, for two columns. Either index alone leaves half of the work.
func TestScansOfOneStatement(t *testing.T) {
	scan := func(column string) string {
		return `{"Node Type":"Seq Scan","Relation Name":"t","Alias":"t","Filter":"(` + column +
			` = $1)","Total Cost":9300,"Plan Rows":125}`
	}
	a := adviseOn(t, `[{"Plan":{"Node Type":"Aggregate","Total Cost":19600,"Plan Rows":1,"Plans":[{"Node Type":"Append",`+
		`"Total Cost":18620,"Plan Rows":250,"Plans":[`+scan("a")+`,`+scan("b")+`]}]}}]`, 1, table("t"))
	if a.Create != "CREATE INDEX ON t (a)" || !strings.Contains(strings.Join(a.Why, " "), "CREATE INDEX ON t (b)") {
		t.Errorf("%+v", a)
	}
}

// TestScansOfPartitions: each partition is scanned under the one condition, and the index belongs on the table that they are of.
func TestScansOfPartitions(t *testing.T) {
	var scans []string
	var tables []database.Table
	for _, name := range []string{"t_1", "t_2", "t_3"} {
		scans = append(scans, `{"Node Type":"Seq Scan","Relation Name":"`+name+`","Alias":"`+name+`","Filter":"(`+name+`.uid = $1)",`+
			`"Total Cost":9300,"Plan Rows":5}`)
		tables = append(tables, table(name))
	}
	all := `[{"Plan":{"Node Type":"Append","Total Cost":28000,"Plan Rows":15,"Plans":[` + strings.Join(scans, ",") + `]}}]`
	a := adviseOn(t, all, 15, tables...)
	if why := strings.Join(a.Why, " "); a.Create != "CREATE INDEX ON t_1 (uid)" || strings.Contains(why, "t_2") ||
		!strings.Contains(why, "The plan scans 2 more tables under the same condition: if they are partitions, create the index on") {
		t.Errorf("%s", a)
	}
}

func TestGroupsForPage(t *testing.T) {
	const below = `"Total Cost":9,"Plans":[{"Node Type":"Seq Scan","Relation Name":"t","Total Cost":5}]`
	for plan, want := range map[string]bool{
		`[{"Plan":{"Node Type":"Limit","Plans":[{"Node Type":"Sort","Plans":[{"Node Type":"Group",` + below + `}]}]}}]`: true,
		`[{"Plan":{"Node Type":"Limit","Plans":[{"Node Type":"Sort",` + below + `}]}}]`:                                 false,
		`[{"Plan":{"Node Type":"Aggregate","Plans":[{"Node Type":"Limit",` + below + `}]}}]`:                            false,
		`[{"Plan":{"Node Type":"Limit","Plans":[{"Node Type":"Aggregate","Strategy":"Plain",` + below + `}]}}]`:         false,
		`[{"Plan":{"Node Type":"Limit","Plans":[{"Node Type":"Aggregate","Strategy":"Hashed",` + below + `}]}}]`:        true,
		`[{"Plan":{"Node Type":"Limit","Plans":[{"Node Type":"Seq Scan","Plans":[{"Node Type":"Aggregate","Strategy":"Hashed",` +
			`"Parent Relationship":"SubPlan",` + below + `}]}]}}]`: false,
	} {
		root, err := Parse([]byte(plan))
		if err != nil || root.GroupsForPage() != want {
			t.Errorf("%s: want %v, %v", plan, want, err)
		}
	}
}

// TestLimitThatDoesNotEndTheScan: the planner expects a scan in the wanted order to find a row soon. The blocks counted say that
// it does not, and an index with the filter's column in front does; few blocks say that it does.
func TestLimitThatDoesNotEndTheScan(t *testing.T) {
	root, err := Parse([]byte(`[{"Plan":{"Node Type":"Limit","Total Cost":17,"Plan Rows":1,"Plans":[{"Node Type":"Index Scan",` +
		`"Scan Direction":"Backward","Index Name":"t_id","Relation Name":"t","Alias":"t_1","Filter":"(uid = $1)",` +
		`"Total Cost":1746,"Plan Rows":500}]}}]`))
	if err != nil {
		t.Fatal(err)
	}
	tables := Catalogue{Tables: []database.Table{table("t", btree("t_id", "id"), btree("t_uid", "uid"))}}
	worst, ok := Worst(root, 1, 900, tables)
	if !ok || !strings.HasPrefix(worst.Advise().Create, "CREATE INDEX ON t (uid, id)") {
		t.Errorf("%v, %q", ok, worst.Advise().Create)
	}
	if worst, ok := Worst(root, 1, 5, tables); ok {
		t.Errorf("it ends soon, and is said to waste %+v", worst)
	}
}

func TestReferences(t *testing.T) {
	parent := table("orders")
	parent.References = []database.Reference{{Schema: "public", Table: "items", Columns: []string{"order_id"},
		Pages: 700}, {Schema: "public", Table: "notes", Columns: []string{"order_id"}, Indexed: true}}
	root, err := Parse([]byte(`[{"Plan":{"Node Type":"ModifyTable","Operation":"Delete","Relation Name":"orders","Plans":[]}}]`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range References(root, Catalogue{Tables: []database.Table{parent}}) {
		got = append(got, a.Create)
	}
	if !slices.Equal(got, []string{"CREATE INDEX ON items (order_id)"}) {
		t.Errorf("%q", got)
	}
}

func TestPlanIsBounded(t *testing.T) {
	for _, bad := range []string{"", "null", "[]", "[{}]", `{"Plan":1}`, "[" + strings.Repeat(" ", MaxPlan) + "]"} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%.20q is read as a plan", bad)
		}
	}
}

func FuzzAdvice(f *testing.F) {
	f.Add([]byte(`[{"Plan":{"Node Type":"Seq Scan","Relation Name":"t","Total Cost":9000,` +
		`"Filter":"((a)::text = $1)","Sort Key":["b DESC"]}}]`))
	f.Add([]byte(`[{"Plan":{"Plans":[{"Plans":[{}]}]}}]`))
	f.Add([]byte(seq("((lower(a) = $1) AND (b ~~ '%x'::text) AND (NOT c))")))
	f.Fuzz(func(_ *testing.T, data []byte) {
		root, err := Parse(data)
		if err != nil {
			return
		}
		c := Catalogue{Tables: []database.Table{table("t", btree("i", "a", "b"), database.Index{Method: "btree"})}}
		if worst, ok := Worst(root, 1, -1, c); ok {
			_ = worst.Advise().String()
		}
		References(root, c)
	})
}

// TestSubqueries: the cost of a scan contains that of the subqueries that it runs for each of its rows. These lack the index.
func TestSubqueries(t *testing.T) {
	plan := func(spaces string) string {
		return `[{"Plan":{"Node Type":"Sort","Sort Key":["spaces.name"],"Total Cost":59229,"Plan Rows":30,"Plans":[` +
			`{"Node Type":"Index Scan","Parent Relationship":"Outer","Relation Name":"spaces","Alias":"spaces",` +
			`"Index Name":"by_location","Index Cond":"(location_id = $3)","Total Cost":` + spaces + `,"Plan Rows":30,"Plans":[` +
			`{"Node Type":"Seq Scan","Parent Relationship":"SubPlan","Relation Name":"bookings","Alias":"bookings","Total Cost":1734,` +
			`"Plan Rows":8710,"Filter":"(enter_time >= $1)"},` +
			`{"Node Type":"Sort","Parent Relationship":"SubPlan","Sort Key":["bookings_1.enter_time"],"Total Cost":1851,` +
			`"Plan Rows":15,"Plans":[` +
			`{"Node Type":"Seq Scan","Parent Relationship":"Outer","Relation Name":"bookings","Alias":"bookings_1","Total Cost":1834,` +
			`"Plan Rows":15,"Filter":"((space_id = spaces.id) AND (enter_time >= $1))"}]}]}]}}]`
	}
	// Below twice the cost of one run the subqueries are run once, and what is left is the scan's.
	for cost, lacks := range map[string]float64{"59228": 30, "3700": 1} {
		root, err := Parse([]byte(plan(cost)))
		if err != nil {
			t.Fatal(err)
		}
		scans := Scans(root, 30, Catalogue{})
		i := slices.IndexFunc(scans, func(s Scan) bool { return s.Node.Alias == "bookings_1" })
		if i < 0 || scans[i].Loops != lacks {
			t.Errorf("cost %s: %+v", cost, scans)
		}
	}
	// One that depends on no row runs once, and one that another node than a scan runs does so for each of that node's rows.
	for text, loops := range map[string]float64{
		strings.ReplaceAll(plan("59228"), `"SubPlan"`, `"InitPlan"`):       1,
		strings.Replace(plan("59228"), `"Relation Name":"spaces",`, "", 1): 30,
	} {
		root, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		scans := Scans(root, 30, Catalogue{})
		if i := slices.IndexFunc(scans, func(s Scan) bool { return s.Node.Alias == "bookings_1" }); i < 0 || scans[i].Loops != loops {
			t.Errorf("want %v runs: %+v of %s", loops, scans, text)
		}
	}
	root, _ := Parse([]byte(plan("59228")))
	worst, ok := Worst(root, 30, -1, Catalogue{Tables: []database.Table{table("bookings", btree("bookings_pkey", "id"))}})
	if advice := worst.Advise().Create; !ok || !strings.HasPrefix(advice, "CREATE INDEX ON bookings (space_id") {
		t.Errorf("%v: %s at %s", ok, advice, worst.Node.Relation)
	}
}

// TestJoin: a join that reads a whole table for a few rows of the other side lacks an index on its columns. It lacks none where a
// nested loop could not look them up, where the other side has many rows, or where the index exists.
func TestJoin(t *testing.T) {
	plan := func(kind, first, second string) string {
		_, rows, _ := strings.Cut(second, `"Plan Rows":`)
		rows, _, _ = strings.Cut(rows, "}")
		return `[{"Plan":{"Node Type":"Hash Join","Join Type":"` + kind + `","Hash Cond":"((s.tree = l.tree) AND (s.hash = l.hash))",` +
			`"Plan Rows":10,"Total Cost":6700,"Plans":[` + first + `,{"Node Type":"Hash","Parent Relationship":"Inner",` +
			`"Plan Rows":` + rows + `,"Plans":[` + second + `]}]}}]`
	}
	const table1 = `{"Node Type":"Seq Scan","Parent Relationship":"Outer","Relation Name":"s","Alias":"s","Filter":"(tree = $2)",` +
		`"Total Cost":5600,"Plan Rows":100000}`
	few := func(rows string) string {
		return `{"Node Type":"Index Scan","Relation Name":"l","Alias":"l","Index Name":"l_pkey","Index Cond":"(hash = ANY ($1))",` +
			`"Total Cost":60,"Plan Rows":` + rows + `}`
	}
	other := table("l", btree("l_pkey", "hash"))
	for _, c := range []struct {
		name, plan string
		table      database.Table
		lacks      string
	}{
		{"right", plan("Right", table1, few("10")), table("s", btree("s_pkey", "tree", "number")), "CREATE INDEX ON s (tree, hash)"},
		{"inner, hashed", plan("Inner", few("10"), table1), table("s"), "CREATE INDEX ON s (tree, hash)"},
		{"preserved", plan("Left", table1, few("10")), table("s"), ""},
		{"full", plan("Full", table1, few("10")), table("s"), ""},
		{"many", plan("Right", table1, few("90000")), table("s"), ""},
		{"it exists", plan("Right", table1, few("10")), table("s", btree("s_tree", "tree", "hash")), ""},
	} {
		root, err := Parse([]byte(c.plan))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if worst, ok := Worst(root, 1, 3000, Catalogue{Tables: []database.Table{c.table, other}}); ok && worst.Lookups > 0 {
			got = worst.Advise().Create
		}
		if got != c.lacks {
			t.Errorf("%s: advises %q, want %q", c.name, got, c.lacks)
		}
	}
}
