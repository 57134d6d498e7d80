package cpu

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/findings"
)

// costlyMade returns what is made per request and to be named in place of the hottest function,
// where there is one: what a library makes, or else what the service makes.
func costlyMade(p *diagnose.Pass, hottest usage.Algorithm, ok bool) (usage.Built, bool) {
	own := ok && hottest.Work == 0
	if b, made := p.Built(); made && b.Share >= usage.LeastMade && (!own || b.Compiled && b.Share >= hottest.Share) {
		return b, true
	}
	b, made := p.Made()
	return b, made && !ok && b.Share >= leastMadeOwn
}

// madePerRequest returns the finding that a library makes something at a line of the service's, at
// most of what the line costs. All of it goes where what is made is kept, whatever the CPU goes
// into: maps, JSON, allocation.
func madePerRequest(p *diagnose.Pass, use *usage.Table, b usage.Built) diagnose.Finding {
	name, at := callstack.Short(b.Function), diagnose.At(b.Place)
	f := diagnose.Finding{
		Cause: "cpu-hot-function", Share: min(1, b.Share), ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(b.Place),
		Title: fmt.Sprintf("%s takes %s of the service's CPU, below the call at %s", name, diagnose.Percent(b.Share), at),
		Remedy: fmt.Sprintf("If what %s makes below %s does not depend on the request, make it once and keep it, by its input "+
			"where there are several.", name, at),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProfile, b.Share, diagnose.Ratio, "%s of %s, with what it allocates",
				diagnose.Percent(b.Share), samples(use)),
			diagnose.Fact(diagnose.FromProfile, b.Part, diagnose.Ratio, "%s of what %s spends", diagnose.Percent(b.Part), at),
		},
	}
	f.Where.Detail = "in " + name
	f.Evidence = append(f.Evidence, called(use, b.Place.Function)...)
	f.Evidence = append(f.Evidence, saturation(p)...)
	diagnose.Promise(&f, p.Ran(evidence.Work{Share: f.Share, Function: b.Place.Function}))
	worth := purposeful
	if b.Shared {
		worth = leastWorth
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, 1, diagnose.Count,
			"a singleflight group shares what it returns between requests, so it is not the request's own"))
	}
	switch f.Confidence = confidence(p, max(f.GainCeiling, alone(p, f.Share)), worth); {
	case !b.Compiled && !b.Shared:
		f.Confidence = findings.Low
	case !b.Compiled && f.Confidence == findings.High:
		f.Confidence = findings.Medium
	}
	return f
}
