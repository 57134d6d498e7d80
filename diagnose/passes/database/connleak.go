package database

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/diagnose/passes/database/sessions"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/statement"
)

const (
	// leastLeaked is how many more connections there must be at the end than
	// requests can be using.
	leastLeaked = 8
	// usable is how many connections requests may be using, as a multiple of the
	// requests that do not wait for one: bursts within a window need more than the
	// mean. voucher-redeem leaks 80 where 0.2 are in use.
	usable = 3
	// leastRise is the rise of the number of connections from the first third to
	// the last. A leak continues in the middle third; a pool that grew in a burst
	// stays as it is.
	leastRise = 5
	// leastSteps is the number of windows in which connections are added; a burst
	// adds them in one.
	leastSteps = 5
	// mostStep is the largest part of the rise that may fall into one window.
	mostStep = 0.5
)

// ConnLeak finds connections that are taken from the pool and not given back.
//
// No stack shows what is missing, so the rule is a balance: connections that exist,
// minus those that requests can be using by Little's law, must grow like a ratchet.
// The sessions' last statement then names the leak, because PostgreSQL keeps it in
// pg_stat_activity while the session is idle. It runs after pool-churn, because a
// leaking pool opens a new connection for each one lost and looks as if it churned.
var ConnLeak = diagnose.Analyzer{
	Name:  "conn-leak",
	Stage: diagnose.Database,
	Doc: "Compares the number of the database's sessions (or of the pool's connections in use) in thirds of the steady span. " +
		"It must rise by at least 5 in all, in at least 5 windows, not fall, and end at least 8 above three times the number " +
		"of requests that are in flight and do not wait for a connection; less than half of the sessions may be active.",
	Causes: []diagnose.Cause{connLeak},
	Needs:  []diagnose.Need{diagnose.NeedLoad},
	After:  []string{"pool-churn"},
	Run:    runConnLeak,
}

// runConnLeak promises no gain by itself: a leak hurts only when the pool is empty.
// If requests already queue for a connection, removing that queue is the gain, and
// confidence is high.
func runConnLeak(p *diagnose.Pass) ([]diagnose.Finding, error) {
	// Without the server's sessions or the pool's figures there is nothing to
	// count. That matters only to a service whose requests use a database.
	held, source, ok := heldConnections(p)
	if !ok {
		if !p.Has(diagnose.NeedAnatomy) || p.Waits().NS(demand.Waits()...) > 0 {
			p.Unjudged("db-conn-leak", "%s", unseenPool(p))
		}
		return nil, nil
	}
	first, last, ok := ratchet(held)
	if !ok {
		return nil, nil
	}
	working, queue := working(p)
	// Active sessions at the end are in use, however many: a burst of work is not
	// a leak.
	leaked := last - max(1, usable*working)
	if leaked < leastLeaked || activeAtEnd(p) > 0.5*last {
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "db-conn-leak", Share: min(1, leaked/last), ShareOf: diagnose.OfConnections, GainCeiling: 1, Confidence: findings.Medium,
		Title: fmt.Sprintf("%s are held at the end of the run, but only about %s are in use", diagnose.Number(last),
			diagnose.Times(working)),
		Evidence: []findings.Evidence{
			diagnose.Fact(source, last-first, diagnose.Count,
				"connections rise from %s to %s within the steady span and never fall", diagnose.Number(first), diagnose.Number(last)),
			diagnose.Fact(diagnose.FromLoad, working, diagnose.Count,
				"at any time about %s requests are in flight and do not wait for a connection", diagnose.Times(working)),
		},
		Remedy: "On every path, close whatever holds a connection: defer rows.Close() right after the error check, defer " +
			"tx.Rollback(), defer conn.Release().",
	}
	for _, churn := range p.Findings("pool-churn") {
		// Each lost connection is replaced by a newly opened one, so closing them
		// saves the churn too.
		f.GainCeiling = max(f.GainCeiling, churn.GainCeiling)
	}
	if queue >= demand.LeastPoolShare {
		f.GainCeiling, f.Confidence = max(f.GainCeiling, p.WaitGain(queue)), findings.High
		f.Title += fmt.Sprintf("; requests wait %s of their time for one", diagnose.Percent(queue))
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, queue, diagnose.Ratio,
			"requests wait %s of their time for a connection that never comes", diagnose.Percent(queue)))
	}
	if one, ok := longestIdle(p, leaked); ok {
		f.Confidence = findings.High
		f.Where.SQL = sessions.TextOf(p.Statements(), one.QueryID, one.Text)
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, float64(one.AtEnd), diagnose.Count,
			"%d sessions stay %s after this statement, one of them for %s: %s", one.AtEnd, one.State,
			diagnose.Span(float64(one.Longest)), statement.Brief(f.Where.SQL)))
		f.Remedy = fmt.Sprintf("On every path, close whatever this statement leaves open (defer rows.Close(), tx.Rollback() "+
			"or conn.Release() right after the error check): %s", statement.Brief(f.Where.SQL))
	}
	f.Title = "Database connections leak" + takenAt(p, &f) + ": " + f.Title
	return []diagnose.Finding{f}, nil
}

