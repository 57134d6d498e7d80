package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
)

// seldom is the interval of costly queries: who blocks whom, texts.
const seldom = time.Second

// maxBackoff bounds the time between two attempts to reconnect.
const maxBackoff = 2 * time.Second

// Open implements observe.Source.
func (s *Source) Open(ctx context.Context, subject observe.Subject) error {
	if subject.DSN == "" {
		return &observe.Unsupported{
			What:     "the target's database is not known",
			Enable:   "name it with --postgres DSN or observe.postgres in the scenario",
			NotAsked: true,
		}
	}
	session, err := open(ctx, subject.DSN, subject.Clock)
	if err != nil {
		return err
	}
	s.subject, s.session = subject, session
	if err := s.findPlanLog(ctx); err != nil {
		session.Close()
		return err
	}
	s.ledger.meter.Width = subject.Window
	s.ledger.planning, s.ledger.own = session.Queries.Planning, session.Own
	s.started = session.Started
	s.store = database.Statements{Database: session.Name, Server: session.Server}
	for _, text := range session.Blind {
		s.say(text)
	}
	return nil
}

// Run implements observe.Source.
func (s *Source) Run(ctx context.Context, sink observe.Sink) error {
	s.ledger.steady = s.subject.Measured()
	w := &watch{Source: s, sink: sink}
	defer w.disconnect()
	// Subtle: pgx closes a connection whose context ends during a query, and
	// the texts and plans are still to come. So queries outlive ctx, but for a
	// second at most, so that a hanging server does not delay the end.
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	// The select ends the goroutine with Run, so that none outlives it by that second.
	defer context.AfterFunc(ctx, func() {
		select {
		case <-calls.Done():
		case <-time.After(time.Second):
			cancel()
		}
	})()
	edges := &observe.Edges{Clock: s.subject.Clock, Width: s.subject.Window}
	err := edges.Each(ctx, func(edge time.Duration) error {
		w.edge(ctx, calls, edge)
		_ = s.ledger.meter.Flush(sink) // the conductor reports a full disk
		return nil
	})
	s.missed = edges.Missed()
	w.finish(ctx)
	return err
}

// watch is the state of one Run.
type watch struct {
	*Source
	sink observe.Sink

	seldomAt   time.Duration
	retryAt    time.Duration
	backoff    time.Duration
	textsAt    time.Duration
	textsEvery time.Duration
	lastAt     time.Duration              // run time at which the last reading that succeeded was complete
	plain      time.Duration              // CPU of the last reading without statements
	keeping    server.Keeping             // as of the last reading with statements
	seen       map[string]map[string]bool // labels seen per gauge: they fall to zero rather than vanish
	pool       pool
	commits    ownCount
}

// edge makes the readings due at a window's edge.
func (w *watch) edge(ctx, calls context.Context, edge time.Duration) {
	if w.session == nil {
		w.reconnect(ctx, edge) // which takes a while: the next edge is read
		return
	}
	due, statements := w.due(edge)
	if !due {
		return
	}
	call, cancel := context.WithTimeout(calls, server.CallTimeout)
	defer cancel()
	spent, seen := w.session.Spent()
	r, before, after := w.read(call, statements)
	if r == nil {
		return
	}
	// The server's clock around the reading also counts waits for a CPU, which a busy host
	// causes; the cost is what the backend itself used.
	cost := r.StatedAt.After.Sub(r.StatedAt.Before)
	if seen {
		now, _ := w.session.Spent()
		cost = max(0, now-spent)
	}
	w.pay(r, after-before, cost, seen)
	w.count(r, before, after)
	w.show(r, edge)
	if edge < w.seldomAt {
		return
	}
	w.seldomAt = edge + seldom
	if err := w.askSeldom(call, r, edge); err != nil {
		w.failed(err, before)
	}
}

// due reports whether to take a reading at an edge, and whether with statements. Where the steady span begins and ends
// all is read at any pace: an amount is spread evenly between two readings, so that one across an end would mix the span
// with the warm-up, or with the time after the load.
func (w *watch) due(edge time.Duration) (reading, statements bool) {
	window := int64(edge / w.subject.Window)
	if w.ledger.isSteady(window) != w.ledger.isSteady(window-1) {
		return true, true
	}
	return w.pace.due(window), w.statementPace.due(window)
}

