package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	// pgx speaks the protocol with pipelining, so that the queries of a window take
	// one round trip.
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/timebase"
)

const (
	// Application is redline's application_name in pg_stat_activity.
	Application = "redline"
	// minVersion is the oldest server_version_num understood: version 13 renamed
	// columns of pg_stat_statements (total_exec_time) and added others (wal_bytes),
	// and older servers get no more fixes.
	minVersion = 130000
	// dialTimeout bounds an attempt to connect. During a run it delays only the
	// next reading of a server that came back.
	dialTimeout = 5 * time.Second
	// openTimeout bounds connecting and learning about the server.
	openTimeout = 2 * dialTimeout
	// CallTimeout bounds a reading. It exceeds the statement_timeout of Local, so that the
	// server cancels a slow query itself and the connection survives.
	CallTimeout = 2 * time.Second
)

// Session is one connection, and the properties of the server read over it. Open returns
// it. It is not safe for concurrent use.
type Session struct {
	Conn    *pgx.Conn
	Version int    // server_version_num: 160004
	Server  string // server_version: "16.4 (Debian 16.4-1)"
	DB      uint32 // oid of the database
	Name    string // of the database
	PID     int32  // of the backend; redline's own while Owned is set
	// Owned is set while the same backend answers every query, so no pooler shares it. Once
	// false, it stays false.
	Owned bool
	// Nested is set if pg_stat_statements mixes in statements run by functions, because
	// versions before 1.9 have no column toplevel.
	Nested         bool
	opening        bool    // before the run: see openingTimeout
	hidden         bool    // our statements stay out of pg_stat_statements
	MaxConnections float64 // the setting max_connections
	// Started is when the postmaster started; a different time means a restarted or
	// another server.
	Started time.Time
	Timing  bool // track_io_timing: the server measures the time of I/O
	Queries Queries
	Own     map[int64]bool // query ids of redline's statements, if the server counts them
	Clock   Clock
	// prepared are the queries of every window, with their named statements if the
	// session is ours alone.
	prepared map[string]*pgconn.StatementDescription
	// Transactions is the number of redline's own: they count among the database's
	// commits.
	Transactions int64
	CPU          *CPU // nil if the server's processes are not visible here
	// Blind lists the data that this session cannot see, each in a sentence with its
	// remedy.
	Blind []string

	seldom func(context.Context, *Session) error
}

// Open connects and reads the server's properties. It calls seldom, which runs the rare
// queries once, so that their query ids are known as redline's own. A server that cannot be
// observed at all is an *observe.Unsupported. Errors never contain the password: pgconn
// omits it, and its error for a malformed DSN is not used.
func Open(
	ctx context.Context, dsn string, clock timebase.Clock, seldom func(context.Context, *Session) error,
) (*Session, error) {
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
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, Unreachable(config, err)
	}
	s := &Session{seldom: seldom, Conn: conn, Clock: Clock{Run: clock}, opening: true}
	if err := s.lookAround(ctx, config); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Unreachable returns the error for a failed connection, with a remedy for its
// cause.
func Unreachable(config *pgx.ConnConfig, err error) error {
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
		u.Enable = "switch TLS on in the server (ssl = on), or set sslmode=disable in the DSN"
	}
	return u
}

// tries is how many readings are made before the run to warm caches, so that the
// run's readings cost the same. Each also shows which backend answers.
const tries = 3

// lookAround reads the server's version and settings, and finds out who answers:
// readings by other backends than the connected one mean a pooler.
func (s *Session) lookAround(ctx context.Context, config *pgx.ConnConfig) error {
	if err := s.hide(ctx); err != nil {
		return err
	}
	var reads, superuser bool
	var pid int32
	var born time.Time
	err := s.Ask(ctx, Query{`SELECT /* redline */ current_setting('server_version_num')::int, current_setting('server_version'),
		d.oid, d.datname, pg_backend_pid(), (SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())),
		current_setting('max_connections')::float8,
		pg_postmaster_start_time(), current_setting('track_io_timing') = 'on',
		pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'), (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
		FROM pg_database d WHERE d.datname = current_database()`, nil,
		One(&s.Version, &s.Server, &s.DB, &s.Name, &pid, &born, &s.MaxConnections, &s.Started, &s.Timing, &reads, &superuser)})
	if err != nil {
		return fmt.Errorf("read the server's version: %w", err)
	}
	if s.Version < minVersion {
		return &observe.Unsupported{What: "PostgreSQL " + s.Server + " is too old", Enable: "use PostgreSQL 13 or later"}
	}
	s.PID = int32(s.Conn.PgConn().PID())
	s.Owned = pid == s.PID
	if !reads && !superuser {
		s.Blind = append(s.Blind, fmt.Sprintf("statements and sessions of other roles are hidden: run GRANT pg_read_all_stats TO %s",
			pgx.Identifier{config.User}.Sanitize()))
	}
	if err := s.findExtension(ctx); err != nil {
		return err
	}
	for range tries {
		r, err := s.Read(ctx, true)
		if err != nil {
			return fmt.Errorf("try the queries: %w", err)
		}
		s.Owned = s.Owned && r.PID == s.PID
	}
	s.opening = false
	if err := s.introduce(ctx); err != nil {
		return err
	}
	if err := s.findOwn(ctx); err != nil {
		return err
	}
	s.CPU = findServer(s, int(pid), born)
	s.Clock.Local = s.CPU != nil || loopback(config.Host)
	return s.ping(ctx)
}