// takenAt sets the finding's place, and returns it for the title if it is sure.
func takenAt(p *diagnose.Pass, f *diagnose.Finding) string {
	at, sure, ok := taker(p, f.Where.SQL)
	if !ok {
		return ""
	}
	f.Where.Function, f.Where.File, f.Where.Line = at.Function, at.File, at.Line
	if !sure {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, 1, "places", "the place is inferred: of those that take "+
			"connections, requests wait longest at %s", diagnose.At(at)))
		return ""
	}
	return " at " + diagnose.At(at)
}

// heldConnections returns the number of connections in each observed window:
// sessions of the database, all states summed, or else the connections in use by
// the pool's own figures. ok is false if there are too few windows for a ratchet.
func heldConnections(p *diagnose.Pass) (values []float64, source string, ok bool) {
	var sum []float64
	for _, labels := range p.Record.Labels(series.DBBackends) {
		for i, v := range p.Series(series.DBBackends, labels).Values {
			if i >= len(sum) {
				sum = append(sum, math.NaN())
			}
			switch {
			case math.IsNaN(v):
			case math.IsNaN(sum[i]):
				sum[i] = v
			default:
				sum[i] += v
			}
		}
	}
	source = diagnose.FromPostgres
	if sum == nil {
		source = diagnose.FromProbe
		for _, labels := range p.Record.Labels(series.PoolInUse) {
			// The sum over all pools has no label, and comes first.
			if s := p.Series(series.PoolInUse, labels).Values; len(s) > len(sum) {
				sum = s
			}
		}
	}
	for _, v := range sum {
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values, source, len(values) >= 3*leastSteps
}

// ratchet reports whether values go up in steps over the whole span without going
// down; first and last are the means of the first and last sixth.
func ratchet(values []float64) (first, last float64, ok bool) {
	n := len(values)
	third := func(i int) float64 { return mean(values[i*n/3 : (i+1)*n/3]) }
	first, last = mean(values[:max(1, n/6)]), mean(values[n-max(1, n/6):])
	steps, largest, fall, top := 0, 0.0, 0.0, values[0]
	for i := 1; i < n; i++ {
		if d := values[i] - values[i-1]; d > 0 {
			steps, largest = steps+1, max(largest, d)
		}
		fall, top = max(fall, top-values[i]), max(top, values[i])
	}
	rise := third(2) - third(0)
	// An exhausted pool stops rising, so the middle third needs only a fifth
	// of the rise. A fall of a tenth is reading noise; more means that connections
	// come back.
	ok = rise >= leastRise && third(1)-third(0) >= 0.2*rise && steps >= leastSteps &&
		largest <= mostStep*(last-first) && fall <= max(2, 0.1*top)
	return first, last, ok
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// working returns how many requests are in flight on average that do not wait for a
// connection, by Little's law (Little 1961: L = λW), and the share of request time
// spent waiting for one. Each of those requests can be using a connection.
func working(p *diagnose.Pass) (requests, queue float64) {
	load := p.Load()
	if p.Has(diagnose.NeedAnatomy) {
		w := p.Waits()
		return load.Rate * (w.MeanNS() - w.NS(callstack.PoolWait)) / 1e9, w.Share(callstack.PoolWait)
	}
	return load.Rate * load.Service / 1e9, 0
}

// activeAtEnd returns the mean number of active sessions in the last sixth of the span.
func activeAtEnd(p *diagnose.Pass) float64 {
	s := slices.DeleteFunc(p.Series(series.DBBackends, series.Labels("state", "active")).Values, math.IsNaN)
	if len(s) == 0 {
		return 0
	}
	return mean(s[len(s)-max(1, len(s)/6):])
}

// longestIdle returns the statement after which most idle sessions sit at the end;
// ok if those are at least half of the leaked ones. Fewer can be the pool's
// ordinary idle connections.
func longestIdle(p *diagnose.Pass, leaked float64) (most database.Idle, ok bool) {
	all := p.Statements()
	if all == nil {
		return most, false
	}
	for _, one := range all.Idle {
		if one.AtEnd > most.AtEnd {
			most = one
		}
	}
	return most, float64(most.AtEnd) >= 0.5*leaked
}

// taker returns the user's place that takes the connections: as the hooks counted it, the one that runs the statement after which they
// sit idle, or else where requests wait for or open one, or for the database. sure is false where that is one of several.
func taker(p *diagnose.Pass, text string) (at code.Frame, sure, ok bool) {
	if a, known := p.AskedAs(text); known && text != "" {
		if by, ok := a.Lead(); ok && by.User {
			return by.Place, len(a.Callers) == 1, true
		}
	}
	sure = true
	for _, kind := range []callstack.Wait{callstack.PoolWait, callstack.ConnectWait, callstack.DatabaseWait, callstack.PrepareWait} {
		for _, s := range p.Waits().Sites(kind) {
			if !s.User {
				continue
			}
			if !ok {
				at, ok = s.Place, true
			}
			sure = sure && s.Place == at
		}
	}
	return at, sure, ok
}

// unseenPool says which source of connection counts was missing.
func unseenPool(p *diagnose.Pass) string {
	if p.UsesOnly(callstack.SQLite) {
		return "the pool's own figures (--build, or redline/probe/pool) were not observed, and SQLite has no sessions"
	}
	if p.UsesOnly(callstack.MySQL) {
		return "the pool's own figures (--build, or redline/probe/pool) were not observed, and redline reads no sessions of MySQL"
	}
	return "neither the database's sessions (--postgres) nor the pool's own figures (--build, or redline/probe/pool) were observed"
}
