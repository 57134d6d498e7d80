package database

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

const (
	// manyCalls of one statement per request, on average over all kinds of
	// request: two or three may be what a page needs.
	manyCalls = 4
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
	Doc: "Divides the calls of each statement by the requests; 4 per request count. Without statement statistics 8 " +
		"database waits per request at one place of the user's code count. The calls must take 15 % of request time.",
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
	var calls, most int64
	var lead record.Statement
	for _, s := range all.Statements {
		calls += s.Calls
		if s.Calls > most {
			lead, most = s, s.Calls
		}
	}
	each := perRequest(p, float64(most))
	// Round trips cost about the same whatever they ask, so a statement's part is
	// the larger of its part of calls and of execution time.
	part := max(float64(most)/float64(max(1, calls)), diagnose.StatementShare(all, lead)) * (1 - 1/max(1, each))
	if !(each >= manyCalls) || share*part < leastRepeatShare {
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "db-n-plus-one", Share: share * part, ShareOf: diagnose.OfRequest, GainCeiling: gain(p, share, part),
		Confidence: record.Medium, Where: record.Where{SQL: lead.Text},
		Evidence: []record.Evidence{
			diagnose.Fact(diagnose.FromPostgres, each, diagnose.Ratio, "the statement runs %.1f times per request (%d calls, %.0f requests)", each, most, p.Load().Requests),
			diagnose.Fact(source, share, diagnose.Ratio, "the database takes %s of request time", diagnose.Percent(share)),
		},
	}
	at := ""
	if site, ok := busiest(p); ok {
		f.Where.Function, f.Where.File, f.Where.Line = site.Place.Function, site.Place.File, site.Place.Line
		at = " at " + diagnose.At(site.Place)
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, site.Times, diagnose.Ratio, "a request waits %.1f times for the database%s", site.Times, at))
		if site.Times >= manyCalls {
			f.Confidence = record.High
		}
	}
	f.Title = fmt.Sprintf("A request runs one statement %.0f times%s, which takes %s of its time", each, at, diagnose.Percent(share*part))
	f.Remedy = fmt.Sprintf("Fetch all rows with one statement (a join, or WHERE key = ANY($1); GORM: Preload) instead of: %s", brief(lead.Text))
	return []diagnose.Finding{f}, nil
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
