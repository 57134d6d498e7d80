package database

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/passes/database/asker"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/statement"
)

const (
	// mostMisses is the largest part of requests that may make the call: a cache
	// answers the rest. front-teaser and hotel-prices miss 5 to 30 %.
	mostMisses = 0.6
	// leastTraced is how many traced requests must have made the call.
	leastTraced = 5
	// steadyCost: the mean call takes at least this part of a call in the tail.
	// Otherwise it is a dependency that stalls now and then.
	steadyCost = 0.3
	// leastQuiet is by how much the part of windows without a slow request must
	// exceed that under random misses: 60 windows, half of them quiet by chance,
	// have a standard deviation of √(0.25/60) = 0.065, and this is three of those.
	// hotel-prices has 0.6.
	leastQuiet = 0.2
	// leastBursts is the least number of bursts.
	leastBursts = 3
	// leastAtOnce is the least number of misses in a burst.
	leastAtOnce = 4
	// leastDuplicate is the share of calls that begin while the same call is in flight, from which most calls are needless:
	// a single flight would save that share.
	leastDuplicate = 0.5
)

// Stampede finds caches whose expiry makes many requests fetch the same thing.
//
// The cache itself is not visible. Visible is a call that only some requests make,
// that is always slow, and that comes in bursts with quiet windows between. Random
// misses, such as those of a small cache, form a Bernoulli process and leave fewer
// quiet windows. If many entries expire one after another, no window is quiet: then the hooks' count
// of calls that began while the same call was in flight decides. Package golang.org/x/sync/singleflight has the remedy.
var Stampede = diagnose.Analyzer{
	Name:  "cache-stampede",
	Stage: diagnose.Database,
	Doc: "Looks for a call (a statement, or to a service) that at most 60 % of requests make, that is always slow, and that " +
		"comes in at least three bursts of four or more: the windows without a slow request are more than random misses " +
		"would leave, by at least 20 % of all windows. If the hooks can distinguish calls, it is enough that half of them " +
		"begin while the same call is in flight. The wait must be long enough to count, like any other.",
	Causes: []diagnose.Cause{stampede},
	Needs:  []diagnose.Need{diagnose.NeedLoad, diagnose.NeedAnatomy},
	Run:    runStampede,
}

// runStampede needs a place that few requests reach, and latency in bursts or calls that fetch the same. A
// statement that runs many times in the windows in which it runs at all raises
// confidence to high.
func runStampede(p *diagnose.Pass) ([]diagnose.Finding, error) {
	if same, ok := sameOf(p); ok {
		if found := same.findings(p); len(found) > 0 {
			return found, nil
		}
	}
	site, missed, ok := missSite(p)
	if !ok {
		return nil, nil
	}
	b, ok := burstsOf(p, site.NS/site.Times, missed)
	if !ok {
		return nil, nil
	}
	v, ok := waitgain.Decide(p, site, natureOf(site.Wait))
	if !ok {
		return nil, nil
	}
	f := v.Finding(p, "cache-stampede", site)
	f.Confidence = findings.Medium
	f.Title = fmt.Sprintf("Many requests fetch each expired cache entry at once at %s: %s at a time, %s",
		diagnose.At(site.Place), diagnose.Number(b.size), diagnose.Counted(float64(b.count), "time", "times"))
	f.Evidence = append(f.Evidence,
		diagnose.Fact(diagnose.FromTrace, missed, diagnose.Ratio, "%s of requests make the call, %s each",
			diagnose.Percent(missed), diagnose.Span(site.NS/site.Times)),
		diagnose.Fact(diagnose.FromLoad, b.quiet, diagnose.Ratio, "%s of windows have no slow request; with random misses %s "+
			"would", diagnose.Percent(b.quiet), diagnose.Percent(b.chance)))
	if s, each, ok := burstStatement(p, site); ok {
		f.Where.SQL, f.Confidence = s.Text, findings.High
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, each, diagnose.Count,
			"one statement runs %s times in each window in which it runs at all: %s", diagnose.Number(each), statement.Brief(s.Text)))
	}
	f.Remedy = oneFlight(site.Place) + ", and add random jitter to the expiry times."
	p.Cover(f, f.Where.Function)
	return []diagnose.Finding{f}, nil
}

// oneFlight begins the remedy, for fetching at a place.
func oneFlight(place code.Frame) string {
	return fmt.Sprintf("Let one request fetch the entry while the rest wait for it or get the old value "+
		"(golang.org/x/sync/singleflight around %s, refresh before expiry)", callstack.Short(place.Function))
}

// natureOf is what waits of a kind are, of a call that all who miss make.
func natureOf(kind callstack.Wait) waitgain.Nature {
	if isDatabase(kind) {
		return waitgain.Queueing
	}
	return waitgain.Outside
}

