package database

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/passes/database/asker"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/diagnose/passes/database/driver"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/statement"
)

const (
	// leastPoolNS is the least wait per request: a shorter one is just a hand-over
	// between goroutines.
	leastPoolNS = 100e3
	// reserve is the part of the server's max_connections that is left to others.
	reserve = 0.2
)

// PoolWait finds pools that are too small.
//
// The queue alone proves nothing: behind a saturated CPU a larger pool only moves
// the queue into the database, where it costs more (admission control). So the gain
// is what idle CPUs allow, and whatever holds connections for long is the root
// cause, from which this finding follows.
var PoolWait = diagnose.Analyzer{
	Name:  "pool-wait",
	Stage: diagnose.Database,
	Doc: "Sums waits for a connection of database/sql, pgxpool and other pools. They count at 20 % or more of request time " +
		"and at least 100 µs. On saturated CPUs a queue at the pool is admission control and not reported, unless the pool " +
		"is no larger than the number of CPUs and requests spend most of their time there.",
	Causes: []diagnose.Cause{poolWait},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	After:  []string{"lock-wait"},
	Run:    runPoolWait,
}

// mostBlocked is the part of a pool's connections that sessions waiting for a lock must hold for the queue to be theirs.
const mostBlocked = 0.5

// runPoolWait notes the functions through which requests reach the pool (Reached),
// so that a slow statement of another pool is not taken for its root cause. Sessions that wait for a lock may hold it up whatever
// runs them: models-as-a-service updates a key's last use in goroutines that no request waits for.
func runPoolWait(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	share, ns := w.Share(callstack.PoolWait), w.NS(callstack.PoolWait)
	if share < demand.LeastPoolShare || ns < leastPoolNS {
		return nil, nil
	}
	site := w.Sites(callstack.PoolWait)[0]
	s, through := sizeOf(p, p.WaitGain(share)), demand.Through(p)
	if l, ok := lockWait(p); ok && l.blocked >= mostBlocked*s.now {
		for _, f := range p.Findings("lock-wait") {
			through = append(through, f.Where.Function)
		}
	}
	p.Reached("db-pool-wait", through)
	f := diagnose.Finding{
		Cause: "db-pool-wait", Share: share, ShareOf: diagnose.OfRequest, Confidence: findings.High,
		Where: diagnose.WhereOf(site.Place),
		Title: fmt.Sprintf("Requests wait %s of their time for a database connection%s",
			diagnose.Percent(share), placed(w.Sites(callstack.PoolWait))),
	}
	diagnose.Promise(&f, p.Waited(share))
	if c := p.CPU(); c.Saturated() {
		f.Confidence = findings.Medium
		// A pool no larger than the number of CPUs can itself keep them from the
		// remaining work.
		if share >= 0.5 && s.now <= c.CPUs {
			f.GainCeiling = max(f.GainCeiling, diagnose.MinGain)
		}
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, ns, diagnose.Nanosec,
		"the mean request waits %s for a connection and then holds one for about %s", diagnose.Span(ns), diagnose.Span(s.hold)))
	if use := p.CPU().Use(); !math.IsNaN(use) {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, use, diagnose.Ratio,
			"the CPUs are %s busy", diagnose.Percent(min(1, use))))
	}
	f.Evidence = append(f.Evidence, s.evidence())
	f.Remedy = s.remedy(driver.PoolSize(demand.PoolOf(p, site.Part.Stack)))
	if who, ok := holders(p); ok {
		f.Evidence = append(f.Evidence, who)
	}
	if demand.InProcess(p) {
		f.Confidence, f.Remedy = findings.Medium, inProcessPool
	}
	return []diagnose.Finding{f}, nil
}

// size is the number of connections that a pool has and needs.
type size struct {
	hold   float64 // ns a request holds a connection
	now    float64 // connections in use, on average
	bound  bool    // now is the pool's bound, by its own figures
	source string  // of now
	wanted float64 // connections for the rate that the load and the idle CPUs allow
}

