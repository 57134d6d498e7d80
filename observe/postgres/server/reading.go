package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// maxRows bounds the rows of one reading that are kept: ten times what
// pg_stat_statements holds by default (pg_stat_statements.max, 5000), and some 5 MB.
const maxRows = 50000

// Reading is the result of one round trip and one transaction: its figures are apart in
// time by at most the running time of the queries.
type Reading struct {
	// Statements are the totals since the server's statistics were reset; nil if
	// they were not read, empty if there are none.
	Statements map[Entry]Figures
	// StatedAt brackets the instant of Statements: the function gathers all rows before it
	// sends the first.
	StatedAt Bracketed
	Keeping  Keeping

	// States counts the target's sessions by state of pg_stat_activity ("active", "idle in
	// transaction"); sessions with a hidden state are not counted.
	States map[string]int
	// Waits counts active sessions by "type:event" (PostgreSQL manual, "Wait Event
	// Types"): "Lock:transactionid", "IO:DataFileRead".
	Waits   map[string]int
	Clients []Client
	// Blocked are the pids that wait for a heavyweight lock, oldest transaction first.
	// Spinlocks and LWLocks have no known holder.
	Blocked   []int32
	Oldest    time.Duration // since the oldest transaction of a client began
	Processes []int         // pids of all the server's backends except our own
	PID       int32         // of the backend that took the reading
	owned     bool          // the backend is ours alone

	// Database is set if pg_stat_database had a row for the database; the following fields
	// come from it.
	Database  bool
	CountedAt Bracketed
	Commits   int64
	Rollbacks int64
	Opened    *int64 // sessions so far; nil before version 14
	// More holds deadlocks, temporary files and their bytes, blocks read and blocks hit.
	More [5]float64
}

// Client is a session of the target.
type Client struct {
	PID int32
	// Application is the name that it gave (application_name), "" for none.
	Application string
	State       string
	// Started is when the server forked its backend; with PID it distinguishes a session
	// from a later one with the same pid.
	Started time.Time
	Age     time.Duration // since then, by the server's clock
}

// Keeping is the state of pg_stat_statements itself (view pg_stat_statements_info).
type Keeping struct {
	Known   bool  // false before version 1.9 of the extension, which has no such view
	Dropped int64 // how often it was full and dropped the least used entries
	// ResetAt is when all statistics were last reset. Resetting one statement does not
	// change it.
	ResetAt time.Time
}

// Bracketed are the server's readings of its clock before and after a query.
type Bracketed struct{ Before, After time.Time }

// Read reads everything in one round trip and one transaction.
func (s *Session) Read(ctx context.Context, statements bool) (*Reading, error) {
	r := &Reading{States: map[string]int{}, Waits: map[string]int{}, owned: s.Owned}
	var queries []Query
	if statements && s.Queries.Statements != "" {
		queries = append(queries, Query{s.Queries.Statements, []any{s.DB}, r.readStatements})
		// Hazard: it must be read after the entries. A reset in between is then
		// noticed one reading early, never one too late.
		if s.Queries.keeping != "" {
			r.Keeping.Known = true
			queries = append(queries, Query{s.Queries.keeping, nil, One(&r.Keeping.Dropped, &r.Keeping.ResetAt)})
		}
	}
	queries = append(queries, Query{DatabaseSQL(s.Version), []any{s.DB}, r.readDatabase}, Query{sessionsSQL, []any{s.DB}, r.readSessions})
	if err := s.Ask(ctx, queries...); err != nil {
		return nil, err
	}
	return r, nil
}

// readStatements reads pg_stat_statements(false): no texts, which would be read from a
// file. Entries beyond maxRows are dropped, with their work.
func (r *Reading) readStatements(rows pgx.Rows) error {
	r.Statements = map[Entry]Figures{}
	var at Bracketed
	var e Entry
	var f Figures
	for rows.Next() {
		if err := rows.Scan(&at.Before, &at.After, &e.User, &e.Query, &f.Calls, &f.Rows, &f.Reads, &f.Hits, &f.Dirtied,
			&f.Temp, &f.WAL, &f.Exec, &f.Plan, &f.JIT); err != nil {
			return fmt.Errorf("read pg_stat_statements: %w", err)
		}
		// The function gathers all rows before the first is sent, so the
		// first row's clock ends the bracket.
		if len(r.Statements) == 0 {
			r.StatedAt = at
		}
		if len(r.Statements) < maxRows {
			r.Statements[e] = r.Statements[e].Plus(f)
		}
	}
	return rows.Err()
}

// readDatabase reads the database's row of pg_stat_database. A role without the right
// to see it gets no row.
func (r *Reading) readDatabase(rows pgx.Rows) error {
	for rows.Next() {
		r.Database = true
		m := &r.More
		if err := rows.Scan(&r.CountedAt.Before, &r.CountedAt.After, &r.Commits, &r.Rollbacks, &r.Opened, &m[0], &m[1],
			&m[2], &m[3], &m[4]); err != nil {
			return fmt.Errorf("read pg_stat_database: %w", err)
		}
	}
	return rows.Err()
}

// readSessions reads pg_stat_activity. A session of another role shows only its pid,
// unless redline's role is in pg_read_all_stats.
func (r *Reading) readSessions(rows pgx.Rows) error {
	var pid int32
	var own bool
	var target *bool
	var state, waitType, wait, application string
	var started *time.Time
	var connected, open float64 // s
	var waiting []time.Duration // the ages of the blocked sessions' transactions
	for rows.Next() {
		if err := rows.Scan(&pid, &own, &target, &state, &waitType, &wait, &application, &started, &connected, &open); err != nil {
			return fmt.Errorf("read pg_stat_activity: %w", err)
		}
		if own {
			r.PID = pid
			if r.owned {
				continue
			}
			// A pooler gives this backend to others between our readings: so it
			// counts as theirs, but without its work for us.
			state, waitType, open = "idle", "", 0
		}
		r.Processes = append(r.Processes, int(pid))
		if target == nil || !*target {
			continue
		}
		if state != "" { // otherwise it is hidden from our role, or just starting
			r.States[state]++
		}
		if started != nil {
			r.Clients = append(r.Clients, Client{pid, application, state, *started, Seconds(connected)})
		}
		r.Oldest = max(r.Oldest, Seconds(open))
		if waitType == "Lock" {
			// The oldest come first, because their blockers are queried first.
			at, _ := slices.BinarySearchFunc(waiting, Seconds(open), func(a, b time.Duration) int { return cmp.Compare(b, a) })
			waiting, r.Blocked = slices.Insert(waiting, at, Seconds(open)), slices.Insert(r.Blocked, at, pid)
		}
		if state == "active" && waitType != "" {
			r.Waits[waitType+":"+wait]++
		}
	}
	return rows.Err()
}

// Seconds converts seconds; negative values become 0.
func Seconds(s float64) time.Duration { return time.Duration(max(0, s) * float64(time.Second)) }