// read takes a reading; nil if it failed.
func (w *watch) read(ctx context.Context, statements bool) (r *server.Reading, before, after time.Duration) {
	before = w.subject.Clock.Now()
	r, err := w.session.Read(ctx, statements)
	after = w.subject.Clock.Now()
	if err != nil {
		w.failed(err, before)
		return nil, before, after
	}
	w.samples++
	if w.session.CheckOwner(r) {
		w.say(server.PoolerNote)
	}
	return r, before, after
}

// readLast reads what was counted since the last reading, which at a slow pace is seconds ago. It comes at no edge, so it
// says nothing of sessions.
func (w *watch) readLast(ctx context.Context) {
	if w.session == nil || w.samples == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, server.CallTimeout)
	defer cancel()
	if r, before, after := w.read(ctx, true); r != nil {
		w.count(r, before, after)
		_ = w.ledger.meter.Flush(w.sink) // the conductor reports a full disk
	}
}

// failed distinguishes an error of a query from the loss of the server. After an
// error of a query (a timeout on a busy server) the reading is lost and later ones
// become rarer.
func (w *watch) failed(err error, at time.Duration) {
	if w.session.Conn.IsClosed() {
		w.lost.begin(w.lastAt, err)
		w.disconnect()
		w.ledger.blank()
		// The server may have restarted, so differences from the old totals would be negative,
		// or a jump.
		w.commits, w.pool, w.keeping = ownCount{}, pool{}, server.Keeping{}
		w.retryAt, w.backoff = at, 50*time.Millisecond
		return
	}
	w.failures.add(at, err)
	w.pace.took(server.CallTimeout, w.subject.Window)
}

// reconnect tries again when it is due.
func (w *watch) reconnect(ctx context.Context, edge time.Duration) {
	if edge < w.retryAt {
		return
	}
	session, err := open(ctx, w.subject.DSN, w.subject.Clock)
	if err != nil {
		w.backoff = min(2*w.backoff, maxBackoff)
		w.retryAt = edge + w.backoff
		return
	}
	restarted := !session.Started.Equal(w.started)
	w.session, w.started = session, session.Started
	w.ledger.planning = session.Queries.Planning
	maps.Copy(w.ledger.own, session.Own)
	w.lost.end(w.subject.Clock.Now(), restarted)
}

// disconnect drops the session. The next edge reconnects.
func (w *watch) disconnect() {
	if w.session != nil {
		w.session.Close()
		w.session = nil
	}
}

// count dates a reading and delivers what it counts.
func (w *watch) count(r *server.Reading, before, after time.Duration) {
	clock, meter := &w.session.Clock, &w.ledger.meter
	if r.Database {
		if clock.Sandwich(before, after, r.CountedAt.After) {
			w.say(fmt.Sprintf("the server's clock was set %s into the run: from then on it is estimated from round trips",
				notation.Time(after)))
		}
		at := w.bracket.Add(clock.Bracket(r.CountedAt.Before, r.CountedAt.After))
		meter.Count(series.DBCommits, "", at, w.commits.without(r.Commits, w.session.Transactions))
		meter.Count(series.DBRollbacks, "", at, float64(r.Rollbacks))
		for i, name := range databaseMore {
			meter.Count(name, "", at, r.More[i])
		}
		if r.Opened != nil {
			meter.Count(series.DBSessions, "", at, float64(*r.Opened))
		}
	}
	if r.Statements != nil {
		at := before + (after-before)/2 // for a reading without an entry
		if !r.StatedAt.Before.IsZero() {
			at = w.bracket.Add(clock.Bracket(r.StatedAt.Before, r.StatedAt.After))
		}
		w.statements(r, at)
	}
	if w.session.CPU != nil {
		var used time.Duration
		at, err := w.bracket.Read(w.subject.Clock, func() (err error) { used, err = w.session.CPU.Read(r.Processes); return err })
		if err == nil {
			meter.Count(series.DBCPU, "", at, float64(used))
		} else {
			w.say(fmt.Sprintf("the CPU of the server's processes: %v", err))
		}
	}
	w.lastAt = w.subject.Clock.Now() // not after: the CPU of the server's processes is read later
}

// show delivers the sessions as a reading at an edge finds them.
func (w *watch) show(r *server.Reading, edge time.Duration) {
	meter := &w.ledger.meter
	for _, state := range []string{"active", "idle", "idle in transaction"} {
		r.States[state] += 0 // no session in a state is zero, not a gap
	}
	w.gauges(series.DBBackends, "state", edge, r.States)
	w.gauges(series.DBWaits, "event", edge, r.Waits)
	meter.Gauge(series.DBBlocked, "", edge, float64(len(r.Blocked)))
	meter.Gauge(series.DBMax, "", edge, w.session.MaxConnections)
	meter.Gauge(series.DBOldest, "", edge, float64(r.Oldest))
	w.pool.deliver(meter, edge, r.Clients)
}

