package postgres

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// maxFollowed bounds the statements that get series; pg_stat_statements itself
// keeps 5000 by default.
const maxFollowed = 500

// Beyond maxCrowd statements, only those with at least crowdShare of an interval's
// execution time are followed.
const (
	maxCrowd   = 400
	crowdShare = 0.01
)

// ledger turns readings of pg_stat_statements into series per statement and
// totals of the steady span. It is pure: readings in, points out.
type ledger struct {
	meter    observe.Meter
	steady   timebase.Span // zero counts everything
	planning bool          // planning time is tracked
	own      map[int64]bool

	last     map[server.Entry]server.Figures // nil before the first reading
	lastAt   time.Duration
	since    time.Duration // first reading since the beginning, or since a gap
	followed map[int64]*statement
	dropped  bool // more than maxFollowed were active
}

// statement is one that was called during the run.
type statement struct {
	id     int64
	users  map[uint32]bool // who called it
	label  string
	sum    server.Figures // since it was first followed; never falls
	counts [10]observe.Counter

	steady    server.Figures // in the steady span; times in ns
	text      string         // empty until fetched
	plan      []byte
	planError string
	// planSource says where the plan comes from.
	planSource string
	checks     []database.IndexCheck
}

// read takes all rows of one reading at the run time at, and returns how many
// entries were lost since the last: dropped or reset. The work of their statements
// in between is unknown, so it stays absent. An entry that comes back later started
// from zero and counts in full.
func (l *ledger) read(at time.Duration, rows map[server.Entry]server.Figures) (lost int) {
	if l.last == nil {
		l.since = at
	}
	deltas := map[int64]server.Figures{}
	users := map[int64][]uint32{}
	broken := map[int64]bool{}
	for e, before := range l.last {
		if now, there := rows[e]; !there || now.Calls < before.Calls || now.Exec < before.Exec {
			lost++
			broken[e.Query] = true
		}
	}
	total := 0.0
	for e, now := range rows {
		if l.last == nil || broken[e.Query] {
			continue
		}
		// Planning is counted when it ends, which may be long before the call ends.
		if delta := now.Minus(l.last[e]); delta.Calls > 0 || delta.Plan > 0 {
			deltas[e.Query] = deltas[e.Query].Plus(delta)
			users[e.Query] = append(users[e.Query], e.User)
			total += delta.Exec
		}
	}
	for id, delta := range deltas {
		if s := l.follow(id, delta.Exec >= crowdShare*total); s != nil {
			s.sum = s.sum.Plus(delta)
			for _, user := range users[id] {
				s.users[user] = true
			}
		}
	}
	l.last, l.lastAt = rows, at
	for _, s := range l.followed {
		if broken[s.id] {
			s.forget()
		}
		l.count(s, at)
	}
	return lost
}

// blank marks a gap: its amounts stay absent.
func (l *ledger) blank() {
	l.last = nil
	l.meter.Break()
	l.lose()
}

// lose notes that the statistics of all statements were reset: their work
// since the last reading stays absent, and the next one is a new base.
func (l *ledger) lose() {
	l.last = nil
	for _, s := range l.followed {
		s.forget()
	}
}

// forget resets a statement's counters: the next count is a new base, and the
// window in between stays absent.
func (s *statement) forget() {
	for i := range s.counts {
		s.counts[i].Break()
	}
}