// isDatabase reports whether a wait is for the database or for a connection to it.
func isDatabase(kind callstack.Wait) bool {
	switch kind {
	case callstack.DatabaseWait, callstack.PoolWait, callstack.PrepareWait, callstack.ConnectWait:
		return true
	}
	return false
}

// outsideSites are the waits for something outside the process. A request that waits for another one's call makes none: a
// stampede lacks exactly that.
func outsideSites(p *diagnose.Pass) (sites []waits.Site) {
	for _, kind := range []callstack.Wait{callstack.DatabaseWait, callstack.PoolWait, callstack.HTTPWait,
		callstack.HTTPOpen, callstack.RPCWait, callstack.NetworkWait} {
		for _, s := range p.Waits().Sites(kind) {
			if s.Via != callstack.FlightWait {
				sites = append(sites, s)
			}
		}
	}
	return sites
}

// missSite returns a place that waits for something outside the process and that
// only some requests reach, with all waits of its owner, and the part of requests
// that reach it, 0 to 1.
func missSite(p *diagnose.Pass) (site waits.Site, missed float64, ok bool) {
	w, sites := p.Waits(), outsideSites(p)
	groups := waits.ByOwner(sites)
	if len(groups) == 0 || w.NS(callstack.PoolWait, callstack.DatabaseWait) > 0 && len(sites) == 0 {
		return site, 0, false
	}
	site = groups[0]
	// A call may wait several times, so the number of calls is that of its most frequent
	// wait. Most requests may make no call.
	for _, s := range sites {
		if callstack.Owner(s.Place.Function) == callstack.Owner(site.Place.Function) {
			missed = max(missed, s.Times)
		}
	}
	if missed > mostMisses || missed*float64(p.Anatomy.Requests) < leastTraced || site.Times <= 0 {
		return site, 0, false
	}
	var tailNS, tailTimes float64
	for _, part := range p.Anatomy.Tail {
		if place, _ := p.Stacks.Place(part.Stack); len(part.Stack) > 0 &&
			callstack.Owner(place.Function) == callstack.Owner(site.Place.Function) {
			tailNS, tailTimes = tailNS+float64(part.NS), tailTimes+part.Times
		}
	}
	if tailTimes == 0 || site.NS/site.Times < steadyCost*tailNS/tailTimes {
		return site, 0, false
	}
	return site, missed, true
}

// bursts is how slow requests are spread over time.
type bursts struct {
	count  int     // stretches of windows with slow requests
	size   float64 // misses in each
	quiet  float64 // part of windows without a slow request
	chance float64 // the same under random misses
}

// burstsOf looks at the slowest request of each window, if a miss takes each ns. A
// window of n requests is quiet by chance with probability (1-missed)^n.
func burstsOf(p *diagnose.Pass, each, missed float64) (b bursts, ok bool) {
	slowest := p.Series(series.LoadLatency, series.Labels("q", "max")).Values
	requests := p.Series(series.LoadRequests, "").Values
	windows, quiet, chance, was := 0, 0, 0.0, false
	for i, v := range slowest {
		if math.IsNaN(v) || i >= len(requests) || !(requests[i] > 0) {
			continue
		}
		windows++
		chance += math.Pow(1-missed, requests[i])
		slow := v >= 0.5*each
		if !slow {
			quiet++
		} else if !was {
			b.count++
		}
		was = slow
	}
	if windows == 0 || b.count == 0 {
		return b, false
	}
	b.quiet, b.chance = float64(quiet)/float64(windows), chance/float64(windows)
	b.size = p.Load().Requests * missed / float64(b.count)
	return b, b.count >= leastBursts && b.size >= leastAtOnce && b.quiet-b.chance >= leastQuiet
}

// burstStatement returns the statement that takes the most time of those that the owner of a site runs in
// bursts, and how often it runs in the windows in which it runs at all.
func burstStatement(p *diagnose.Pass, site waits.Site) (s database.Statement, each float64, ok bool) {
	all := p.Statements()
	if !isDatabase(site.Wait) || all == nil {
		return s, 0, false
	}
	for _, s := range all.Statements {
		at, known := asker.Of(p, s)
		if !known || callstack.Owner(at.Place.Function) != callstack.Owner(site.Place.Function) {
			continue
		}
		if each := perBurst(p, s); each >= leastAtOnce {
			return s, each, true
		}
	}
	return s, 0, false
}

// perBurst returns how often a statement runs in the windows in which it runs at all; 0 if that is unknown.
func perBurst(p *diagnose.Pass, s database.Statement) float64 {
	windows, calls := 0, 0.0
	for _, v := range p.Series(series.StatementCalls, series.Labels("queryid", s.QueryID)).Values {
		if v > 0 {
			windows, calls = windows+1, calls+v
		}
	}
	return calls / float64(max(1, windows))
}
