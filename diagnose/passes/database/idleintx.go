package database

import (
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/diagnose/passes/database/sessions"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/statement"
)

const (
	// leastHarm is the part of request time spent queueing behind idle
	// transactions, for their connections or their locks. Without a queue an open
	// transaction costs nothing that a comparison could show. The corpus has 0.8
	// (refund-desk, stock-reserve); the healthy sensor-ingest has none.
	leastHarm = 0.20
	// leastInside is the part of a transaction's idle time that waits elsewhere
	// must explain. Round trips between statements also leave it idle, and then no
	// such wait does (wallet-debit, seat-sale: 0).
	leastInside = 0.5
	// leastIdleHold is the idle part of the time that a transaction is open.
	leastIdleHold = 0.5
)

// IdleInTx finds transactions that stay open while the service does something else.
//
// Two sources must agree. The server says how long sessions are idle in transaction
// (pg_stat_activity), but not why; the trace says what a function that transacts
// waits for, but not whether it does so inside the transaction. By Little's law
// idle sessions over the request rate is the idle time per request, which is
// comparable with the trace's. And requests must queue, or the open transaction
// costs nothing.
var IdleInTx = diagnose.Analyzer{
	Name:  "idle-in-tx",
	Stage: diagnose.Database,
	Doc: "Looks for waits for anything but the database below a function that begins or ends transactions. They must explain " +
		"at least half of the time that sessions are idle in transaction. That must be at least half of the time that " +
		"transactions are open, and requests must queue for connections, or for locks of idle sessions, for at least 20 % of " +
		"their time. Without the server's sessions, a timeline must show the wait between begin and end.",
	Causes: []diagnose.Cause{idleInTx},
	Needs:  []diagnose.Need{diagnose.NeedLoad, diagnose.NeedAnatomy},
	Run:    runIdleInTx,
}

// runIdleInTx measures the harm last. Its share is what requests wait because of
// the open transactions (the pool's queue and the locks), not how long those are
// open.
func runIdleInTx(p *diagnose.Pass) ([]diagnose.Finding, error) {
	in, ok := insideTransactions(p)
	if !ok {
		return nil, nil
	}
	idle, seen := demand.Label(p, series.DBBackends, func(l string) bool { return series.Label(l, "state") == "idle in transaction" })
	active, _ := demand.Label(p, series.DBBackends, func(l string) bool { return series.Label(l, "state") == "active" })
	f := diagnose.Finding{Cause: "db-idle-in-tx", ShareOf: diagnose.OfRequest, Confidence: findings.Medium,
		Where: diagnose.WhereOf(in.owner)}
	w := p.Waits()
	queue := w.Share(callstack.PoolWait)
	if seen {
		// Each must explain half of the other: with less, the waits lie before
		// BEGIN or after COMMIT. Sessions that wait for another's lock are active
		// but are victims; they do not count as working in their transactions.
		each := 1e9 * idle / p.Load().Rate
		if in.ns < leastInside*each || each < leastInside*in.ns || idle < leastIdleHold*(idle+active-blockedSessions(p)) {
			return nil, nil
		}
		f.Confidence = findings.High
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, idle, diagnose.Count,
			"%s sessions are idle in transaction on average, %s per request; %s are active",
			diagnose.Times(idle), diagnose.Span(each), diagnose.Times(active)))
	} else if hold := in.ns + w.NS(callstack.DatabaseWait, callstack.PrepareWait); in.ns < leastIdleHold*hold || !in.between(p.Anatomy) {
		return nil, nil
	}
	locks, blocker := idleBlockers(p)
	if f.Share = min(1, queue+locks); f.Share < leastHarm {
		// The report says what was seen and why it is harmless, because requests
		// may queue under another load.
		p.Reject("db-idle-in-tx", "transactions stay open for %s while requests do something else at %s, but "+
			"no request queues behind them", diagnose.Span(in.ns), diagnose.At(in.at))
		return nil, nil
	}
	// Who holds what requests queue for waits for something outside of this host's CPUs.
	diagnose.Promise(&f, p.Elsewhere(f.Share))
	f.Title = fmt.Sprintf("Transactions of %s stay open while %s at %s: requests queue behind them for %s of their time",
		callstack.Short(in.owner.Function), in.doing(), diagnose.At(in.at), diagnose.Percent(f.Share))
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, in.ns, diagnose.Nanosec,
		"the mean request waits %s at %s inside its transaction", diagnose.Span(in.ns), diagnose.At(in.at)))
	if queue > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, queue, diagnose.Ratio,
			"requests wait %s of their time for a connection", diagnose.Percent(queue)))
	}
	if locks > 0 {
		f.Where.SQL = blocker
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, locks, diagnose.Ratio,
			"they wait %s of their time for locks that idle transactions hold, taken by: %s",
			diagnose.Percent(locks), statement.Brief(blocker)))
	} else if text := lastOfIdle(p, "idle in transaction"); text != "" {
		f.Where.SQL = text
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, idle, diagnose.Count,
			"most of them last ran: %s", statement.Brief(text)))
	}
	f.Remedy = fmt.Sprintf("Move the work that waits at %s out of the transaction: do it before the transaction begins, or "+
		"commit first and record the outcome in a second, short transaction (use an outbox if both must succeed).", diagnose.At(in.at))
	return []diagnose.Finding{f}, nil
}

