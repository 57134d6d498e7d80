package cpu

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/findings"
)

// domain describes an analyzer of one use of CPU, such as a library. The fields are
// its rule: the roles counted, the least share at which it is reported, the least
// gain at which it is a defect, and the words of the finding. run is the same for
// all.
type domain struct {
	name, doc string
	cause     diagnose.Cause
	roles     callstack.Role
	// least is the least share of the service's CPU at which the use is reported at
	// all.
	least float64
	// worth is the least gain from removing all of it at which it is a defect
	// rather than the service's purpose.
	worth func(hot usage.Hot) float64
	// title names the use as the subject of the finding's title, as in "Encoding
	// JSON", which takes 31 % of the CPU. It gets the leading place.
	title func(hot usage.Hot) string
	// remedy gets the place that uses the most CPU.
	remedy func(hot usage.Hot) string
	// instead replaces the remedy, or adds to it, where the record says more than the place; nil for most.
	instead func(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, t taken)
	// needless reports that the record shows a use not to be a purpose of the service, so that the gain of
	// avoidable work makes it a defect; nil for most.
	needless func(p *diagnose.Pass, t taken) bool
	// waits is a kind of wait that has the same origin, such as the lock of a
	// logger: request time spent in it counts like CPU. Empty for most.
	waits callstack.Wait
	// handed marks work whose amount depends on the value passed in, such as
	// encoding. The place is then the largest caller of a helper that several
	// functions call, not the helper.
	handed bool
	// keeps marks work whose remedy may be to cache the result of a library's call (Hot.Via), so that the rest of the call
	// is saved too.
	keeps bool
	// copies marks work on a copy that the place makes only for it, so that removing the
	// work saves the copy too.
	copies bool
}

// Thresholds for the confidence of a use of CPU: the gains of removing all of it. A
// service may well spend a third of its CPU on its purpose, which is worth 1.5x
// (product-api: JSON). Below its threshold a use of CPU has low confidence: it
// could be tuned. The thresholds do not bound the gain; the model does (laws).
//
// In shares of a saturated CPU, by Amdahl's law: 1.3x is 23 %, 1.4x is 29 %, 1.55x
// is 35 %, 1.85x is 46 % and 4.3x is 77 %.
const (
	// leastWorth is for work that belongs in set-up or in the background, not in a
	// request.
	leastWorth = 1.3
	// avoidable work has cheaper equivalents for most of what it does: handshakes,
	// sorting, logging, small reads and writes.
	avoidable = 1.4
	// purposeful work is the purpose of some services: formatting, compressing,
	// hashing, an algorithm of their own.
	purposeful = 1.55
	// essential work is the purpose of many services: JSON, look-ups in maps.
	essential = 1.85
	// essentialFast is essential work that a fast library does already. The usual
	// remedy, a faster encoder, is already applied, so it is a defect only if
	// almost nothing else runs.
	essentialFast = 4.3
)

func (d domain) analyzer() diagnose.Analyzer {
	return diagnose.Analyzer{
		Name:   d.name,
		Doc:    d.doc,
		Stage:  diagnose.CPUUse,
		Causes: []diagnose.Cause{d.cause},
		Needs:  []diagnose.Need{diagnose.NeedCPUProfile},
		Run:    d.run,
	}
}

// run reports the domain once, at the place that uses most. If its waits outweigh
// its CPU, the finding is stated in request time.
func (d domain) run(p *diagnose.Pass) ([]diagnose.Finding, error) {
	use, err := p.Use()
	if err != nil {
		return nil, err
	}
	t, ok := d.takes(p, use)
	if !ok {
		return nil, nil
	}
	share, name, at := t.direct+t.garbage+t.copied, d.title(t.hot), t.at()
	f := diagnose.Finding{
		Cause: d.cause.ID, Share: min(1, share), ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(t.hot.Place),
		Title:    fmt.Sprintf("%s takes %s of the service's CPU, %s", name, diagnose.Percent(share), at),
		Evidence: append(t.evidence(), saturation(p)...),
		Remedy:   d.remedy(t.hot),
	}
	if d.instead != nil {
		d.instead(p, use, &f, t)
	}
	if f.Where.Detail = t.through; t.through != "" {
		f.Title += ", " + t.through
	}
	diagnose.Promise(&f, p.Ran(evidence.Work{Share: min(1, share), Roles: d.roles}), d.gone(p, t, min(1, share)))
	if d.keeps && t.hot.Via != "" { // the remedy is to cache the call's result, which saves more than its work of this kind
		p.NotCalled(&f, t.hot.Place.Function, use.Called(d.roles, t.hot.Place))
	}
	if d.outcome(p, use, &f, t.hot); f.Where.Detail == "" {
		called(&f, use, f.Where.Function)
	}
	// Confidence reflects how sick the service is, not how much this host lets it
	// gain: next to a program that took half of the machine, address-rules'
	// compiling gained only 1.28x.
	f.Confidence = confidence(p, max(f.GainCeiling, p.Alone(share)), d.defect(p, t))
	if t.waited > share {
		f.Share, f.ShareOf = t.waited, diagnose.OfRequest
		f.Title = fmt.Sprintf("%s takes %s of request time, %s", name, diagnose.Percent(t.waited), at)
	}
	return []diagnose.Finding{f}, nil
}

