package database

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/statement"
)

// repeated is a place's calls, most of which begin while the same call is in flight, and the waits for them.
type repeated struct {
	op                operation.Operation // the one called most
	calls, duplicates float64             // of all operations that are called there
	site              waits.Site
}

// sameOf finds the place at which requests wait longest of those where only some of them call, and the hooks saw most
// calls begin while the same call was in flight. A place at which each request calls has no cache, whatever it fetches, and neither
// has one at which each waits, if for another one's call: spicedb already shares the flight, and what it fetches is slow.
func sameOf(p *diagnose.Pass) (most repeated, ok bool) {
	ops, requests := p.Operations(), p.CountedRequests()
	if ops == nil {
		return most, false
	}
	for by, r := range callsByFunction(p, ops) {
		if r.duplicates < leastDuplicate*r.calls || r.calls < leastTraced || r.calls > mostMisses*requests {
			continue
		}
		site, missed := waitsAt(p, by.function)
		longer := site.NS > most.site.NS || site.NS == most.site.NS && r.op.ID < most.op.ID
		if missed > 0 && missed <= mostMisses && longer {
			r.site = site
			most, ok = *r, true
		}
	}
	return most, ok
}

// calling is a function, and whether it queries a database.
type calling struct {
	function string
	database bool
}

// callsByFunction sums the operations of which duplicates are counted by the functions that call them. A function that calls both a
// database and another service may cache the responses of one in the other.
func callsByFunction(p *diagnose.Pass, ops *operation.Operations) map[calling]*repeated {
	all := map[calling]*repeated{}
	for _, o := range ops.Operations {
		if o.Kind != operation.HTTP && !o.Kind.Statement() {
			continue
		}
		for _, c := range o.Callers {
			at, known := p.Stacks.Place(c.Stack)
			if !known {
				continue
			}
			key := calling{at.Function, o.Kind.Statement()}
			r := all[key]
			if r == nil {
				r = &repeated{op: o}
				all[key] = r
			}
			if o.Calls > r.op.Calls {
				r.op = o
			}
			r.calls, r.duplicates = r.calls+c.Share*float64(o.Calls), r.duplicates+c.Share*float64(o.Duplicates)
		}
	}
	return all
}

// waitsAt returns the waits for other programs in a function, as one site, and the part of requests that wait there: that of the most
// frequent wait, because a call may wait several times.
func waitsAt(p *diagnose.Pass, function string) (site waits.Site, missed float64) {
	var sites []waits.Site
	for _, s := range outsideSites(p) {
		if s.Place.Function == function {
			sites, missed = append(sites, s), max(missed, s.Times)
		}
	}
	if groups := waits.ByOwner(sites); len(groups) > 0 {
		return groups[0], missed
	}
	return site, 0
}

func (r repeated) findings(p *diagnose.Pass) []diagnose.Finding {
	v, ok := waitgain.Decide(p, r.site, natureOf(r.site.Wait))
	if !ok {
		return nil
	}
	part := r.duplicates / r.calls
	f := v.Finding(p, "cache-stampede", r.site)
	f.Confidence = findings.High
	f.Title = fmt.Sprintf("Requests fetch the same at the same time at %s: %s of the calls begin while the same call is in flight",
		diagnose.At(r.site.Place), diagnose.Percent(part))
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProbe, part, diagnose.Ratio,
		"%s in %s requests; %s of them begin while one for the same URL or with the same values is in flight: %s",
		diagnose.Counted(r.calls, "call", "calls"), diagnose.Number(p.CountedRequests()), diagnose.Percent(part),
		statement.Brief(r.op.Text)))
	if r.op.Kind.Statement() {
		f.Where.SQL = r.op.Text
		// On saturated CPUs a shorter wait gains nothing, but calls that are not made save what the server executes.
		diagnose.Promise(&f, demand.Executing(p, part*executedFor(p, r.op.Text)))
	}
	f.Remedy = fmt.Sprintf("Let one request fetch it while the rest wait for that or get the last value (golang.org/x/sync/singleflight "+
		"around %s), and refresh what a cache holds before it expires.", callstack.Short(r.site.Place.Function))
	p.Cover(f, f.Where.Function)
	return []diagnose.Finding{f}
}

// executedFor returns the part of what the server executes, 0 to 1, that is for the statement of an operation; 0 where the server did not
// count it.
func executedFor(p *diagnose.Pass, text string) (part float64) {
	all := p.Statements()
	if all == nil {
		return 0
	}
	for _, s := range all.Statements {
		if a, ok := p.AskedAs(s.Text); ok && a.Text == text {
			part += evidence.StatementShare(all, s)
		}
	}
	return min(1, part)
}
