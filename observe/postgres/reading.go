package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// maxRows bounds the rows of one reading that are kept.
const maxRows = 50000

// reading is the result of one round trip.
type reading struct {
	statements map[entry]figures // nil when they were not asked for
	statedAt   bracketed
	keeping    keeping

	states    map[string]int
	waits     map[string]int
	clients   []client
	blocked   []int32       // pids that wait for a heavyweight lock
	oldest    time.Duration // since the oldest transaction of a client began
	processes []int         // pids of all the server's backends but our own
	pid       int32         // of the backend that took the reading
	owned     bool          // it is ours alone

	database  bool // its row was there
	countedAt bracketed
	commits   int64
	rollbacks int64
	opened    *int64
	more      [5]float64 // as databaseMore
}

// client is a session of the target.
type client struct {
	pid         int32
	application string
	state       string
	started     time.Time
	age         time.Duration
}

// keeping is pg_stat_statements' information on itself.
type keeping struct {
	known   bool
	dropped int64 // times that it was full and dropped the least used entries
	resetAt time.Time
}

// bracketed are the server's readings of its clock before and after a query.
type bracketed struct{ before, after time.Time }

// read asks for everything in one round trip, and so one transaction.
func (s *session) read(ctx context.Context, statements bool) (*reading, error) {
	r := &reading{states: map[string]int{}, waits: map[string]int{}, owned: s.owned}
	var queries []query
	if statements && s.queries.statements != "" {
		queries = append(queries, query{s.queries.statements, []any{s.db}, r.readStatements})
		// Hazard: it is asked after the entries. A reset in between is then
		// seen one reading early, never one too late.
		if s.queries.keeping != "" {
			r.keeping.known = true
			queries = append(queries, query{s.queries.keeping, nil, one(&r.keeping.dropped, &r.keeping.resetAt)})
		}
	}
	queries = append(queries, query{databaseSQL(s.version), []any{s.db}, r.readDatabase}, query{sessionsSQL, []any{s.db}, r.readSessions})
	if err := s.ask(ctx, queries...); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *reading) readStatements(rows pgx.Rows) error {
	r.statements = map[entry]figures{}
	var at bracketed
	var e entry
	var f figures
	for rows.Next() {
		if err := rows.Scan(&at.before, &at.after, &e.user, &e.query, &f.calls, &f.rows, &f.read, &f.hit, &f.dirtied, &f.temp, &f.wal, &f.exec, &f.plan); err != nil {
			return fmt.Errorf("read pg_stat_statements: %w", err)
		}
		// The function gathers all rows before the first is sent, so the
		// first row's clock ends the bracket.
		if len(r.statements) == 0 {
			r.statedAt = at
		}
		if len(r.statements) < maxRows {
			r.statements[e] = r.statements[e].plus(f)
		}
	}
	return rows.Err()
}

func (r *reading) readDatabase(rows pgx.Rows) error {
	for rows.Next() {
		r.database = true
		m := &r.more
		if err := rows.Scan(&r.countedAt.before, &r.countedAt.after, &r.commits, &r.rollbacks, &r.opened, &m[0], &m[1], &m[2], &m[3], &m[4]); err != nil {
			return fmt.Errorf("read pg_stat_database: %w", err)
		}
	}
	return rows.Err()
}

func (r *reading) readSessions(rows pgx.Rows) error {
	var pid int32
	var own bool
	var target *bool
	var state, waitType, wait, application string
	var started *time.Time
	var connected, open float64 // s
	var waiting []time.Duration // of the blocked, how old their transactions are
	for rows.Next() {
		if err := rows.Scan(&pid, &own, &target, &state, &waitType, &wait, &application, &started, &connected, &open); err != nil {
			return fmt.Errorf("read pg_stat_activity: %w", err)
		}
		if own {
			r.pid = pid
			if r.owned {
				continue
			}
			// A pooler gives this backend to others between our readings: it
			// counts with them, and without its work for us.
			state, waitType, open = "idle", "", 0
		}
		r.processes = append(r.processes, int(pid))
		if target == nil || !*target {
			continue
		}
		if state != "" { // else it is hidden from our role, or just starting
			r.states[state]++
		}
		if started != nil {
			r.clients = append(r.clients, client{pid, application, state, *started, seconds(connected)})
		}
		r.oldest = max(r.oldest, seconds(open))
		if waitType == "Lock" {
			// Those that wait longest come first: they are asked about first.
			at, _ := slices.BinarySearchFunc(waiting, seconds(open), func(a, b time.Duration) int { return cmp.Compare(b, a) })
			waiting, r.blocked = slices.Insert(waiting, at, seconds(open)), slices.Insert(r.blocked, at, pid)
		}
		if state == "active" && waitType != "" {
			r.waits[waitType+":"+wait]++
		}
	}
	return rows.Err()
}
