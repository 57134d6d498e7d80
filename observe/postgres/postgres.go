// Package postgres watches a PostgreSQL server from inside, on one connection
// of its own: statements, sessions, waits, and the CPU of the server's
// processes when they run on this host.
//
// Where each figure comes from:
//
//	postgres.statement.*    pg_stat_statements(false), differences between two
//	                        readings, summed over users. Only statements that a
//	                        client sent count (toplevel), as the time of those that
//	                        functions run is in their caller's already. A statement's
//	                        time lands in the window in which it ended.
//	postgres.sessions,
//	commits, rollbacks,
//	deadlocks, temp.*,
//	blocks.*                pg_stat_database of the DSN's database. Backends report
//	                        there at most once a second, so these come in lumps.
//	postgres.backends,
//	waits, blocked,
//	transaction.age,
//	connections.*           pg_stat_activity: client backends of that database at the
//	                        window's end. Blocked are those that wait for a
//	                        heavyweight lock.
//	postgres.blockers       pg_blocking_pids of the blocked, once a second and for
//	                        eight at most, because each call stops the lock manager;
//	                        the chains are in statements.json
//	postgres.wal,
//	checkpoints, buffers.*,
//	io.*                    of the whole server, once a second: pg_stat_bgwriter,
//	                        pg_stat_checkpointer (17), pg_stat_io (16)
//	postgres.cpu            CPU clocks of the server's processes (see cpu.go)
//
// A reading is dated by the server: statement_timestamp() before and
// clock_timestamp() after bracket it, and the round trip is left out. A server
// on this host reads the same clock; of another host the offset is estimated
// from round trips, and its bound is part of the alignment error.
//
// While the server was away, and after its statistics were reset or dropped because
// the table was full, amounts are absent and the record's health has the gap.
//
// Costly readings come less often. At the ends of the steady span and after the load
// everything is read all the same, so that the totals of that span are complete.
//
// redline's own session and statements are left out of every figure. The
// package refuses to change the server (its transactions are read only), to leave
// a setting on a connection that a pooler shares (see ask.go), to plan a statement
// where somebody's code could gain rights by it (see rights.go), to run EXPLAIN
// ANALYZE, and to keep the text of statements that may hold secrets. Reading takes at
// most a quarter of the time, and at most 1 % of a CPU of the server, as the CPU clock of
// its own backend shows on this host. The server's figures of connections, checkpoints
// and I/O include redline's share, which is next to nothing: it writes nothing.
//
// Rejected: pg_stat_statements(true) at each reading (it reads the file of all
// texts, megabytes), resetting the statistics (others watch them too), and one
// long transaction (it would hold back vacuum).
package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/timebase"
)

// Source is the observe.Source of one PostgreSQL database.
type Source struct {
	subject observe.Subject
	session *session // set by Open, closed by Run
	ledger  ledger
	bracket observe.Bracket
	pace    pace
	// statementPace is for pg_stat_statements, whose cost is per entry.
	statementPace pace
	lost          outages
	failures      failures
	gaps          []record.Gap
	resetAt       time.Duration // the last reading before a reset; 0 for none
	started       time.Time     // of the server that was last seen
	chains        chains
	idles         idles
	blind         []string
	planLog       planLog

	samples int64
	missed  int64 // edges
	store   database.Statements
	evicted int64
}

var (
	_ observe.Source   = (*Source)(nil)
	_ observe.Reporter = (*Source)(nil)
	_ observe.Storer   = (*Source)(nil)
)

// New returns a source that has not been opened.
func New() *Source {
	return &Source{bracket: observe.Bracket{Limit: 250 * time.Microsecond}}
}

// Describe implements observe.Source.
func (*Source) Describe() observe.Description {
	return observe.Description{
		Name:  "postgres",
		Doc:   "Statements with their plans, sessions, waits and CPU of the PostgreSQL database that the target uses.",
		Needs: "a DSN, PostgreSQL 13 or later, best with pg_stat_statements, and a role that is a member of pg_read_all_stats.",
		Cost:  "one session of the database and some short queries per window, at most 1 % of a CPU; EXPLAIN runs after the load.",
	}
}

