package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/record/series"
)

// catalogue makes the tables of a shop, large enough that an index is worth it.
func catalogue(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS pg_stat_statements",
		`CREATE TABLE orders (id int PRIMARY KEY, uid int, tenant int, seq int, email varchar(80), name text COLLATE "und-x-icu", code text COLLATE "C", created_at timestamptz, deleted_at timestamptz)`,
		`INSERT INTO orders SELECT g, g % 1000, g % 500, g, 'User' || g || '@x.io', 'name' || g, 'c' || g, 'epoch'::timestamptz + g * interval '1 minute',
			CASE WHEN g % 100 > 0 THEN 'epoch'::timestamptz END FROM generate_series(1, 40000) g`,
		"CREATE INDEX orders_name ON orders (name)", "CREATE INDEX orders_code ON orders (code)",
		"CREATE INDEX orders_tenant ON orders (seq, tenant)",
		"CREATE TABLE items (id int PRIMARY KEY, order_id int REFERENCES orders ON DELETE CASCADE)",
		"INSERT INTO items SELECT g, g % 40000 + 1 FROM generate_series(1, 60000) g",
		"ANALYZE",
	} {
		exec(t, conn, sql)
	}
}

// stored runs a statement as the application does and returns what is recorded.
func stored(t *testing.T, dsn string, conn *pgx.Conn, statements map[string][]any) database.Statements {
	t.Helper()
	r := run(t, dsn)
	r.base(t)
	for sql, args := range statements {
		exec(t, conn, sql, args...)
	}
	r.until(t, "the calls", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > float64(len(statements))-0.01 })
	r.stop()
	_, value, err := r.Store()
	if err != nil {
		t.Fatal(err)
	}
	return value.(database.Statements)
}

func adviceFor(t *testing.T, all database.Statements, part string) (database.Statement, index.Advice, bool) {
	t.Helper()
	for _, s := range all.Statements {
		if !strings.Contains(s.Text, part) {
			continue
		}
		root, err := index.Parse(s.Plan)
		if err != nil {
			t.Fatalf("%s: %v (%s)", s.Text, err, s.PlanError)
		}
		c := index.Catalogue{Tables: all.Tables, Planner: all.Planner}
		if lacking := index.References(root, c); len(lacking) > 0 {
			return s, lacking[0], true
		}
		worst, ok := index.Worst(root, float64(s.Rows)/float64(s.Calls), float64(s.Hits+s.Reads)/float64(s.Calls), c)
		if !ok {
			return s, index.Advice{}, false
		}
		return s, worst.Advise(), true
	}
	t.Fatalf("no statement with %q", part)
	return database.Statement{}, index.Advice{}, false
}

// Each index that is advised is made, and the server's planner then reads it.
func TestAdvisedIndexesAreUsed(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	catalogue(t, conn)
	cases := []struct{ name, sql, literal, want string }{
		{"equality", "SELECT id FROM orders WHERE uid = $1", "SELECT id FROM orders WHERE uid = 7", "orders (uid)"},
		{"order and limit", "SELECT id, seq FROM orders WHERE tenant = $1 ORDER BY created_at DESC LIMIT 5",
			"SELECT id, seq FROM orders WHERE tenant = 7 ORDER BY created_at DESC LIMIT 5", "orders (tenant, created_at DESC)"},
		{"pattern", "SELECT seq FROM orders WHERE name LIKE $1", "SELECT seq FROM orders WHERE name LIKE 'name77%'",
			"orders (name text_pattern_ops)"},
		{"lower", "SELECT uid FROM orders WHERE lower(email) = $1",
			"SELECT uid FROM orders WHERE lower(email) = 'user7@x.io'", "orders (lower((email)::text))"},
		{"partial", "SELECT tenant FROM orders WHERE deleted_at IS NULL AND email = $1",
			"SELECT tenant FROM orders WHERE deleted_at IS NULL AND email = 'User700@x.io'", "orders (email) WHERE deleted_at IS NULL"},
		{"foreign key", "DELETE FROM orders WHERE id = $1", "SELECT FROM items WHERE order_id = 9", "items (order_id)"},
	}
	args := map[string]any{"equality": 7, "order and limit": 7, "pattern": "name77%", "lower": "user7@x.io",
		"partial": "User700@x.io", "foreign key": 9}
	statements := map[string][]any{"SELECT code FROM orders WHERE code LIKE $1": {"c77%"},
		"SELECT created_at FROM orders WHERE id = $1": {5}}
	for _, c := range cases {
		statements[c.sql] = []any{args[c.name]}
	}
	all := stored(t, server.DSN, conn, statements)
	if s, a, found := adviceFor(t, all, "SELECT code"); found && a.Create != "" {
		t.Errorf("%s: %q is advised beside an index in the order of bytes", s.Text, a.Create)
	}
	if s, a, found := adviceFor(t, all, "SELECT created_at"); found {
		t.Errorf("%s: %q is advised beside the primary key", s.Text, a)
	}
	for _, c := range cases {
		text, _, _ := strings.Cut(c.sql, " LIMIT") // whose constant is a parameter now
		s, a, found := adviceFor(t, all, text)
		if !found || a.Create != "CREATE INDEX ON "+c.want {
			t.Errorf("%s: %q (%v), want an index on %s; plan %s", c.name, a, found, c.want, s.Plan)
			continue
		}
		// Each alone, so that none serves for another.
		exec(t, conn, strings.Replace(a.Create, "CREATE INDEX ON", "CREATE INDEX advised ON", 1))
		var plan []byte
		if err := conn.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) "+c.literal).Scan(&plan); err != nil {
			t.Fatal(err)
		}
		if root, err := index.Parse(plan); err != nil || !root.Uses("advised") {
			t.Errorf("%s: the planner does not read %s: %s, %v", c.name, a.Create, plan, err)
		}
		if c.name == "pattern" && !strings.Contains(strings.Join(a.Why, " "), "orders_name orders name by its collation") {
			t.Errorf("why the index on name does not serve is not said: %q", a.Why)
		}
		exec(t, conn, "DROP INDEX advised")
	}
	t.Run("checked with hypopg", func(t *testing.T) { checkedWithHypopg(t, server.DSN, conn) })
}

// Where the database has hypopg the advice is tried with it, and the session is
// left without hypothetical indexes.
func checkedWithHypopg(t *testing.T, dsn string, conn *pgx.Conn) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), "CREATE EXTENSION hypopg"); err != nil {
		t.Skipf("no hypopg on this machine: %v (REDLINE_SETUP=test scripts/setup.sh installs it)", err)
	}
	all := stored(t, dsn, conn, map[string][]any{"SELECT id FROM orders WHERE uid = $1": {7}})
	s, _, _ := adviceFor(t, all, "WHERE uid")
	if len(s.Checks) != 1 {
		t.Fatalf("%+v", s)
	}
	if c := s.Checks[0]; !c.Used || c.Error != "" || c.Index != "CREATE INDEX ON orders (uid)" || c.After <= 0 || c.After >= c.Before/2 {
		t.Errorf("%+v", c)
	}
}