// outcome adds what the service makes out of most of the work, and who calls for it: whoever does may cache it.
func (d domain) outcome(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, hot usage.Hot) {
	function, caller := use.Outcome(d.roles, hot.Place.Function)
	if function == "" {
		return
	}
	name, called := callstack.Short(function), ""
	if caller.Function != "" {
		called = fmt.Sprintf(", called by %s (%s)", callstack.Short(caller.Function), diagnose.At(caller))
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, hot.Share, diagnose.Ratio, "most of it for %s%s", name, called))
	f.Remedy += fmt.Sprintf(" If %s is called repeatedly with the same input, cache its result.", name)
	if f.Where.Detail == "" {
		f.Where.Detail = "for " + name
		if caller.Function != "" {
			f.Where.Detail += ", called by " + callstack.Short(caller.Function)
		}
	}
	p.NotCalled(f, caller.Function, function)
}

// defect returns the least gain at which a use is a defect.
func (d domain) defect(p *diagnose.Pass, t taken) float64 {
	worth := d.worth(t.hot)
	if d.needless != nil && d.needless(p, t) {
		return min(worth, avoidable)
	}
	return worth
}

// gone bounds the gain of removing a use that requests also wait for, such as a logger with
// its lock: that saves the waits, and the CPU that it takes inside and outside of requests.
func (d domain) gone(p *diagnose.Pass, t taken, share float64) laws.Gain {
	if !(t.waited > 0) {
		return laws.Gain{}
	}
	cpus := share * p.Own()
	if !(cpus > 0) {
		return p.Waited(t.waited)
	}
	return p.Freed(min(1, t.waited+t.direct*p.Waits().OnCPU()), cpus, cpus)
}

// taken is what one use of CPU takes, as shares 0 to 1, and where.
type taken struct {
	direct  float64 // of the service's CPU, as sampled
	garbage float64 // of it, for collecting what the use allocates
	copied  float64 // of it, for the copies that the place works on
	waited  float64 // of request time
	samples string  // of the whole profile, in words
	hot     usage.Hot
	others  []usage.Hot // the other places with a part of their own
	caller  string      // the function that calls into the domain; hot is above it if that is a helper
	through string      // the helper through which the place uses it, in words; often empty
	in      string      // where most of the waiting is, in words, if that outweighs the CPU; else ""
}

// takes applies the rule: enough CPU, or enough waiting with the same origin.
func (d domain) takes(p *diagnose.Pass, use *usage.Table) (t taken, ok bool) {
	// Too few samples leave the share unknown; Sampled notes that. A domain with
	// waits goes on: the trace shows requests queueing for a logger even if the
	// profile is thin.
	if p.Sampled(use, d.cause.ID) {
		t.direct = use.Share(d.roles)
	} else if d.waits == "" {
		return t, false
	}
	if d.waits != "" && p.Has(diagnose.NeedAnatomy) {
		t.waited = p.Waits().Share(d.waits)
	}
	if t.direct < d.least && t.waited < leastWaited {
		return t, false
	}
	// An encoder that allocates also costs the collector CPU, in goroutines of its
	// own. A profile does not connect the two; Garbage attributes the collector's
	// CPU by allocated bytes.
	t.garbage, t.samples = p.Garbage(d.roles), samples(use)
	places, sites := use.Places(d.roles), p.Waits().Sites(d.waits)
	switch waits := len(sites) > 0; {
	case waits && (t.waited > t.direct+t.garbage || len(places) == 0): // those who wait need not be those who compute
		t.hot = usage.Hot{Place: sites[0].Place, User: sites[0].User}
		t.in = mostAt(usage.Hot{Place: sites[0].Place, Share: sites[0].Share}, t.waited)
	case len(places) > 0:
		t.hot, t.others = leading(places)
	}
	t.caller = cmp.Or(t.hot.Unit, callstack.Enclosing(t.hot.Place.Function))
	if t.hot.User && d.copies {
		t.copied = p.Copied(t.hot.Place.Function)
	}
	if t.hot.User {
		if place, wrapper, ok := use.Wrapped(t.hot.Place.Function); ok {
			t.hot.Place, t.hot.Line, t.through = place, 0, "through "+callstack.Short(wrapper)
		}
	}
	if d.handed && t.hot.User && t.through == "" {
		if place, helper, ok := p.Above(use.Causing(d.roles, t.caller)); ok {
			t.hot.Place, t.hot.Line, t.through = place, 0, "through "+callstack.Short(helper)
		}
	}
	return t, true
}

const (
	// leastOther is the share of CPU from which another place of the same use is listed, and mostOthers bounds their number.
	leastOther, mostOthers = 0.05, 3
	// ownRather is the part of the largest place's share from which a place in the service's own code is named instead of one in a
	// dependency, which its reader cannot change.
	ownRather = 0.5
)