// inside is what requests wait for, other than the database, inside transactions.
type inside struct {
	ns    float64    // per request
	at    code.Frame // the longest of the waits
	kind  callstack.Wait
	owner code.Frame // the function that both transacts and waits
	// transacts and waits hold sites as timelines name them.
	transacts, waits map[string]bool
}

// insideTransactions gathers waits below the user's functions that begin or end a
// transaction. Such a function may also wait before BEGIN or after COMMIT, so the
// server's sessions or a timeline must agree. Closures count as the function around
// them: pgx.BeginFunc and gorm's Transaction run the transaction's body in one.
func insideTransactions(p *diagnose.Pass) (in inside, ok bool) {
	in.transacts, in.waits = map[string]bool{}, map[string]bool{}
	owners := map[string]bool{}
	for _, part := range p.Anatomy.All {
		if p.Stacks.Find(part.Stack, callstack.DBTransact) < 0 {
			continue
		}
		in.transacts[part.Site] = true
		for _, f := range part.Stack {
			if p.Stacks.User(f) {
				owners[callstack.Enclosing(f.Function)] = true
			}
		}
	}
	longest := int64(0)
	for _, part := range p.Anatomy.All {
		kind := p.Stacks.Wait(part)
		if len(part.Stack) == 0 || !elsewhere(kind) {
			continue
		}
		i := slices.IndexFunc(part.Stack, func(f code.Frame) bool {
			return p.Stacks.User(f) && owners[callstack.Enclosing(f.Function)]
		})
		if i < 0 {
			continue
		}
		in.ns += float64(part.NS)
		in.waits[part.Site] = true
		if part.NS > longest {
			longest, in.kind, in.owner = part.NS, kind, part.Stack[i]
			in.at, _ = p.Stacks.Place(part.Stack)
		}
	}
	return in, in.ns >= leastPoolNS
}

// elsewhere reports whether a wait is for something other than the database, the
// CPU or the request's own client.
func elsewhere(kind callstack.Wait) bool {
	switch kind {
	case callstack.Busy, callstack.Queued, callstack.Collector, callstack.StopWait, callstack.ClientWait, callstack.OtherWait,
		callstack.PoolWait, callstack.ConnectWait, callstack.PrepareWait, callstack.DatabaseWait:
		return false
	}
	return true
}

// doing words what the transactions stay open for, as a clause after "while".
func (in inside) doing() string {
	switch in.kind {
	case callstack.HTTPWait, callstack.HTTPOpen, callstack.RPCWait, callstack.NetworkWait:
		return "requests call another service"
	case callstack.OwnServer:
		return "requests call the service's own server"
	case callstack.SleepWait:
		return "requests wait for a timer"
	}
	return "requests wait for something else (" + string(in.kind) + ")"
}

// between reports whether the timeline of a slow request shows the wait between two
// steps of a transaction. It stands in for the server's sessions where they were
// not observed.
func (in inside) between(a *breakdown.Anatomy) bool {
	for _, line := range a.Slowest {
		step := 0
		for _, s := range line.Segments {
			switch {
			case step == 0 && in.transacts[s.Site], step == 1 && in.waits[s.Site], step == 2 && in.transacts[s.Site]:
				step++
			}
		}
		if step == 3 {
			return true
		}
	}
	return false
}

// idleBlockers returns the part of request time spent waiting for locks of sessions
// that are idle in transaction, and the statement that most of those ran last. 0 if
// most holders are working: then their statement is the cause.
func idleBlockers(p *diagnose.Pass) (share float64, statement string) {
	b, ok := sessions.Blockers(p)
	if !ok || b.Idle < 0.5 {
		return 0, ""
	}
	l, ok := lockWait(p)
	if !ok {
		return 0, ""
	}
	return l.share * b.Idle, b.Statement
}

// blockedSessions returns the mean number of active sessions that wait for another.
func blockedSessions(p *diagnose.Pass) float64 {
	blocked, _ := p.Mean(series.DBBlocked, "")
	return blocked
}

// lastOfIdle returns the statement that most sessions in an idle state ran last.
func lastOfIdle(p *diagnose.Pass, state string) string {
	all := p.Statements()
	if all == nil {
		return ""
	}
	for _, one := range all.Idle { // most sessions first
		if one.State == state {
			return sessions.TextOf(all, one.QueryID, one.Text)
		}
	}
	return ""
}