// sizeOf applies Little's law: connections in use are the rate times how long one is
// held. The wanted size is the same law at the rate that the gain would reach, and
// never more than the requests that would be in the database at a time without any
// queue. Raising a pool to the load's concurrency instead overshoots the plateau, and
// throughput falls again.
func sizeOf(p *diagnose.Pass, gain float64) size {
	w, load := p.Waits(), p.Load()
	s := size{
		hold:   w.NS(callstack.DatabaseWait, callstack.PrepareWait, callstack.ConnectWait),
		source: diagnose.FromTrace,
	}
	if a, ok := p.Acquired(); ok && a.HeldNS > 0 && load.Requests > 0 {
		s.hold, s.source = demand.AskedPerRequest(p, a.HeldNS), diagnose.FromProbe
	}
	s.now = max(1, math.Round(load.Rate*s.hold/1e9))
	pool := waitedFor(p)
	if inUse, ok := p.Mean(series.PoolInUse, pool); ok && inUse > 0 {
		s.now, s.source = math.Round(inUse), diagnose.FromProbe
	}
	if most, ok := p.Max(series.PoolMax, pool); ok && most > 0 {
		s.now, s.bound, s.source = most, true, diagnose.FromProbe
	}
	rest := w.MeanNS() - w.NS(callstack.PoolWait)
	inFlight := load.Rate * w.MeanNS() / 1e9
	if rest > 0 {
		s.wanted = math.Ceil(min(inFlight*s.hold/rest, s.now*gain))
	}
	if limit, ok := p.Mean(series.DBMax, ""); ok && limit > 0 {
		s.wanted = min(s.wanted, math.Floor(limit*(1-reserve)))
	}
	return s
}

func (s size) evidence() findings.Evidence {
	if s.bound {
		return diagnose.Fact(s.source, s.now, diagnose.Count, "the pool opens at most %s",
			diagnose.Counted(s.now, "connection", "connections"))
	}
	return diagnose.Fact(s.source, s.now, diagnose.Count, "about %s in use at any time",
		diagnose.Counted(s.now, "connection is", "connections are"))
}

// nearlyAll is the part of a wait at one place from which a title names no other.
const nearlyAll = 0.9

// placed ends a title that states the time at all sites with where most of it is. The longest site comes first.
func placed(sites []waits.Site) string {
	at, there, all := sites[0].Place, 0.0, 0.0
	for _, s := range sites {
		all += s.NS
		if s.Place == at {
			there += s.NS
		}
	}
	switch {
	case there >= nearlyAll*all:
		return " at " + diagnose.At(at)
	case 2*there >= all:
		return ", most of it at " + diagnose.At(at)
	}
	return ", at several places such as " + diagnose.At(at)
}

// waitedFor returns the labels of the pool with the longest waits, as the pools
// themselves report; "", the labels of the sum over all pools, if none reports a wait.
func waitedFor(p *diagnose.Pass) (labels string) {
	most := 0.0
	for _, one := range p.Record.Labels(series.PoolWaitTime) {
		if ns, ok := p.Sum(series.PoolWaitTime, one); ok && ns > most {
			labels, most = one, ns
		}
	}
	return labels
}

// remedy promises no exact size: the law gives a first value, an experiment the
// plateau. settings are where the size is set.
func (s size) remedy(settings string) string {
	if s.wanted <= s.now {
		return "Hold connections for a shorter time: close rows and end transactions before other work. Then find the best " +
			"pool size by experiment."
	}
	return fmt.Sprintf("Raise the pool size (%s) from about %s towards %s: "+
		"that is Little's law at the rate that the idle CPUs allow, with connections held for %s. Stop when throughput stops "+
		"rising.", settings, diagnose.Number(s.now), diagnose.Number(s.wanted), diagnose.Span(s.hold))
}

// inProcessPool is the remedy for SQLite, where a larger pool moves the queue into
// SQLite's lock: writers poll there instead of getting the connection in turn.
const inProcessPool = "Leave the writing pool at one connection: SQLite has one writer at a time. Hold it for a shorter time " +
	"(fewer and shorter statements, no other work before rows are closed), and read through a second pool (mode=ro, about as " +
	"many connections as CPUs) with PRAGMA journal_mode=WAL, which lets readers work without waiting for the writer."

// holders lists the statements that hold connections longest, as counted by the
// hooks: three at most, from 5 % of the time. They are what to shorten if the pool
// must not grow.
func holders(p *diagnose.Pass) (findings.Evidence, bool) {
	asked := slices.Clone(p.Asked())
	slices.SortStableFunc(asked, func(a, b evidence.Asked) int { return cmp.Compare(b.Took(), a.Took()) })
	var parts []string
	for _, a := range asked[:min(3, len(asked))] {
		part, ok := asker.Held(p, a.Text)
		if !ok || part < 0.05 {
			break
		}
		text := fmt.Sprintf("%s (%s of the time, %s", statement.Brief(a.Text), diagnose.Percent(part),
			diagnose.PerRequest(demand.AskedPerRequest(p, a.Calls), "a call", "calls"))
		if by, ok := a.Heaviest(); ok {
			text += ", at " + diagnose.At(by.Place)
		}
		parts = append(parts, text+")")
	}
	if len(parts) == 0 {
		return findings.Evidence{}, false
	}
	return diagnose.Fact(diagnose.FromProbe, float64(len(parts)), "statements", "connections are held for %s",
		strings.Join(parts, "; ")), true
}