// leading returns the place to name, and others worth listing, of places that are sorted by share.
func leading(places []usage.Hot) (lead usage.Hot, others []usage.Hot) {
	at := 0
	if !places[0].User {
		own := slices.IndexFunc(places, func(h usage.Hot) bool { return h.User })
		if own > 0 && places[own].Share >= ownRather*places[0].Share {
			at = own
		}
	}
	for i, h := range places {
		if i != at && h.Share >= leastOther && len(others) < mostOthers {
			others = append(others, h)
		}
	}
	return places[at], others
}

// at says where the use is, as the end of a title.
func (t taken) at() string {
	at := diagnose.At(t.hot.Place)
	if t.in != "" && t.through == "" {
		return t.in
	}
	switch own := len(t.others) > 0 && t.others[0].Share > t.hot.Share; {
	case own:
		return fmt.Sprintf("%s of it in the service's own code at %s", diagnose.Percent(t.hot.Share/t.direct), at)
	case t.hot.Share < t.direct/2:
		return fmt.Sprintf("%s of it at %s", diagnose.Percent(cmp.Or(t.hot.Line, t.hot.Share)/t.direct), at)
	case t.hot.Line > 0 && t.hot.Line < t.direct/2: // several lines of one function
		return fmt.Sprintf("most of it in %s, hottest at %s", callstack.Short(t.caller), at)
	}
	return "most of it at " + at
}

// samples says how many samples a profile has.
func samples(use *usage.Table) string {
	return diagnose.Counted(float64(use.Samples), "CPU sample", "CPU samples")
}

func (t taken) evidence() []findings.Evidence {
	list := []findings.Evidence{diagnose.Fact(diagnose.FromProfile, t.direct, diagnose.Ratio,
		"%s of %s", diagnose.Percent(t.direct), t.samples)}
	if t.garbage >= leastGarbage {
		list = append(list, diagnose.Fact(diagnose.FromProfile, t.garbage, diagnose.Ratio,
			"and %s for collecting its garbage", diagnose.Percent(t.garbage)))
	}
	if t.copied >= leastGarbage {
		list = append(list, diagnose.Fact(diagnose.FromProfile, t.copied, diagnose.Ratio,
			"and %s for the copies that it works on", diagnose.Percent(t.copied)))
	}
	if t.hot.Share > 0 {
		list = append(list, diagnose.Fact(diagnose.FromProfile, t.hot.Share, diagnose.Ratio, "%s below %s (%s)",
			diagnose.Percent(t.hot.Share), callstack.Short(t.hot.Place.Function), diagnose.At(t.hot.Place)))
	}
	for _, h := range t.others {
		list = append(list, diagnose.Fact(diagnose.FromProfile, h.Share, diagnose.Ratio, "%s below %s (%s)",
			diagnose.Percent(h.Share), callstack.Short(h.Place.Function), diagnose.At(h.Place)))
	}
	if t.waited > 0 {
		list = append(list, diagnose.Fact(diagnose.FromTrace, t.waited, diagnose.Ratio,
			"requests wait in it for %s of their time", diagnose.Percent(t.waited)))
	}
	return list
}

// leastGarbage is the least share of the service's CPU at which the collector's
// part is reported.
const leastGarbage = 0.01

// leastWaited is the least share of request time at which waits of a domain count.
const leastWaited = 0.20

// wasteWorth is the threshold for work that is not a purpose of any service, such as
// compiling expressions per request: any gain that a comparison can show is a
// defect.
const wasteWorth = 1.1

// confidence returns that of a finding whose remedy could gain gain. The profile
// says where; only if the host's CPUs are the limit is confidence high. worth is
// the least gain at which the use is a defect. What may be the service's purpose is not one while requests finish at once
// and CPUs are left.
func confidence(p *diagnose.Pass, gain, worth float64) findings.Confidence {
	switch {
	case gain < worth:
		return findings.Low
	case p.CPU().Saturated():
		return findings.High
	case worth >= purposeful && p.Load().Instant():
		return findings.Low
	}
	return findings.Medium
}

// saturation returns how busy the CPUs were, as evidence; none when the host was
// not measured.
func saturation(p *diagnose.Pass) []findings.Evidence {
	c := p.CPU()
	if use := c.Use(); use == use && c.CPUs > 0 {
		return []findings.Evidence{diagnose.Fact(diagnose.FromProcess, use, diagnose.Ratio,
			"CPUs are %s busy; the service uses %s of %s", diagnose.Percent(min(1, use)),
			diagnose.Times(c.Target), diagnose.Number(c.CPUs))}
	}
	return nil
}

// fixed returns a title or remedy that does not depend on the place.
func fixed(text string) func(usage.Hot) string { return func(usage.Hot) string { return text } }

// from returns a threshold that does not depend on the place.
func from(gain float64) func(usage.Hot) float64 {
	return func(usage.Hot) float64 { return gain }
}

// callee names the library function that the place calls, or otherwise if the
// profile is not clear about it.
func callee(h usage.Hot, otherwise string) string {
	if h.Callee == "" {
		return otherwise
	}
	return h.Callee
}

// verify says how to confirm the remedy of a use of CPU.
const verify = "redline ab with the binaries before and after: cpu_per_request falls by about as much as the " +
	"finding promises; in a second run the share is gone from the profile."
