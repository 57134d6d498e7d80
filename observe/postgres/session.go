package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	// pgx speaks the protocol with pipelining, so that
	// the queries of a window take one round trip.
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/timebase"
)

const (
	// application is our name in pg_stat_activity, by which others recognise us.
	application = "redline"
	// minVersion is the oldest server_version_num understood.
	minVersion = 130000
	// dialTimeout bounds an attempt to connect, callTimeout a reading.
	dialTimeout = 5 * time.Second
	callTimeout = 2 * time.Second
)

// session is one connection and the server's properties learnt over it.
type session struct {
	conn    *pgx.Conn
	version int    // server_version_num
	server  string // server_version
	db      uint32
	name    string // of the database
	pid     int32  // of our backend, if it is owned
	// owned: the backend that was connected to answers every time, so that no
	// pooler gives it to others.
	owned   bool
	nested  bool // statements that functions run are not separated from others
	hidden  bool // our statements stay out of pg_stat_statements
	max     float64
	started time.Time // of the postmaster
	timing  bool      // the server measures the time of I/O
	queries queries
	own     map[int64]bool // ids of our statements, where the server counts them
	clock   serverClock
	// prepared are the queries of every window, with their named statements
	// where the session is ours alone.
	prepared map[string]*pgconn.StatementDescription
	// transactions is how many we made.
	transactions int64
	cpu          *serverCPU // nil when the server's processes are not seen here
	blind        []string
}

// open connects and looks around. Its errors never hold the password: pgconn
// leaves it out, and its error for a DSN that it cannot parse is not used.
func open(ctx context.Context, dsn string, clock timebase.Clock) (*session, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, &observe.Unsupported{
			What:   "the PostgreSQL DSN cannot be parsed",
			Enable: "write it as postgres://user:password@host:5432/database or as host=... user=... dbname=...",
		}
	}
	// Hazard: a pooler applies a connection's settings to its server
	// connections, and refuses unknown ones.
	delete(config.RuntimeParams, "application_name")
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // no named statements
	config.ConnectTimeout = dialTimeout
	config.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, unreachable(config, err)
	}
	s := &session{conn: conn, clock: serverClock{run: clock}}
	if err := s.lookAround(ctx, config); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func unreachable(config *pgx.ConnConfig, err error) error {
	u := &observe.Unsupported{
		What:   fmt.Sprintf("no connection to PostgreSQL at %s:%d", config.Host, config.Port),
		Enable: "start the server, or correct host and port of the DSN",
		Err:    err,
	}
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		switch refusal.Code {
		case "28P01", "28000":
			u.Enable = "correct user and password of the DSN, or allow them in pg_hba.conf"
			if strings.Contains(refusal.Message, "no encryption") { // of "no pg_hba.conf entry for ..."
				u.Enable = "add sslmode=require to the DSN, or allow connections without TLS in pg_hba.conf"
			}
		case "3D000":
			u.Enable = "name the database that the target uses in the DSN"
		case "53300":
			u.Enable = "raise max_connections, or leave one connection for redline"
		default:
			u.Enable = "see the server's log"
		}
	}
	if refusal == nil && strings.Contains(err.Error(), "server refused TLS connection") {
		u.Enable = "switch TLS on in the server (ssl = on), or say sslmode=disable in the DSN"
	}
	return u
}

// tries is how often the reading is tried before the run, so that caches are
// full: readings of the run are to cost alike. Each also asks which backend
// answers.
const tries = 3

