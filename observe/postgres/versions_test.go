package postgres

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	pgserver "github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
	target "github.com/redline-go/redline/service/postgres"
)

// versionsEnv names the major versions to test against, "13,14,16,17,18": each
// is a download of 15 MB once.
const versionsEnv = "REDLINE_POSTGRES_VERSIONS"

// TestVersions runs the queries that differ between versions on real servers.
func TestVersions(t *testing.T) {
	if os.Getenv(versionsEnv) == "" {
		t.Skipf("downloads are not asked for: set %s=13,14,16,17,18 (15 MB each)", versionsEnv)
	}
	for _, version := range strings.Split(os.Getenv(versionsEnv), ",") {
		t.Run(version, func(t *testing.T) {
			major, err := strconv.Atoi(version)
			if err != nil {
				t.Fatal(err)
			}
			server, err := target.Start(t.Context(), target.Options{Major: major, Settings: map[string]string{
				"track_io_timing": "on", "pg_stat_statements.track_planning": "on", "wal_level": "replica",
			}})
			if err != nil {
				t.Skipf("PostgreSQL %d cannot be had: %v", major, err)
			}
			t.Cleanup(func() { _ = server.Stop(context.Background()) })
			t.Log(server.Version)
			seesEverything(t, server, major)
		})
	}
}

// TestThisVersion makes the same of the machine's own server.
func TestThisVersion(t *testing.T) {
	server := start(t, map[string]string{"track_io_timing": "on", "pg_stat_statements.track_planning": "on"})
	seesEverything(t, server, 0)
}

func seesEverything(t *testing.T, server *target.Server, major int) {
	conn := connectTo(t, server.DSN+"&application_name=svc")
	exec(t, conn, "CREATE TABLE orders (id int PRIMARY KEY, uid int, note text)")
	exec(t, conn, "CREATE ROLE watcher LOGIN PASSWORD 'w' IN ROLE pg_read_all_stats")
	exec(t, conn, "GRANT SELECT ON orders TO watcher")
	for _, role := range []string{"superuser", "watcher"} {
		dsn := server.DSN
		if role == "watcher" {
			dsn = dsnOf(conn.Config(), "watcher", "w", conn.Config().Database, conn.Config().Port)
		}
		exec(t, conn, "TRUNCATE orders")
		r := run(t, dsn)
		r.base(t)
		exec(t, conn, "INSERT INTO orders SELECT g, g % 100, repeat('x', 200) FROM generate_series(1, 20000) g")
		for i := range 9 {
			exec(t, conn, "SELECT id FROM orders WHERE uid = $1", i)
		}
		exec(t, conn, "SET work_mem = '64kB'")
		exec(t, conn, "SELECT * FROM orders ORDER BY note, id DESC")
		exec(t, conn, "CHECKPOINT")
		exec(t, conn, "SET jit_above_cost = 0")
		exec(t, conn, "SELECT sum(id * uid + length(note)) FROM orders WHERE $1::int < uid", 7)
		exec(t, conn, "RESET jit_above_cost")
		// An idle backend of version 15 or later keeps its figures for 10 s.
		_, _ = conn.Exec(t.Context(), "SELECT pg_stat_force_next_flush()")
		sum := func(name string) float64 { n, _ := r.Sum(name, "*"); return n }
		for _, name := range []string{
			series.StatementDirtied, series.StatementTemp, series.StatementWAL, series.StatementPlan, series.StatementHits,
			series.DBTempFiles, series.DBTempBytes, series.DBHits, series.DBWAL, series.DBCheckpoints, series.DBBuffersWritten,
		} {
			r.until(t, name, func() bool { return sum(name) > 0 })
		}
		if major >= 16 {
			r.until(t, "I/O", func() bool { return sum(series.DBIO) > 0 && sum(series.DBIOTime) > 0 })
		}
		if major >= 14 || major == 0 {
			r.until(t, "sessions", func() bool { return len(r.windows(series.DBSessions)) > 0 })
		}
		r.until(t, "the calls", func() bool { return sum(series.StatementCalls) > 14.9 })
		r.more(t, 25) // two rounds of what is asked for seldom
		r.stop()
		r.healthy(t)
		i := slices.IndexFunc(r.store.Statements, func(s database.Statement) bool { return strings.Contains(s.Text, "WHERE uid") })
		if i < 0 {
			t.Fatalf("%s: no statement of the target in %+v", role, r.store.Statements)
		}
		if s := r.store.Statements[i]; s.Calls != 9 || s.Planning <= 0 || !strings.Contains(string(s.Plan), "Plan") {
			t.Errorf("%s: %+v", role, s)
		}
		compiles(t, conn, r.store.Statements)
		for _, s := range r.store.Statements {
			if strings.Contains(s.Text, pgserver.Marker) {
				t.Errorf("%s: our own statement is reported: %s", role, s.Text)
			}
		}
		if n := r.Last(series.DBConnections, "application=svc,state=idle"); n != 1 {
			t.Errorf("%s: %v idle connections of the target", role, n)
		}
		exec(t, conn, "RESET work_mem")
	}
}

// compiles: what a server says of compiling a statement's plan is kept, and is a part of the statement's time.
func compiles(t *testing.T, conn *pgx.Conn, statements []database.Statement) {
	t.Helper()
	var counts bool
	if err := conn.QueryRow(t.Context(), `SELECT pg_jit_available() AND EXISTS (SELECT FROM pg_attribute
		WHERE attrelid = 'pg_stat_statements'::regclass AND attname = 'jit_generation_time')`).Scan(&counts); err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		summed := strings.Contains(s.Text, "sum(id")
		switch {
		case summed && counts && (s.Compiling <= 0 || s.Compiling > s.Time):
			t.Errorf("compiling takes %v of %v", s.Compiling, s.Time)
		case (!summed || !counts) && s.Compiling != 0:
			t.Errorf("%v of compiling, which the server does not do or does not count: %s", s.Compiling, s.Text)
		}
	}
}
