package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe/postgres/planlog"
	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// explaining are the settings of a server whose auto_explain logs every plan.
func explaining(destination, format string) map[string]string {
	return map[string]string{
		"shared_preload_libraries": "pg_stat_statements,auto_explain", "logging_collector": "on", "log_directory": "log",
		"log_destination":               destination,
		"auto_explain.log_min_duration": "0", "auto_explain.log_analyze": "on", "auto_explain.log_verbose": "off",
		"auto_explain.log_format": format,
	}
}

// The plans that auto_explain logs are preferred: they are of the executions, with
// their rows. Those that were logged before the run are not taken, a log that is
// rotated is followed, and no constant is kept.
func TestPlansOfAutoExplain(t *testing.T) {
	server := start(t, explaining("stderr", "text"))
	conn := connectTo(t, server.DSN)
	exec(t, conn, "CREATE TABLE orders (id int PRIMARY KEY, uid int, note text)")
	exec(t, conn, "INSERT INTO orders SELECT g, g % 100, 'x' FROM generate_series(1, 5000) g")
	for _, c := range []struct{ destination, format string }{{"stderr", "text"}, {"csvlog", "json"}, {"jsonlog", "json"}} {
		t.Run(c.destination+" "+c.format, func(t *testing.T) {
			log(t, conn, c.destination, c.format)
			exec(t, conn, "SELECT count(*) FROM orders WHERE uid > 4") // before the run
			r := run(t, server.DSN)
			r.base(t)
			exec(t, conn, "SELECT id FROM orders WHERE uid = 7 AND note <> 's3cret'")
			calls := 2.0
			r.until(t, "the rotation", func() bool { // to a file of another second
				var name string
				calls++
				err := conn.QueryRow(t.Context(), "SELECT pg_current_logfile($1) FROM pg_rotate_logfile()", c.destination).Scan(&name)
				return err == nil && name != r.planLog.from.Name
			})
			exec(t, conn, "SELECT note FROM orders WHERE uid = 8")
			r.until(t, "the log", func() bool { return len(loggedNow(t, r)) >= 2 })
			r.until(t, "the calls", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > calls-0.01 })
			r.stop()
			text, err := json.Marshal(r.store)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "s3cret") {
				t.Errorf("a constant is kept: %s", text)
			}
			for _, part := range []string{"SELECT id FROM orders", "SELECT note FROM orders"} {
				found := false
				for _, s := range r.store.Statements {
					if !strings.Contains(s.Text, part) {
						continue
					}
					found = true
					root, err := index.Parse(s.Plan)
					if err != nil || !strings.HasPrefix(s.PlanSource, "auto_explain") || root.Relation != "orders" ||
						root.Actual == nil || *root.Actual != 50 || root.Removed != 4950 {
						t.Errorf("%s: %q, %s, %q, %v", part, s.PlanSource, s.Plan, s.PlanError, err)
					}
				}
				if !found {
					t.Errorf("no statement %s in %s", part, text)
				}
			}
		})
	}
	t.Run("without rights", func(t *testing.T) { withoutRights(t, conn) })
}

// log has the server write its log another way.
func log(t *testing.T, conn *pgx.Conn, destination, format string) {
	t.Helper()
	exec(t, conn, "ALTER SYSTEM SET log_destination = "+destination)
	exec(t, conn, "ALTER SYSTEM SET auto_explain.log_format = "+format)
	exec(t, conn, "SELECT pg_reload_conf()")
	deadline := time.Now().Add(5 * time.Minute)
	for {
		var there, as string
		var named *string
		if err := conn.QueryRow(t.Context(), "SELECT current_setting('log_destination'), "+
			"current_setting('auto_explain.log_format'), pg_current_logfile($1)", destination).
			Scan(&there, &as, &named); err != nil || time.Now().After(deadline) {
			t.Fatalf("the log's format did not change: %v", err)
		}
		if there == destination && as == format && named != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// loggedNow reads the entries since the run began, over a connection of its own.
func loggedNow(t *testing.T, r *running) (found []planlog.Entry) {
	t.Helper()
	s, err := open(t.Context(), r.subject.DSN, r.subject.Clock)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pieces, _, err := planlog.Since(t.Context(), served{s, r.planLog.format}, r.planLog.from)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range pieces {
		for _, e := range planlog.Read(piece, r.planLog.format) {
			if strings.Contains(string(e.Plan), `"orders"`) {
				found = append(found, e)
			}
		}
	}
	return found
}

// A role that may not read the log hears how it could, and gets plans by EXPLAIN;
// on the server's own host root reads the file itself.
func withoutRights(t *testing.T, conn *pgx.Conn) {
	exec(t, conn, "CREATE ROLE app LOGIN PASSWORD 'a' IN ROLE pg_read_all_stats")
	exec(t, conn, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	exec(t, conn, "GRANT SELECT ON orders TO app")
	dsn := dsnOf(conn.Config(), "app", "a", conn.Config().Database, conn.Config().Port)
	app := connectTo(t, dsn)
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	far, err := open(t.Context(), dsn, clock)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	far.CPU = nil // as of a server on another host
	elsewhere := &Source{session: far}
	if err := elsewhere.findPlanLog(t.Context()); err != nil || elsewhere.planLog.files != nil ||
		!strings.Contains(strings.Join(elsewhere.blind, " "), "GRANT EXECUTE ON FUNCTION") {
		t.Errorf("how to read the log is not said: %q, %v", elsewhere.blind, err)
	}
	r := run(t, dsn)
	r.base(t)
	_, onHost := r.planLog.files.(planlog.LocalFiles)
	exec(t, app, "SELECT count(*) FROM orders WHERE uid > 4")
	r.until(t, "the call", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > 0.99 })
	if onHost {
		r.until(t, "the log", func() bool {
			files := r.planLog.files.(planlog.LocalFiles)
			pieces, _, err := planlog.Since(t.Context(), files, r.planLog.from)
			return err == nil && strings.Contains(fmt.Sprintf("%s", pieces), "orders")
		})
	}
	r.stop()
	for _, s := range r.store.Statements {
		if !strings.Contains(s.Text, "orders") {
			continue
		}
		if source, _, _ := strings.Cut(s.PlanSource, ":"); s.Plan == nil || onHost != (source == "auto_explain") ||
			!onHost && source != "EXPLAIN" {
			t.Errorf("%q, %s, %q", s.PlanSource, s.Plan, s.PlanError)
		}
	}
}
