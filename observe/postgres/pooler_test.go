package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	process "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/service/port"
	target "github.com/redline-go/redline/service/postgres"
)

// poolSize is how many server connections a pooler of the tests keeps.
const poolSize = 3

// pooler runs a PgBouncer in front of a server and returns a DSN through it. It
// never resets a server connection, so that whatever a client leaves on one is
// there for the next.
func pooler(t *testing.T, server *target.Server, mode string) string {
	t.Helper()
	binary, err := process.LookPath("pgbouncer")
	if err != nil {
		if binary, err = process.LookPath("/usr/sbin/pgbouncer"); err != nil {
			t.Skipf("no PgBouncer on this machine: %v (REDLINE_SETUP=test scripts/setup.sh installs it)", err)
		}
	}
	config, err := pgx.ParseConfig(server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "redline-pgbouncer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port := freePort(t)
	users := fmt.Sprintf("%q %q\n\"app\" \"a\"\n", config.User, config.Password)
	ini := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = "+
		"%d\nunix_socket_dir =\n"+
		"auth_type = trust\nauth_file = %s/users\npool_mode = %s\ndefault_pool_size = %d\nserver_reset_query =\nserver_lifetime = 3600\n",
		config.Port, port, dir, mode, poolSize)
	for name, text := range map[string]string{"users": users, "pgbouncer.ini": ini} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if os.Getuid() == 0 {
			err = errors.Join(os.Chmod(dir, 0o755), os.Chown(filepath.Join(dir, name), nobody, nobody))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	startPooler(t, process.Command(binary, "-q", filepath.Join(dir, "pgbouncer.ini")), port)
	return strings.Replace(server.DSN, ":"+strconv.Itoa(int(config.Port)), ":"+strconv.Itoa(port), 1)
}

func freePort(t *testing.T) int {
	t.Helper()
	address, err := port.Reserve("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return int(addr.Port())
}

// startPooler returns once the pooler accepts connections, and ends it with the
// test.
func startPooler(t *testing.T, cmd *process.Cmd, port int) {
	t.Helper()
	var log strings.Builder
	cmd.Stderr, cmd.Stdout = &log, &log
	cmd.SysProcAttr = asNobody()
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the death signal is sent when the thread ends
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(ended)
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(5 * time.Minute); ; {
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("PgBouncer ended: %s", log.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("PgBouncer does not answer: %v", err)
		}
	}
}

// through opens a connection of the application through a pooler, as one that
// runs without named statements.
func through(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// state is what a server connection of a pool has of its own.
type state struct {
	settings map[string]string // those that a session set
	leftover string            // prepared statements, temporary objects, locks, cursors
}

// inspect looks at every server connection of a pool: it holds a transaction
// open on all of them at once.
func inspect(t *testing.T, dsn string) map[int]state {
	t.Helper()
	found := map[int]state{}
	var held []*pgx.Conn
	for range poolSize {
		conn := through(t, dsn)
		held = append(held, conn)
		ok(t, conn, "BEGIN")
		var pid int
		var one state
		err := conn.QueryRow(t.Context(), `SELECT pg_backend_pid(), (SELECT coalesce(json_object_agg(name, setting), '{}') FROM pg_settings
			WHERE source = 'session' AND name NOT IN ('client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')),
			concat_ws(' ', (SELECT string_agg(name || ': ' || statement, ', ') FROM pg_prepared_statements), (SELECT string_agg(name, ', ') FROM pg_cursors WHERE name <> ''),
			(SELECT string_agg(relname, ', ') FROM pg_class WHERE relpersistence = 't'), (SELECT string_agg(objid::text, ', ') FROM pg_locks WHERE locktype = 'advisory'))`).
			Scan(&pid, &one.settings, &one.leftover)
		if err != nil {
			t.Fatal(err)
		}
		found[pid] = one
	}
	for _, conn := range held {
		if _, err := conn.Exec(t.Context(), "UPDATE accounts SET cents = cents + 1"); err != nil {
			t.Errorf("the application's update: %v", err)
		}
		ok(t, conn, "ROLLBACK")
		_ = conn.Close(t.Context())
	}
	if len(found) != poolSize {
		t.Fatalf("%d server connections, want %d", len(found), poolSize)
	}
	return found
}

func ok(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Errorf("%s: %v", sql, err)
	}
}

// A run through a pooler leaves the pool's server connections as they were,
// while it runs and after, and hears no error itself.
func TestPoolIsLeftAsItWas(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	exec(t, conn, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	exec(t, conn, "CREATE TABLE accounts (id int PRIMARY KEY, cents bigint)")
	exec(t, conn, "INSERT INTO accounts VALUES (1, 0)")
	for _, mode := range []string{"transaction", "session"} {
		t.Run(mode, func(t *testing.T) {
			dsn := pooler(t, server, mode)
			before := inspect(t, dsn)
			r := run(t, dsn)
			r.base(t)
			app := through(t, dsn)
			for i := range 40 {
				if _, err := app.Exec(t.Context(), "UPDATE accounts SET cents = $1 WHERE id = 1", i); err != nil {
					t.Fatalf("the application's update during the run: %v", err)
				}
				if _, err := app.Exec(t.Context(), "SELECT count(*) FROM accounts"); err != nil {
					t.Fatal(err)
				}
			}
			r.until(t, "the application's calls", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > 79.9 })
			r.more(t, 25) // what is asked for seldom, too
			r.stop()
			_ = app.Close(t.Context())
			after := inspect(t, dsn)
			for pid, was := range before {
				is, there := after[pid]
				if !there {
					t.Errorf("%s: server connection %d is gone", mode, pid)
				} else if !maps.Equal(was.settings, is.settings) || is.leftover != "" {
					t.Errorf("%s: server connection %d has %v %s; before the run it had %v", mode, pid, is.settings,
						is.leftover, was.settings)
				}
			}
			pooled(t, r)
		})
	}
}

// pooled checks what the source says of a pooler, and that its figures hold.
func pooled(t *testing.T, r *running) {
	t.Helper()
	h := r.Health()
	if !h.OK || !strings.Contains(h.Why, "pooler") || strings.Contains(h.Why, "failed") || strings.Contains(h.Why, "lost") {
		t.Errorf("health %+v", h)
	}
	if calls, _ := r.Sum(series.StatementCalls, "*"); calls > 80.1 {
		t.Errorf("%v calls, want the application's 80: our own are counted", calls)
	}
	i := slices.IndexFunc(r.store.Statements, func(s database.Statement) bool { return strings.Contains(s.Text, "count(*)") })
	if i < 0 || !strings.Contains(string(r.store.Statements[i].Plan), "Seq Scan") {
		t.Errorf("no plan of the count: %+v", r.store.Statements)
	}
	for _, s := range r.store.Statements {
		if strings.Contains(s.Text, server.Marker) {
			t.Errorf("our own statement is reported: %s", s.Text)
		}
	}
}

// What redline asks leaves no trace in pg_stat_statements where it is permitted
// to keep out of it, through a pooler and without.
func TestOwnStatementsAreKeptOut(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	exec(t, conn, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	for name, dsn := range map[string]string{"direct": server.DSN, "pooled": pooler(t, server, "transaction")} {
		exec(t, conn, "SELECT pg_stat_statements_reset()")
		r := run(t, dsn)
		r.base(t)
		exec(t, conn, "SELECT 42 AS answer")
		r.until(t, "the call", func() bool { n, _ := r.Sum(series.StatementCalls, "*"); return n > 0.99 })
		r.more(t, 25)
		r.stop()
		rows, err := conn.Query(context.Background(), "SELECT query FROM pg_stat_statements WHERE query LIKE '%redline */%'")
		if err != nil {
			t.Fatal(err)
		}
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(texts) > 0 {
			t.Errorf("%s: %d statements of ours are counted: %v %q", name, len(texts), err, texts)
		}
	}
}
