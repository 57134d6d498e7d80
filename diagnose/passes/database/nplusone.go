package database

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

const (
	// manyCalls of one statement per request, on average over all kinds of
	// request: two may be what a page needs.
	manyCalls = 2.5
	// manyExcess calls per request beyond the first, over all statements that are
	// repeated: what one statement each would save.
	manyExcess = 2
	// repeated is when a statement counts as repeated, so that a retry or a page
	// that asks twice does not.
	repeated = 1.5
	// manyWaits per request at one place, where statements are not counted: a
	// query may wait for the network twice (prepare, a large answer).
	manyWaits = 8
	// leastRepeatShare of request time that the repeated calls take.
	leastRepeatShare = 0.15
)

// NPlusOne finds statements that a request runs again and again.
var NPlusOne = diagnose.Analyzer{
	Name:  "n-plus-one",
	Stage: diagnose.Database,
	Doc: "Divides the calls of each statement by the requests: one must run 2.5 times per request, and all repeated " +
		"ones together twice more than needed. Without statement statistics 8 database waits per request at one " +
		"place of the user's code count. The calls must take 15 % of request time.",
	Causes: []diagnose.Cause{{
		ID:     "db-n-plus-one",
		Title:  "A request runs the same statement many times",
		Doc:    "One statement is called several times per request, once for each row of another.",
		Remedy: "A join, or one statement with = ANY($1) for all keys; GORM: Preload.",
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	Run:   runNPlusOne,
}

func runNPlusOne(p *diagnose.Pass) ([]diagnose.Finding, error) {
	all := p.Statements()
	if all == nil || len(all.Statements) == 0 {
		return fromWaits(p), nil
	}
	share, source, ok := requestShare(p)
	if !ok {
		p.Unjudged("db-n-plus-one", "neither the requests' own time nor the load's service time is known")
		return nil, nil
	}
	if source == diagnose.FromTrace {
		// Each call also costs the service itself: encoding, decoding, a wake-up.
		// That time on a CPU and in its queue goes with the call.
		share = min(1, share+p.Waits().OnCPU()*clientCPU(p))
	}
	lead, each, excess, part := repetition(p, all)
	if each < manyCalls || excess < manyExcess || share*part < leastRepeatShare {
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "db-n-plus-one", Share: share * part, ShareOf: diagnose.OfRequest, GainCeiling: diagnose.Ceiling(share * part),
		Confidence: record.Medium, Where: record.Where{SQL: lead.Text},
		Evidence: []record.Evidence{
			diagnose.Fact(diagnose.FromPostgres, each, diagnose.Ratio, "the statement runs %.1f times per request (%d calls, %.0f requests)", each, lead.Calls, p.Load().Requests),
			diagnose.Fact(diagnose.FromPostgres, excess, diagnose.Ratio, "%.1f calls per request repeat a statement that it ran already", excess),
			diagnose.Fact(source, share, diagnose.Ratio, "the database and talking to it take %s of request time", diagnose.Percent(share)),
		},
	}
	if cpu, ok := callCPU(p); ok {
		// Throughput is then CPUs over CPU per request, and a call that is not
		// made saves its CPU on both sides, whatever requests queue for.
		f.GainCeiling = diagnose.Ceiling(cpu * part)
	}
	at := ""
	if site, ok := busiest(p); ok {
		f.Where.Function, f.Where.File, f.Where.Line = site.Place.Function, site.Place.File, site.Place.Line
		at = " at " + diagnose.At(site.Place)
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, site.Times, diagnose.Ratio, "a request waits %.1f times for the database%s", site.Times, at))
		if site.Times >= 2*manyCalls {
			f.Confidence = record.High
		}
	}
	f.Title = fmt.Sprintf("A request runs one statement %.0f times%s, which takes %s of its time", each, at, diagnose.Percent(share*part))
	f.Remedy = fmt.Sprintf("Fetch all rows with one statement (a join, or WHERE key = ANY($1); GORM: Preload) instead of: %s", brief(lead.Text))
	return []diagnose.Finding{f}, nil
}

// repetition returns the statement that runs most often, how often per request,
// how many calls per request are repeats over all statements, and their part of
// the database's work. Round trips cost about the same whatever they ask, so the
// part is the larger of calls and execution time.
func repetition(p *diagnose.Pass, all *record.Statements) (lead record.Statement, each, excess, part float64) {
	var calls, repeatedCalls, repeatedTime float64
	for _, s := range all.Statements {
		times := perRequest(p, float64(s.Calls))
		calls += times
		if !(times >= repeated) {
			continue
		}
		if times > each {
			lead, each = s, times
		}
		excess += times - 1
		repeatedCalls += times - 1
		repeatedTime += diagnose.StatementShare(all, s) * (1 - 1/times)
	}
	if calls > 0 {
		part = max(repeatedCalls/calls, repeatedTime)
	}
	return lead, each, excess, part
}

// fromWaits judges from the anatomy alone.
func fromWaits(p *diagnose.Pass) []diagnose.Finding {
	if !p.Has(diagnose.NeedAnatomy) {
		p.Unjudged("db-n-plus-one", "it needs statement statistics (--postgres) or an execution trace")
		return nil
	}
	site, ok := busiest(p)
	if !ok || site.Times < manyWaits || site.Share < leastRepeatShare {
		return nil
	}
	part := 1 - 1/site.Times
	return []diagnose.Finding{{
		Cause: "db-n-plus-one", Share: site.Share * part, ShareOf: diagnose.OfRequest,
		GainCeiling: gain(p, site.Share, part), Confidence: record.Medium, Where: diagnose.WhereOf(site.Place),
		Title:    fmt.Sprintf("A request waits for the database %.0f times at %s, %s of its time", site.Times, diagnose.At(site.Place), diagnose.Percent(site.Share)),
		Evidence: []record.Evidence{diagnose.Fact(diagnose.FromTrace, site.Times, diagnose.Ratio, "a request waits %.1f times for the database at %s, %s each", site.Times, diagnose.At(site.Place), diagnose.Span(site.NS/site.Times))},
		Remedy:   fmt.Sprintf("Fetch what the loop at %s asks for with one statement (a join, or WHERE key = ANY($1); GORM: Preload).", diagnose.At(site.Place)),
	}}
}

// busiest returns the user's place that waits for the database most often.
func busiest(p *diagnose.Pass) (best diagnose.Site, ok bool) {
	for _, s := range p.Waits().Sites(callstack.DatabaseWait) {
		if s.Times > best.Times {
			best, ok = s, true
		}
	}
	return best, ok
}
