package cpu

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/findings"
)

// leastCompiled is the share of something compiled whose removal gains wasteWorth, by Amdahl's law:
// what is compiled is used more than once, so compiling it belongs in no request.
const leastCompiled = 1 - 1/wasteWorth

// costlyMade returns something made per request that is to be named, if there is any: made by a
// library, or else by the service. alone says that it is named instead of the hottest function,
// because it takes as much; something smaller is named beside it only if it is compiled. Where the service has no hot function, a
// call of a dependency that takes most of the CPU is named like something made: its result may be kept.
func costlyMade(p *diagnose.Pass, hottest usage.Algorithm, ok bool) (b usage.Built, made, alone bool) {
	own := ok && hottest.Work == 0
	if b, made = p.Compiled(); made && b.Share >= leastCompiled {
		return b, true, !own || b.Share >= hottest.Share
	}
	if b, made = p.Built(); made && b.Share >= usage.LeastMade && !own {
		return b, true, true
	}
	if ok {
		return b, false, true
	}
	if b, made = p.Made(); made && b.Share >= leastMadeOwn {
		return b, true, true
	}
	b, made = p.Handed()
	return b, made, true
}

// madePerRequest returns the finding that something made at a line of the service takes most of
// the line's CPU. Keeping the result saves all of that, whether it is spent on maps, JSON or
// allocation.
func madePerRequest(p *diagnose.Pass, use *usage.Table, b usage.Built) diagnose.Finding {
	name, at := callstack.Short(b.Function), diagnose.At(b.Place)
	f := diagnose.Finding{
		Cause: "cpu-hot-function", Share: min(1, b.Share), ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(b.Place),
		Title: fmt.Sprintf("%s takes %s of the service's CPU, below %s", name, diagnose.Percent(b.Share), calledAt(b)),
		Remedy: fmt.Sprintf("If the result of %s below %s does not depend on the request, compute it once and cache it (one result per "+
			"input if there are several).", name, at),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProfile, b.Share, diagnose.Ratio, "%s of %s, including what it allocates",
				diagnose.Percent(b.Share), samples(use)),
		},
	}
	if b.Call != b.Function {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, b.Part, diagnose.Ratio,
			"%s of the CPU spent in %s", diagnose.Percent(b.Part), spender(b)))
	}
	if f.Where.Detail = "in " + name; callstack.Enclosing(b.Place.Function) == b.Function {
		f.Where.Detail = ""
		f.Title = fmt.Sprintf("%s takes %s of the service's CPU including everything it calls, most of it at %s", name,
			diagnose.Percent(b.Share), at)
		f.Remedy = fmt.Sprintf("Call %s less often, or cache its result for the same input.", name)
	}
	called(&f, use, b.Place.Function)
	f.Evidence = append(f.Evidence, saturation(p)...)
	diagnose.Promise(&f, p.Ran(evidence.Work{Share: f.Share, Function: b.Place.Function}))
	if b.Dominates() {
		p.NotCalled(&f, b.Place.Function, b.Call) // what keeps what is made, keeps what else the call does for it
	}
	worth := purposeful
	if b.Compiled {
		worth = wasteWorth
	}
	if b.Shared {
		worth = leastWorth
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, 1, diagnose.Count,
			"a singleflight group shares its result between requests, so it does not belong to one request"))
	}
	switch f.Confidence = confidence(p, max(f.GainCeiling, p.Alone(f.Share)), worth); {
	case !b.Compiled && !b.Shared:
		f.Confidence = findings.Low
	case (!b.Compiled || !b.Dominates()) && f.Confidence == findings.High:
		f.Confidence = findings.Medium
	}
	return f
}

// calledAt names the line from which something is made, and says how many more there are.
func calledAt(b usage.Built) string {
	at := diagnose.At(b.Place)
	if b.Lines <= 1 {
		return "the call at " + at
	}
	return fmt.Sprintf("the call at %s and %s like it", at, diagnose.Counted(float64(b.Lines-1), "other", "others"))
}

// spender names what Part is a part of.
func spender(b usage.Built) string {
	if b.Call == "" {
		return diagnose.At(b.Place)
	}
	return callstack.Short(b.Call)
}
