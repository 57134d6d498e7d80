package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
	target "github.com/redline-go/redline/service/postgres"
)

// trap makes functions of mallory that write a file when they run with a
// superuser's rights, and says which have.
type trap struct {
	conn *pgx.Conn // of the superuser
	dir  string
}

func newTrap(t *testing.T, server *target.Server) *trap {
	t.Helper()
	dir, err := os.MkdirTemp("", "redline-trap-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil { // the server may be another user
		t.Fatal(err)
	}
	conn := connectTo(t, server.DSN)
	exec(t, conn, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	exec(t, conn, "CREATE ROLE mallory LOGIN PASSWORD 'm'")
	exec(t, conn, "CREATE SCHEMA lair AUTHORIZATION mallory")
	return &trap{conn, dir}
}

// set makes two functions in mallory's name: run_NAME does the harm and is
// volatile, NAME calls it and says that it is immutable, so that the planner
// calls it. A role without the rights hears of no error.
func (tr *trap) set(t *testing.T, name, arguments, result, value string) {
	t.Helper()
	exec(t, tr.conn, "SET ROLE mallory")
	exec(t, tr.conn, fmt.Sprintf(`CREATE OR REPLACE FUNCTION lair.run_%s() RETURNS int LANGUAGE plpgsql VOLATILE AS $f$
		BEGIN
			PERFORM set_config('role', 'none', false);
			EXECUTE 'COPY (SELECT 1) TO PROGRAM ''touch %s''';
			RETURN 1;
		EXCEPTION WHEN OTHERS THEN RETURN 0;
		END $f$`, name, filepath.Join(tr.dir, name)))
	exec(t, tr.conn, fmt.Sprintf("CREATE OR REPLACE FUNCTION lair.%s(%s) RETURNS %s LANGUAGE plpgsql IMMUTABLE AS $f$ "+
		"BEGIN PERFORM lair.run_%s(); RETURN %s; END $f$",
		name, arguments, result, name, value))
	exec(t, tr.conn, "RESET ROLE")
}

// sprung lists the traps that have run, and sets them again.
func (tr *trap) sprung(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(tr.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
		if err := os.Remove(filepath.Join(tr.dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// Statements of an ordinary role whose planning runs its code, in every place
// that takes some: none runs with the rights of redline's superuser.
func TestPlanningRunsNobodysCodeWithOurRights(t *testing.T) {
	server := start(t, nil)
	tr := newTrap(t, server)
	for _, one := range [][4]string{
		{"called", "", "int", "1"}, {"cast_to", "int", "text", "'1'"}, {"compared", "int, int", "boolean", "true"},
		{"checked", "int", "boolean", "true"}, {"viewed", "", "int", "1"}, {"policed", "", "boolean", "true"},
		{"defaulted", "", "int", "1"}, {"indexed", "int", "int", "1"}, {"inlined", "", "int", "1"},
		{"listed", "", "int", "1"}, {"stated", "", "int", "1"},
	} {
		tr.set(t, one[0], one[1], one[2], one[3])
	}
	config := tr.conn.Config()
	mallory := connectTo(t, dsnOf(config, "mallory", "m", config.Database, config.Port))
	for _, sql := range []string{
		"CREATE TYPE lair.pair AS (a int)", "CREATE FUNCTION lair.to_pair(int) RETURNS lair.pair LANGUAGE plpgsql " +
			"IMMUTABLE AS $$ BEGIN PERFORM lair.run_cast_to(); RETURN ROW($1); END $$",
		"CREATE CAST (int AS lair.pair) WITH FUNCTION lair.to_pair(int)",
		"CREATE OPERATOR lair.=== (leftarg = int, rightarg = int, procedure = lair.compared)",
		"CREATE DOMAIN lair.odd AS int CHECK (lair.checked(VALUE))",
		"CREATE VIEW lair.window AS SELECT lair.viewed() AS a",
		"CREATE TABLE lair.rows (a int DEFAULT lair.defaulted(), b int)",
		"INSERT INTO lair.rows (b) SELECT g FROM generate_series(1, 100) g",
		"CREATE INDEX ON lair.rows (lair.indexed(a))",
		"ALTER TABLE lair.rows ENABLE ROW LEVEL SECURITY", "ALTER TABLE lair.rows FORCE ROW LEVEL SECURITY",
		"CREATE POLICY all_of_them ON lair.rows USING (lair.policed())",
		"CREATE FUNCTION lair.wrap() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT lair.inlined()'",
		"CREATE VIEW lair.page AS SELECT lair.run_listed() AS a",
		"ALTER FUNCTION lair.stated() STABLE",
		"GRANT USAGE ON SCHEMA lair TO PUBLIC", "GRANT ALL ON ALL TABLES IN SCHEMA lair TO PUBLIC",
	} {
		exec(t, mallory, sql)
	}
	// The same as the statements below, in the superuser's name: the traps work.
	exec(t, tr.conn, "EXPLAIN SELECT lair.called(), 1::lair.pair, 1 OPERATOR(lair.===) 2, a FROM lair.window")
	exec(t, tr.conn, "EXPLAIN SELECT b FROM lair.rows WHERE b < lair.stated()")
	if got := tr.sprung(t); !slices.Equal(got, []string{"called", "cast_to", "compared", "stated", "viewed"}) {
		t.Fatalf("the traps do not work: %v", got)
	}
	r := run(t, server.DSN)
	r.base(t)
	statements := []string{
		"SELECT lair.called()", "SELECT count(*) FROM lair.rows WHERE b < 5 + (1::lair.pair).a",
		"SELECT count(*) FROM lair.rows WHERE 1 OPERATOR(lair.===) 2",
		"SELECT 3::lair.odd", "SELECT count(*) FROM lair.window", "SELECT a FROM lair.window", "SELECT count(*) FROM lair.rows",
		"INSERT INTO lair.rows (b) VALUES (1)",
		"SELECT count(*) FROM lair.rows WHERE lair.indexed(a) = lair.indexed(7)", "SELECT lair.wrap()",
		"SELECT count(*) FROM lair.rows WHERE b < lair.stated()",
		"SELECT count(*) FROM lair.rows WHERE a::text < table_to_xml('lair.page'::regclass, true, true, NULL)::text",
	}
	for _, sql := range statements {
		exec(t, mallory, sql, pgx.QueryExecModeExec)
	}
	r.until(t, "all calls", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > float64(len(statements))-0.01 })
	r.stop()
	if got := tr.sprung(t); len(got) > 0 {
		t.Errorf("these ran with the superuser's rights: %v", got)
	}
	asked := 0
	for _, s := range r.store.Statements { // what functions ran while they were planned is among them
		if s.Plan != nil || s.PlanError != "" && !strings.Contains(s.PlanError, "give redline") {
			t.Errorf("%s: plan %s, %q", s.Text, s.Plan, s.PlanError)
		}
		if s.PlanError != "" {
			asked++
		}
	}
	if asked < len(statements) {
		t.Errorf("%d plans were refused, want those of %d statements", asked, len(statements))
	}
	if why := r.Health().Why; !strings.Contains(why, "plans are missing") {
		t.Errorf("health does not say it: %q", why)
	}
}

// A superuser's own statement is not explained either where somebody else's
// function could be in it: it may have been replaced since it was called.
func TestSuperusersStatementWithAnothersFunction(t *testing.T) {
	server := start(t, nil)
	tr := newTrap(t, server)
	exec(t, tr.conn, "CREATE FUNCTION lair.innocent() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'")
	exec(t, tr.conn, "ALTER FUNCTION lair.innocent() OWNER TO mallory")
	r := run(t, server.DSN)
	r.base(t)
	exec(t, tr.conn, "SELECT lair.innocent()")
	r.until(t, "the call", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > 0.99 })
	tr.set(t, "innocent", "", "int", "1")
	r.stop()
	if got := tr.sprung(t); len(got) > 0 {
		t.Error("the replaced function ran with the superuser's rights")
	}
	for _, s := range r.store.Statements {
		if strings.Contains(s.Text, "innocent") && (s.Plan != nil || !strings.Contains(s.PlanError, "another role's")) {
			t.Errorf("%+v", s)
		}
	}
}

// What the application's own role may plan is planned, with functions of the
// role that migrates the schema; a superuser plans for a role if there is no
// code that could leave it.
func TestPlansOfOrdinaryRoles(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	config := conn.Config()
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS pg_stat_statements",
		"CREATE ROLE app LOGIN PASSWORD 'a' IN ROLE pg_read_all_stats", "CREATE ROLE migrator",
		"REVOKE CREATE ON SCHEMA public FROM PUBLIC", "CREATE ROLE watcher LOGIN PASSWORD 'w' IN ROLE pg_read_all_stats",
		"CREATE TABLE orders (id int PRIMARY KEY, uid int)", "ALTER TABLE orders OWNER TO migrator", "GRANT SELECT ON orders TO app",
		"CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'", "ALTER FUNCTION stamp() OWNER TO migrator",
	} {
		exec(t, conn, sql)
	}
	appDSN := dsnOf(config, "app", "a", config.Database, config.Port)
	app := connectTo(t, appDSN)
	planOf := func(dsn string) database.Statement {
		r := run(t, dsn)
		r.base(t)
		exec(t, app, "SELECT count(*) FROM orders")
		r.until(t, "the call", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > 0.99 })
		r.stop()
		i := slices.IndexFunc(r.store.Statements, func(s database.Statement) bool { return strings.Contains(s.Text, "orders") })
		if i < 0 {
			t.Fatalf("%+v", r.store)
		}
		return r.store.Statements[i]
	}
	if s := planOf(server.DSN); !strings.Contains(string(s.Plan), "Seq Scan") {
		t.Errorf("the superuser for app, without code: %+v", s)
	}
	if s := planOf(dsnOf(config, "watcher", "w", config.Database, config.Port)); s.Plan != nil ||
		!strings.Contains(s.PlanError, `DSN of role "app"`) {
		t.Errorf("another role for app: %+v", s)
	}
	for _, sql := range []string{"CREATE SCHEMA shop", "ALTER TABLE orders SET SCHEMA shop", "GRANT USAGE ON SCHEMA shop TO app",
		"ALTER ROLE app SET search_path = shop, public"} {
		exec(t, conn, sql)
	}
	app = connectTo(t, appDSN)
	if s := planOf(server.DSN); !strings.Contains(string(s.Plan), "Seq Scan") {
		t.Errorf("the superuser for app, which has a search path of its own: %+v", s)
	}
	exec(t, conn, "CREATE FUNCTION eval(sql text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN EXECUTE sql; RETURN 1; END'")
	if s := planOf(server.DSN); s.Plan != nil || !strings.Contains(s.PlanError, `function "eval"`) {
		t.Errorf("the superuser for app, with code of its own: %+v", s)
	}
	exec(t, conn, "ALTER FUNCTION eval(text) OWNER TO migrator")
	if s := planOf(appDSN); !strings.Contains(string(s.Plan), "Seq Scan") {
		t.Errorf("app for itself, with code of the migrator: %+v", s)
	}
	exec(t, conn, "GRANT CREATE ON SCHEMA public TO PUBLIC")
	if s := planOf(appDSN); s.Plan != nil || !strings.Contains(s.PlanError, "revoke CREATE") {
		t.Errorf("app for itself, where anyone may define names: %+v", s)
	}
}