// hide finds out whether our statements can be kept out of pg_stat_statements,
// which takes a superuser or a grant.
//
// Hazard: if the library is not loaded, anyone may set its parameter, and an empty
// one would stay in the session. So it is set only if it exists.
func (s *Session) hide(ctx context.Context) error {
	err := s.AskAfter(ctx, Query{"SELECT " + Marker +
		" pg_catalog.set_config(name, $1, true) FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) $2",
		[]any{"none", hideSetting}, One(nil)})
	var refusal *pgconn.PgError
	switch {
	case err == nil:
		s.hidden = true
	case errors.Is(err, pgx.ErrNoRows), errors.As(err, &refusal) && !s.Conn.IsClosed():
	default:
		return fmt.Errorf("set up the session: %w", err)
	}
	return nil
}

// introduce gives the session our name and prepares the frequent queries, if it is
// ours: a name set at connection time would stay on a pooler's server connection.
func (s *Session) introduce(ctx context.Context) error {
	if !s.Owned {
		s.Blind = append(s.Blind, PoolerNote)
		return nil
	}
	s.prepared = map[string]*pgconn.StatementDescription{s.Preamble(Local[:]...).SQL: nil, DatabaseSQL(s.Version): nil, sessionsSQL: nil}
	for _, sql := range []string{s.Queries.Statements, s.Queries.keeping} {
		if sql != "" {
			s.prepared[sql] = nil
		}
	}
	if err := s.Ask(ctx, Query{SQL: "SELECT " + Marker + " set_config('application_name', $1, false)",
		Args: []any{Application}}); err != nil {
		return err
	}
	for range tries {
		if _, err := s.Read(ctx, true); err != nil {
			return fmt.Errorf("try the prepared queries: %w", err)
		}
	}
	return nil
}

// PoolerNote names the figures whose meaning differs behind a pooler.
const PoolerNote = "a connection pooler is between redline and PostgreSQL: sessions and their names are the pooler's, " +
	"one of those shown idle carries the readings, and their cost to the server is unknown"

// CheckOwner notes which backend took a reading. It reports whether this is the first sign
// that the session is shared.
func (s *Session) CheckOwner(r *Reading) (pooled bool) {
	pooled = s.Owned && r.PID != s.PID
	s.Owned = s.Owned && !pooled
	return pooled
}

// Spent returns the CPU time of redline's backend so far; false if it is not visible.
func (s *Session) Spent() (time.Duration, bool) {
	if s.CPU == nil || !s.Owned {
		return 0, false
	}
	used, err := s.CPU.ProcessTime(int(s.PID))
	return used, err == nil
}

// ping estimates the server's clock from a few round trips.
func (s *Session) ping(ctx context.Context) error {
	for range 9 {
		var server time.Time
		before := s.Clock.Run.Now()
		if err := s.Ask(ctx, Query{"SELECT " + Marker + " clock_timestamp()", nil, One(&server)}); err != nil {
			return fmt.Errorf("read the server's clock: %w", err)
		}
		if s.Clock.Sandwich(before, s.Clock.Run.Now(), server) {
			s.Blind = append(s.Blind, "the server's clock is not this host's: it is estimated from round trips")
		}
	}
	return nil
}

// loopback reports whether the server is on this host, possibly in a container:
// then it shares this host's clock. A tunnel to another host looks the same; ping
// then finds that its clock differs.
func loopback(host string) bool {
	if strings.HasPrefix(host, "/") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Close closes the connection, with a Terminate message if the server still answers.
func (s *Session) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.Conn.Close(ctx)
}