func (s *session) lookAround(ctx context.Context, config *pgx.ConnConfig) error {
	if err := s.hide(ctx); err != nil {
		return err
	}
	var reads, superuser bool
	var pid int32
	var born time.Time
	err := s.ask(ctx, query{`SELECT /* redline */ current_setting('server_version_num')::int, current_setting('server_version'),
		d.oid, d.datname, pg_backend_pid(), (SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())), current_setting('max_connections')::float8,
		pg_postmaster_start_time(), current_setting('track_io_timing') = 'on',
		pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'), (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
		FROM pg_database d WHERE d.datname = current_database()`, nil,
		one(&s.version, &s.server, &s.db, &s.name, &pid, &born, &s.max, &s.started, &s.timing, &reads, &superuser)})
	if err != nil {
		return fmt.Errorf("ask the server for its version: %w", err)
	}
	if s.version < minVersion {
		return &observe.Unsupported{What: "PostgreSQL " + s.server + " is too old", Enable: "use PostgreSQL 13 or later"}
	}
	s.pid = int32(s.conn.PgConn().PID())
	s.owned = pid == s.pid
	if !reads && !superuser {
		s.blind = append(s.blind, fmt.Sprintf("statements and sessions of other roles are hidden: run GRANT pg_read_all_stats TO %s",
			pgx.Identifier{config.User}.Sanitize()))
	}
	if err := s.findExtension(ctx); err != nil {
		return err
	}
	for range tries {
		r, err := s.read(ctx, true)
		if err != nil {
			return fmt.Errorf("try the queries: %w", err)
		}
		s.owned = s.owned && r.pid == s.pid
	}
	if err := s.introduce(ctx); err != nil {
		return err
	}
	if err := s.findOwn(ctx); err != nil {
		return err
	}
	s.cpu = findServer(s, int(pid), born)
	s.clock.local = s.cpu != nil || loopback(config.Host)
	return s.ping(ctx)
}

// hide finds out whether our statements can be kept out of pg_stat_statements,
// which needs a superuser or a grant.
//
// Hazard: where the library is not loaded anyone may set its parameter, and an
// empty one would stay with the session. So it is set only if it is there.
func (s *session) hide(ctx context.Context) error {
	err := s.askAfter(ctx, query{"SELECT " + marker + " pg_catalog.set_config(name, $1, true) FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) $2",
		[]any{"none", hideSetting}, one(nil)})
	var refusal *pgconn.PgError
	switch {
	case err == nil:
		s.hidden = true
	case errors.Is(err, pgx.ErrNoRows), errors.As(err, &refusal) && !s.conn.IsClosed():
	default:
		return fmt.Errorf("set up the session: %w", err)
	}
	return nil
}

// introduce gives the session our name and prepares the frequent queries, if it
// is ours: a name given when connecting would stay on the server connection of a
// pooler.
func (s *session) introduce(ctx context.Context) error {
	if !s.owned {
		s.blind = append(s.blind, poolerNote)
		return nil
	}
	s.prepared = map[string]*pgconn.StatementDescription{s.preamble(local[:]...).sql: nil, databaseSQL(s.version): nil, sessionsSQL: nil}
	for _, sql := range []string{s.queries.statements, s.queries.keeping} {
		if sql != "" {
			s.prepared[sql] = nil
		}
	}
	if err := s.ask(ctx, query{sql: "SELECT " + marker + " set_config('application_name', $1, false)", args: []any{application}}); err != nil {
		return err
	}
	for range tries {
		if _, err := s.read(ctx, true); err != nil {
			return fmt.Errorf("try the prepared queries: %w", err)
		}
	}
	return nil
}

// poolerNote says which figures mean something else behind a pooler.
const poolerNote = "a connection pooler stands between redline and PostgreSQL: sessions and their names are the pooler's, " +
	"one of those shown idle carries the readings, and their cost to the server is unknown"

// checkOwner takes note of the backend that took a reading. It reports whether
// that shows for the first time that the session is not ours alone.
func (s *session) checkOwner(r *reading) (pooled bool) {
	pooled = s.owned && r.pid != s.pid
	s.owned = s.owned && !pooled
	return pooled
}

// spent returns the CPU time of our backend so far; false when it is not seen.
func (s *session) spent() (time.Duration, bool) {
	if s.cpu == nil || !s.owned {
		return 0, false
	}
	used, err := s.cpu.processTime(int(s.pid))
	return used, err == nil
}

// ping estimates the server's clock from a few round trips.
func (s *session) ping(ctx context.Context) error {
	for range 9 {
		var server time.Time
		before := s.clock.run.Now()
		if err := s.ask(ctx, query{"SELECT " + marker + " clock_timestamp()", nil, one(&server)}); err != nil {
			return fmt.Errorf("read the server's clock: %w", err)
		}
		if s.clock.sandwich(before, s.clock.run.Now(), server) {
			s.blind = append(s.blind, "the server's clock is not this host's: it is estimated from round trips")
		}
	}
	return nil
}

// loopback reports whether the server is on this host, in a container perhaps:
// then it has this host's clock. A tunnel to another host also looks so; that
// its clock differs is found out by ping.
func loopback(host string) bool {
	if strings.HasPrefix(host, "/") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// close ends the connection, politely if the server still answers.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}