// Health implements observe.Reporter.
func (s *Source) Health() record.SourceHealth {
	h := record.SourceHealth{Name: "postgres", OK: s.samples > 0 && !s.lost.now, Samples: s.samples, Align: s.bracket.Align()}
	why := append([]string(nil), s.blind...)
	if s.samples == 0 {
		why = append(why, "no reading succeeded")
	}
	if s.missed > 0 {
		why = append(why, observe.Skipped(s.missed))
	}
	if k := s.pace.slowest; k > 1 {
		why = append(why, fmt.Sprintf("readings took long, so that at times only one window in %d was read (amounts are "+
			"spread evenly over the windows between)", k))
	}
	if k := s.statementPace.slowest; k > 1 {
		why = append(why, fmt.Sprintf(costNote, k))
	}
	if s.chains.dropped {
		why = append(why, fmt.Sprintf("there were more than %d different chains of blocked sessions; the rest are left out", maxChains))
	}
	if s.evicted > 0 {
		why = append(why, fmt.Sprintf("pg_stat_statements was full and dropped statements %d times, so that rare ones are "+
			"missing: raise pg_stat_statements.max", s.evicted))
	}
	if text := s.failures.text(); text != "" {
		why = append(why, text)
	}
	if text := s.lost.text(); text != "" {
		why = append(why, text)
	}
	h.Gaps = append(s.lost.gaps(s.subject.Clock.Now()), s.gaps...)
	slices.SortStableFunc(h.Gaps, func(a, b record.Gap) int { return cmp.Compare(a.From, b.From) })
	for _, g := range h.Gaps {
		if g.Why == resetWhy {
			why = append(why, fmt.Sprintf("%s %s into the run; statement figures are absent around it", g.Why, notation.Time(g.To)))
		}
	}
	h.Why = strings.Join(why, "; ")
	return h
}

// Store implements observe.Storer: the statements of the steady span with their
// plans.
func (s *Source) Store() (file string, value any, err error) {
	return database.File, s.store, nil
}

// say notes once something that cannot be seen.
func (s *Source) say(text string) {
	for _, known := range s.blind {
		if known == text {
			return
		}
	}
	if len(s.blind) < 16 {
		s.blind = append(s.blind, text)
	}
}

// failures are readings that failed on a connection that still stands. The first stands for all: a busy
// server fails them one after the other.
type failures struct {
	n     int
	first time.Duration
	err   string
}

func (f *failures) add(at time.Duration, err error) {
	if f.n++; f.n == 1 {
		f.first, f.err = at, err.Error()
	}
}

// text says how many readings failed, and why the first did.
func (f *failures) text() string {
	if f.n == 0 {
		return ""
	}
	count := notation.Counted(int64(f.n), "reading", "readings")
	return fmt.Sprintf("%s failed, the first %s into the run: %s", count, notation.Time(f.first), f.err)
}

// outages are the times without a connection.
type outages struct {
	now   bool
	since time.Duration
	all   []outage // the first maxGaps
	more  int
	err   string // of the first loss
}

// outage is one of them; restarted means that the server was restarted.
type outage struct {
	timebase.Span
	restarted bool
}

// begin notes when the server was last seen. Of several outages the first error is kept,
// because later ones are mostly refused connections.
func (o *outages) begin(at time.Duration, err error) {
	if o.now {
		return
	}
	o.now, o.since = true, at
	if o.err == "" {
		o.err = err.Error()
	}
}

// end closes the gap. A restarted server, unlike one whose connection was lost, reset
// its counters and lost its sessions.
func (o *outages) end(at time.Duration, restarted bool) {
	o.now = false
	if len(o.all) >= maxGaps {
		o.more++
		return
	}
	o.all = append(o.all, outage{timebase.Span{From: o.since, To: at}, restarted})
}

// gaps returns the outages in the record's form; one that still lasts ends now.
func (o *outages) gaps(now time.Duration) []record.Gap {
	var gaps []record.Gap
	for _, out := range o.all {
		why := "the connection to PostgreSQL was lost"
		if out.restarted {
			why = "PostgreSQL was restarted"
		}
		gaps = append(gaps, record.Gap{Span: out.Span, Why: why})
	}
	if o.now {
		gaps = append(gaps, record.Gap{Span: timebase.Span{From: o.since, To: max(o.since, now)},
			Why: "the connection to PostgreSQL was lost"})
	}
	return gaps
}

// text says in one sentence how often the server was away, and for how long.
func (o *outages) text() string {
	const shown = 3
	var parts []string
	for i, span := range o.all {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d times more", len(o.all)+o.more-shown))
			break
		}
		part := fmt.Sprintf("from %s to %s", notation.Time(span.From), notation.Time(span.To))
		if span.restarted {
			part += " (it was restarted)"
		}
		parts = append(parts, part)
	}
	if o.now {
		parts = append(parts, fmt.Sprintf("from %s to the end", notation.Time(o.since)))
	}
	if parts == nil {
		return ""
	}
	return "the server was lost " + strings.Join(parts, ", ") + " of the run (" + o.err + ")"
}

// session is the connection, with the rare queries: who blocks whom, which sessions
// are idle, which plan a statement has.
type session struct{ *server.Session }

// open connects. It runs the rare queries once, so that a server or a role that
// refuses them is known before the run.
func open(ctx context.Context, dsn string, clock timebase.Clock) (*session, error) {
	connected, err := server.Open(ctx, dsn, clock, func(ctx context.Context, s *server.Session) error {
		asking := &session{s}
		if _, _, err := asking.blockers(ctx, []int32{}); err != nil {
			return fmt.Errorf("try the query for blockers: %w", err)
		}
		if _, err := asking.readIdle(ctx); err != nil {
			return fmt.Errorf("try the query for idle sessions: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &session{connected}, nil
}