// follow returns the statement, or nil if it is redline's own or one too many. The
// last places are for statements that matter: an application that generates ever
// new statements must not shut out the one that takes the time.
func (l *ledger) follow(id int64, matters bool) *statement {
	if l.own[id] {
		return nil
	}
	if s := l.followed[id]; s != nil {
		return s
	}
	if len(l.followed) >= maxFollowed || len(l.followed) >= maxCrowd && !matters {
		l.dropped = true
		return nil
	}
	if l.followed == nil {
		l.followed = map[int64]*statement{}
	}
	s := &statement{id: id, users: map[uint32]bool{}, label: series.Labels("queryid", strconv.FormatInt(id, 10))}
	for i := range s.counts {
		s.counts[i].Width = l.meter.Width
		// At the previous reading it had not been called in this run. So the whole
		// window of that reading counts as observed, if we watched it from its
		// beginning: otherwise the window would count as partly observed and be
		// lost.
		if from := time.Duration(timebase.Window(l.lastAt, l.width())) * l.width(); from >= l.since {
			s.counts[i].Read(from, 0, nil)
		}
		s.counts[i].Read(l.lastAt, 0, func(int64, float64) {})
	}
	l.followed[id] = s
	return s
}

// count delivers a statement's windows. Calls and time are delivered even if zero,
// so that a chart falls to zero; zeros of other figures are left out.
func (l *ledger) count(s *statement, at time.Duration) {
	if l.own[s.id] {
		return
	}
	const ms = float64(time.Millisecond)
	put := func(i int, name string, sum float64, zeros bool, total *float64) {
		s.counts[i].Read(at, sum, func(w int64, amount float64) {
			if name != "" && (zeros || amount > 0) {
				l.meter.Put(name, s.label, w, amount)
			}
			if l.isSteady(w) {
				*total += amount
			}
		})
	}
	put(0, series.StatementCalls, s.sum.Calls, true, &s.steady.Calls)
	put(1, series.StatementTime, s.sum.Exec*ms, true, &s.steady.Exec)
	put(2, series.StatementRows, s.sum.Rows, false, &s.steady.Rows)
	put(3, series.StatementReads, s.sum.Reads, false, &s.steady.Reads)
	put(4, series.StatementHits, s.sum.Hits, false, &s.steady.Hits)
	put(5, series.StatementDirtied, s.sum.Dirtied, false, &s.steady.Dirtied)
	put(6, series.StatementTemp, s.sum.Temp, false, &s.steady.Temp)
	put(7, series.StatementWAL, s.sum.WAL, false, &s.steady.WAL)
	if l.planning {
		put(8, series.StatementPlan, s.sum.Plan*ms, false, &s.steady.Plan)
	}
	put(9, "", s.sum.JIT*ms, false, &s.steady.JIT) // its total is enough
}

// width is the windows' width; in tests a ledger may have none.
func (l *ledger) width() time.Duration { return cmp.Or(l.meter.Width, timebase.DefaultWindow) }

// isSteady reports whether a whole window lies within the steady span: a part of a
// window cannot be separated from the rest.
func (l *ledger) isSteady(w int64) bool {
	if l.steady.Len() <= 0 {
		return true
	}
	span := timebase.WindowSpan(w, l.width())
	return span.From >= l.steady.From && span.To <= l.steady.To
}

// top returns the statements called in the steady span, longest total time
// first.
func (l *ledger) top(n int) []*statement {
	var all []*statement
	for _, s := range l.followed {
		if s.steady.Calls > 0 && !l.own[s.id] {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *statement) int {
		return cmp.Or(cmp.Compare(b.steady.Exec, a.steady.Exec), cmp.Compare(a.id, b.id))
	})
	return all[:min(n, len(all))]
}

// record returns the statement in the form of statements.json.
func (s *statement) record() database.Statement {
	whole := func(v float64) int64 { return int64(math.Round(v)) }
	f := s.steady
	return database.Statement{
		QueryID: strconv.FormatInt(s.id, 10), Text: s.text,
		Calls: whole(f.Calls), Time: time.Duration(f.Exec), Rows: whole(f.Rows),
		Hits: whole(f.Hits), Reads: whole(f.Reads), Dirtied: whole(f.Dirtied), Temp: whole(f.Temp), WAL: whole(f.WAL),
		Planning: time.Duration(f.Plan), Compiling: time.Duration(f.JIT),
		Plan: s.plan, PlanError: s.planError, PlanSource: s.planSource, Checks: s.checks,
	}
}
