package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	neturl "net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	pgserver "github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	target "github.com/redline-go/redline/service/postgres"
)

// binEnv names a folder of server binaries to test against, in place of the
// machine's own.
const binEnv = "REDLINE_POSTGRES_BIN"

// start runs a server for the test with the given settings.
func start(t *testing.T, settings map[string]string) *target.Server {
	t.Helper()
	if _, err := target.Installed(); err != nil && os.Getenv(binEnv) == "" {
		t.Skipf("no PostgreSQL server on this machine: %v", err)
	}
	server, err := target.Start(t.Context(), target.Options{NoDownload: true, BinDir: os.Getenv(binEnv), Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	return server
}

// connect opens a connection of the application under test.
func connectTo(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// dsnOf makes another DSN of the same server.
func dsnOf(config *pgx.ConnConfig, user, password, database string, port uint16) string {
	host := net.JoinHostPort(config.Host, strconv.Itoa(int(port)))
	return (&neturl.URL{Scheme: "postgres", User: neturl.UserPassword(user, password), Host: host, Path: database}).String()
}

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// running is a source in the middle of its run.
type running struct {
	*Source
	*observetest.Sink
	stop func()
}

const width = 50 * time.Millisecond

func run(t *testing.T, dsn string) *running {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Source: New(), Sink: &observetest.Sink{}}
	if err := r.Open(t.Context(), observe.Subject{Clock: clock, Window: width, DSN: dsn}); err != nil {
		t.Fatalf("Open: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx, r.Sink) }()
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	t.Cleanup(r.stop)
	return r
}

// healthy checks that nothing is missing. That a busy host made readings costly,
// or rare, is none of the source's failures.
func (r *running) healthy(t *testing.T) {
	t.Helper()
	h := r.Health()
	for _, why := range strings.Split(h.Why, "; ") {
		if !h.OK || why != "" && !strings.Contains(why, "window") {
			t.Errorf("health %+v", h)
			return
		}
	}
}

// until waits for an event in what was delivered.
func (r *running) until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for !happened() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s; %+v", what, r.Health())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// base waits until a reading has set the counters' base.
func (r *running) base(t *testing.T) {
	t.Helper()
	r.until(t, "the first window", func() bool { _, n := r.Sum(series.DBCommits, ""); return n > 0 })
}

func TestConformance(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	exec(t, conn, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	observetest.Run(t, func() observe.Source { return New() }, observe.Subject{DSN: server.DSN})
}

func TestStatementsAreCountedAndPlanned(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	exec(t, conn, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	exec(t, conn, "CREATE TABLE orders (id int PRIMARY KEY, uid int, note text)")
	exec(t, conn, "INSERT INTO orders SELECT g, g % 100, 'x' FROM generate_series(1, 5000) g")
	const query = "SELECT id FROM orders WHERE uid = $1"
	exec(t, conn, query, 1) // before the run: must not count

	r := run(t, server.DSN)
	r.base(t)
	const calls = 37
	for i := range calls {
		exec(t, conn, query, i)
	}
	exec(t, conn, "UPDATE orders SET note = 'secret-note' WHERE id = 7")
	exec(t, conn, "ALTER ROLE CURRENT_USER VALID UNTIL 'infinity'")
	exec(t, conn, "SELECT count(*) FROM orders WHERE note = $1 AND id > $2", "hush", 5)
	r.until(t, "all calls", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n >= calls+3-0.001 })
	r.stop()

	_, value, err := r.Store()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"secret-note", "infinity", "hush", pgserver.Marker} {
		if strings.Contains(strings.ToLower(string(stored)), secret) {
			t.Errorf("statements.json holds %q: %s", secret, stored)
		}
	}
	statements := value.(database.Statements)
	find := func(part string) database.Statement {
		i := slices.IndexFunc(statements.Statements, func(s database.Statement) bool { return strings.Contains(s.Text, part) })
		if i < 0 {
			t.Fatalf("no statement with %q in %s", part, stored)
		}
		return statements.Statements[i]
	}
	s := find("WHERE uid")
	if s.Calls != calls || s.Rows != calls*50 || s.Time <= 0 {
		t.Errorf("%d calls, %d rows, %v; want %d calls of 50 rows", s.Calls, s.Rows, s.Time, calls)
	}
	if !strings.Contains(string(s.Plan), "Seq Scan") || s.PlanError != "" {
		t.Errorf("plan %s, %s", s.Plan, s.PlanError)
	}
	if u := find("UPDATE orders"); u.Plan == nil {
		t.Errorf("no plan of the update: %s", u.PlanError)
	}
	if a := find("ALTER ROLE"); a.Plan != nil || a.PlanError == "" {
		t.Errorf("a utility statement has a plan: %+v", a)
	}
	label := series.Labels("queryid", s.QueryID)
	if n, _ := r.Sum(series.StatementCalls, label); n < calls-0.01 || n > calls+0.01 {
		t.Errorf("series counts %v calls, want %d", n, calls)
	}
	if hits, n := r.Sum(series.StatementHits, label); n == 0 || hits < calls {
		t.Errorf("%v block hits in %d windows", hits, n)
	}
	if commits, _ := r.Sum(series.DBCommits, ""); commits < 0 {
		t.Errorf("%v commits", commits)
	}
	r.healthy(t)
	// What was asked for plans left nothing changed behind.
	var note string
	if err := conn.QueryRow(t.Context(), "SELECT note FROM orders WHERE id = 7").Scan(&note); err != nil || note != "secret-note" {
		t.Errorf("note %q, %v", note, err)
	}
}

// TestWorkAfterTheLastEdgeCounts: at a slow pace the last edge that is due lies seconds before the end.
func TestWorkAfterTheLastEdgeCounts(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	exec(t, conn, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	// The windows are so short that those which the readings cover in part hold nothing.
	const window = 10 * time.Microsecond
	w := &watch{Source: New(), sink: &observetest.Sink{}}
	if err := w.Open(t.Context(), observe.Subject{Clock: clock, Window: window, DSN: server.DSN}); err != nil {
		t.Fatal(err)
	}
	defer w.disconnect()
	w.edge(t.Context(), t.Context(), clock.Now()/window*window)
	const calls = 37
	for i := range calls {
		exec(t, conn, "SELECT count(*) FROM pg_class WHERE relpages > $1", i)
	}
	w.finish(t.Context())
	i := slices.IndexFunc(w.store.Statements, func(s database.Statement) bool { return strings.Contains(s.Text, "relpages") })
	if i < 0 || w.store.Statements[i].Calls != calls || w.store.Statements[i].Plan == nil {
		t.Errorf("statements %+v, want one with %d calls and a plan; %+v", w.store.Statements, calls, w.Health())
	}
	if n, _ := w.sink.(*observetest.Sink).Sum(series.StatementCalls, "*"); n < calls-0.5 {
		t.Errorf("the series hold %v calls, want %d", n, calls)
	}
}

// A role that cannot keep its own statements out of pg_stat_statements leaves
// them out of the figures, and sees those of others as a member of
// pg_read_all_stats.
func TestOrdinaryRoleLeavesItselfOut(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	exec(t, conn, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	exec(t, conn, "CREATE ROLE watcher LOGIN PASSWORD 'w' IN ROLE pg_read_all_stats")
	r := run(t, dsnOf(conn.Config(), "watcher", "w", conn.Config().Database, conn.Config().Port))
	r.base(t)
	for range 5 {
		exec(t, conn, "SELECT 42 AS answer")
	}
	r.until(t, "the target's calls", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > 4.999 })
	_, n := r.Sum(series.DBBlocked, "")
	r.until(t, "more readings", func() bool { _, now := r.Sum(series.DBBlocked, ""); return now > n+25 })
	r.stop()
	if calls, _ := r.Sum(series.StatementCalls, "*"); calls > 5.01 {
		t.Errorf("%v calls, want the target's 5: our own are counted", calls)
	}
	r.healthy(t)
	for _, s := range r.store.Statements {
		if !strings.Contains(s.Text, "answer") || s.Plan == nil {
			t.Errorf("statement %+v", s)
		}
	}
}

func TestLocksAndSessions(t *testing.T) {
	server := start(t, nil)
	holder, waiter := connectTo(t, server.DSN), connectTo(t, server.DSN)
	exec(t, holder, "CREATE TABLE accounts (id int PRIMARY KEY, cents bigint)")
	exec(t, holder, "INSERT INTO accounts VALUES (1, 0)")
	exec(t, holder, "BEGIN")
	exec(t, holder, "UPDATE accounts SET cents = 1 WHERE id = 1")

	r := run(t, server.DSN)
	waited := make(chan error, 1)
	go func() {
		_, err := waiter.Exec(context.Background(), "UPDATE accounts SET cents = 2 WHERE id = 1")
		waited <- err
	}()
	r.until(t, "the wait", func() bool { return r.Last(series.DBBlocked, "") == 1 })
	r.until(t, "its event", func() bool { return r.Last(series.DBWaits, "event=Lock:transactionid") == 1 })
	r.until(t, "its blocker", func() bool { return r.Last(series.DBBlockers, "state=idle in transaction") == 1 })
	if n := r.Last(series.DBBackends, "state=idle in transaction"); n != 1 {
		t.Errorf("%v sessions idle in transaction, want the holder alone", n)
	}
	if n := r.Last(series.DBMax, ""); !(n > 0) {
		t.Errorf("max_connections %v", n)
	}
	exec(t, holder, "COMMIT")
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	r.until(t, "the end of the wait", func() bool {
		return r.Last(series.DBBlocked, "") == 0 && r.Last(series.DBWaits, "event=Lock:transactionid") == 0
	})
}

// CPU of the server is seen, of backends that ended too.
func TestServerCPU(t *testing.T) {
	server := start(t, nil)
	r := run(t, server.DSN)
	r.base(t)
	const burn = "SELECT count(*) FROM generate_series(1, 400000)"
	for range 4 {
		conn := connectTo(t, server.DSN)
		exec(t, conn, burn)
		_ = conn.Close(t.Context())
	}
	conn := connectTo(t, server.DSN)
	var spent float64 // ms, as the server says of one such query
	var plan []byte
	if err := conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+burn).Scan(&plan); err != nil {
		t.Fatal(err)
	}
	var timing []struct {
		Execution float64 `json:"Execution Time"`
	}
	if err := json.Unmarshal(plan, &timing); err != nil {
		t.Fatal(err)
	}
	spent = timing[0].Execution
	r.until(t, "the server's CPU", func() bool { sum, _ := r.Sum(series.DBCPU, ""); return sum > 1e6*spent/4 })
	r.stop()
	t.Logf("%+v", r.Health())
}

func TestServerLostAndFound(t *testing.T) {
	server := start(t, nil)
	killer := connectTo(t, server.DSN)
	r := run(t, server.DSN)
	r.base(t)
	exec(t, killer, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'redline'")
	_, before := r.Sum(series.DBBlocked, "")
	r.until(t, "readings after the loss", func() bool { _, n := r.Sum(series.DBBlocked, ""); return n > before+5 })
	if err := server.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.stop()
	h := r.Health()
	if !strings.Contains(h.Why, "the server was lost from") || !strings.Contains(h.Why, "administrator command") {
		t.Errorf("health does not report the loss: %+v", h)
	}
}

// TestLostAtTheEnd: the connection ends right before the load does, as a reading does that a busy server keeps waiting.
func TestLostAtTheEnd(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	r := run(t, server.DSN)
	r.base(t)
	exec(t, conn, "SELECT count(*) FROM pg_class WHERE relpages > 7")
	r.until(t, "the call", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > 0 })
	exec(t, conn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'redline'")
	r.stop()
	for _, s := range r.store.Statements {
		if strings.Contains(s.Text, "relpages") && (s.PlanSource != "EXPLAIN" || s.PlanError != "") {
			t.Errorf("%s: plan by %q, %q", s.Text, s.PlanSource, s.PlanError)
		}
	}
	if h := r.Health(); !strings.Contains(h.Why, "the server was lost from") || len(r.store.Statements) == 0 {
		t.Errorf("%d statements, health %+v", len(r.store.Statements), h)
	}
}

func TestRefusals(t *testing.T) {
	server := start(t, map[string]string{"shared_preload_libraries": ""})
	conn := connectTo(t, server.DSN)
	exec(t, conn, "CREATE ROLE nobody_much LOGIN PASSWORD 'pw-of-nobody'")
	config := conn.Config()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ dsn, want string }{
		"bad DSN":        {"postgres://u:pw-in-dsn@[bad:1", "cannot be parsed"},
		"closed port":    {dsnOf(config, "u", "pw-in-dsn", "d", 1), "start the server"},
		"wrong password": {dsnOf(config, "nobody_much", "pw-in-dsn", config.Database, config.Port), "correct user and password"},
		"no database":    {dsnOf(config, config.User, config.Password, "nowhere", config.Port), "name the database"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := New().Open(t.Context(), observe.Subject{Clock: clock, Window: width, DSN: test.dsn})
			var refusal *observe.Unsupported
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Open: %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), "pw-in-dsn") || strings.Contains(err.Error(), config.Password) {
				t.Error("the error holds the password")
			}
		})
	}
	exec(t, conn, "DROP EXTENSION IF EXISTS pg_stat_statements")
	r := run(t, dsnOf(config, "nobody_much", "pw-of-nobody", config.Database, config.Port))
	r.base(t)
	r.stop()
	for _, want := range []string{`GRANT pg_read_all_stats TO "nobody_much"`, "shared_preload_libraries",
		"CREATE EXTENSION pg_stat_statements"} {
		if why := r.Health().Why; !strings.Contains(why, want) {
			t.Errorf("%q does not say %q", why, want)
		}
	}
}