// gauges delivers one gauge per label value, zero for those seen before but not
// now.
func (w *watch) gauges(name, label string, edge time.Duration, values map[string]int) {
	const maxLabels = 300 // wait events are some 250; a hostile server may make up more
	if w.seen == nil {
		w.seen = map[string]map[string]bool{}
	}
	if w.seen[name] == nil {
		w.seen[name] = map[string]bool{}
	}
	for value := range values {
		if len(w.seen[name]) < maxLabels {
			w.seen[name][value] = true
		}
	}
	// Values that disappeared are written as 0: a gap would mean that they were not
	// observed.
	for value := range w.seen[name] {
		w.ledger.meter.Gauge(name, series.Labels(label, value), edge, float64(values[value]))
	}
}

// askSeldom runs the queries that are too costly for every window.
func (w *watch) askSeldom(ctx context.Context, r *server.Reading, edge time.Duration) error {
	holding := map[string]int{}
	if len(r.Blocked) > 0 {
		by, involved, err := w.session.blockers(ctx, r.Blocked)
		if err != nil {
			return fmt.Errorf("query blockers: %w", err)
		}
		w.chains.add(edge, by, involved)
		for _, pid := range slices.Compact(slices.Sorted(maps.Values(by))) {
			holding[involved[pid].State]++
		}
	}
	w.gauges(series.DBBlockers, "state", edge, holding)
	idle, err := w.session.readIdle(ctx)
	if err != nil {
		return fmt.Errorf("query idle sessions: %w", err)
	}
	w.idles.add(edge, idle)
	if whole, err := w.session.ReadWhole(ctx); err == nil {
		w.deliverWhole(whole)
	} else if w.session.Conn.IsClosed() {
		return err
	} else {
		w.say(err.Error())
	}
	if edge < w.textsAt {
		return nil
	}
	// An application whose texts keep changing must not make us read all of
	// them every second; the last ones come after the load.
	w.textsEvery = min(max(2*w.textsEvery, seldom), 16*seldom)
	w.textsAt = edge + w.textsEvery
	return w.fetchTexts(ctx)
}

// ownCount subtracts our own transactions from the database's. Backends report at
// most once a second, so ours arrive in lumps, and the difference is kept from
// falling.
type ownCount struct {
	own  int64 // made until the last reading
	from int64 // made before the database's statistics were reset
	last int64
	raw  int64
}

// without takes the database's transactions and the number of ours so far.
func (o *ownCount) without(commits, own int64) float64 {
	if commits < o.raw { // the database's statistics were reset
		*o = ownCount{from: o.own}
	}
	o.own, o.raw = own, commits
	// It never falls: as long as our own lump is not yet reported, the difference would
	// subtract commits of the target.
	o.last = max(o.last, commits-(own-o.from))
	return float64(o.last)
}

// deliverWhole delivers the whole server's figures.
func (w *watch) deliverWhole(r *server.Whole) {
	meter := &w.ledger.meter
	from, to := w.session.Clock.Bracket(r.At.Before, r.At.After)
	at := from + (to-from)/2
	count := func(name, labels string, value *float64, unit float64) {
		if value != nil {
			meter.Count(name, labels, at, *value*unit)
		}
	}
	const ms = float64(time.Millisecond) // the unit of times in these views
	count(series.DBWAL, "", r.WAL, 1)
	count(series.DBCheckpoints, "kind=timed", r.Timed, 1)
	count(series.DBCheckpoints, "kind=requested", r.Requested, 1)
	count(series.DBCheckpointTime, "phase=write", r.Write, ms)
	count(series.DBCheckpointTime, "phase=sync", r.Sync, ms)
	count(series.DBBuffersWritten, "by=checkpointer", r.ByCheckpointer, 1)
	count(series.DBBuffersWritten, "by=bgwriter", r.ByWriter, 1)
	count(series.DBBuffersWritten, "by=backend", r.ByBackends, 1)
	for _, row := range r.IO {
		for i, op := range server.IOOps {
			labels := series.Labels("by", row.By, "op", op)
			count(series.DBIO, labels, &row.Operations[i], 1)
			if w.session.Timing {
				count(series.DBIOTime, labels, &row.Times[i], ms)
			}
		}
	}
}
