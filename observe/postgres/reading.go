package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// maxRows bounds the rows of one reading that are kept.
const maxRows = 20000

// reading is what one round trip brought.
type reading struct {
	statements map[entry]figures // nil without the extension
	statedAt   bracketed

	sessions  int
	states    map[string]int
	waits     map[string]int
	blocked   []int32 // pids that wait for a heavyweight lock
	processes []int   // pids of all the server's backends but ours

	database  bool // its row was there
	countedAt bracketed
	commits   int64
	rollbacks int64
	opened    *int64
}

// bracketed are the server's readings of its clock before and after a query.
type bracketed struct{ before, after time.Time }

// read asks for everything in one round trip, and so one transaction.
func (s *session) read(ctx context.Context) (*reading, error) {
	r := &reading{states: map[string]int{}, waits: map[string]int{}}
	batch := &pgx.Batch{}
	if s.queries.statements != "" {
		batch.Queue(s.queries.statements, s.db).Query(r.readStatements)
	}
	batch.Queue(databaseSQL(s.version), s.db).Query(r.readDatabase)
	batch.Queue(sessionsSQL, s.db).Query(r.readSessions)
	if err := s.conn.SendBatch(ctx, batch).Close(); err != nil {
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
		if err := rows.Scan(&at.before, &at.after, &e.user, &e.query, &f.calls, &f.rows, &f.read, &f.hit, &f.exec, &f.plan); err != nil {
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
		if err := rows.Scan(&r.countedAt.before, &r.countedAt.after, &r.commits, &r.rollbacks, &r.opened); err != nil {
			return fmt.Errorf("read pg_stat_database: %w", err)
		}
	}
	return rows.Err()
}

func (r *reading) readSessions(rows pgx.Rows) error {
	var pid int32
	var client *bool
	var state, waitType, wait string
	for rows.Next() {
		if err := rows.Scan(&pid, &client, &state, &waitType, &wait); err != nil {
			return fmt.Errorf("read pg_stat_activity: %w", err)
		}
		r.processes = append(r.processes, int(pid))
		if client == nil || !*client {
			continue
		}
		r.sessions++
		if state != "" { // else it is hidden from our role, or just starting
			r.states[state]++
		}
		if waitType == "Lock" {
			r.blocked = append(r.blocked, pid)
		}
		if state == "active" && waitType != "" {
			r.waits[waitType+":"+wait]++
		}
	}
	return rows.Err()
}

// maxAsked is for how many blocked sessions the blockers are asked for.
const maxAsked = 8

// blockers counts the sessions that hold up the given ones, by state.
func (s *session) blockers(ctx context.Context, blocked []int32) (map[string]int, error) {
	rows, err := s.conn.Query(ctx, blockersSQL, blocked[:min(len(blocked), maxAsked)])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	states := map[string]int{}
	for rows.Next() {
		var state string
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return nil, err
		}
		states[state] += n
	}
	return states, rows.Err()
}
