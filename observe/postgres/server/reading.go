package server

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

// Reading is the result of one round trip.
type Reading struct {
	Statements map[Entry]Figures // nil when they were not asked for
	StatedAt   Bracketed
	Keeping    Keeping

	States    map[string]int
	Waits     map[string]int
	Clients   []Client
	Blocked   []int32       // pids that wait for a heavyweight lock
	Oldest    time.Duration // since the oldest transaction of a client began
	Processes []int         // pids of all the server's backends but our own
	PID       int32         // of the backend that took the reading
	owned     bool          // it is ours alone

	Database  bool // its row was there
	CountedAt Bracketed
	Commits   int64
	Rollbacks int64
	Opened    *int64
	More      [5]float64 // as databaseMore
}

// Client is a session of the target.
type Client struct {
	PID         int32
	Application string
	State       string
	Started     time.Time
	Age         time.Duration
}

// Keeping is pg_stat_statements' information on itself.
type Keeping struct {
	Known   bool
	Dropped int64 // times that it was full and dropped the least used entries
	ResetAt time.Time
}

// Bracketed are the server's readings of its clock before and after a query.
type Bracketed struct{ Before, After time.Time }

// Read asks for everything in one round trip, and so one transaction.
func (s *Session) Read(ctx context.Context, statements bool) (*Reading, error) {
	r := &Reading{States: map[string]int{}, Waits: map[string]int{}, owned: s.Owned}
	var queries []Query
	if statements && s.Queries.Statements != "" {
		queries = append(queries, Query{s.Queries.Statements, []any{s.DB}, r.readStatements})
		// Hazard: it is asked after the entries. A reset in between is then
		// seen one reading early, never one too late.
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

func (r *Reading) readStatements(rows pgx.Rows) error {
	r.Statements = map[Entry]Figures{}
	var at Bracketed
	var e Entry
	var f Figures
	for rows.Next() {
		if err := rows.Scan(&at.Before, &at.After, &e.User, &e.Query, &f.Calls, &f.Rows, &f.Reads, &f.Hits, &f.Dirtied,
			&f.Temp, &f.WAL, &f.Exec, &f.Plan); err != nil {
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

func (r *Reading) readSessions(rows pgx.Rows) error {
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
			r.PID = pid
			if r.owned {
				continue
			}
			// A pooler gives this backend to others between our readings: it
			// counts with them, and without its work for us.
			state, waitType, open = "idle", "", 0
		}
		r.Processes = append(r.Processes, int(pid))
		if target == nil || !*target {
			continue
		}
		if state != "" { // else it is hidden from our role, or just starting
			r.States[state]++
		}
		if started != nil {
			r.Clients = append(r.Clients, Client{pid, application, state, *started, Seconds(connected)})
		}
		r.Oldest = max(r.Oldest, Seconds(open))
		if waitType == "Lock" {
			// Those that wait longest come first: they are asked about first.
			at, _ := slices.BinarySearchFunc(waiting, Seconds(open), func(a, b time.Duration) int { return cmp.Compare(b, a) })
			waiting, r.Blocked = slices.Insert(waiting, at, Seconds(open)), slices.Insert(r.Blocked, at, pid)
		}
		if state == "active" && waitType != "" {
			r.Waits[waitType+":"+wait]++
		}
	}
	return rows.Err()
}

// Seconds converts what the server gives in s; less than none is none.
func Seconds(s float64) time.Duration { return time.Duration(max(0, s) * float64(time.Second)) }
