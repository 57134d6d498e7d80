package cpu

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record"
)

// domain describes an analyzer of one use of CPU.
type domain struct {
	name, doc string
	cause     diagnose.Cause
	roles     callstack.Role
	// least share of the service's CPU.
	least float64
	// worth is the gain, were all of it gone, from which it is a sickness and not
	// what the service is for.
	worth func(hot evidence.Hot) float64
	// title gets the place, as in "Encoding JSON takes 31 % ... at x.go:4".
	title func(hot evidence.Hot) string
	// remedy gets the place that uses most.
	remedy func(hot evidence.Hot) string
	// waits of the same origin count with the CPU.
	waits callstack.Wait
	// handed marks work whose amount is that of what it is handed, so that a helper
	// which several call is not the place where one of them causes it.
	handed bool
}

// Thresholds for the confidence of a use of CPU, as gains were all of it gone. What a
// service is for may well be a third of its CPU, which is worth 1.5x (product-api:
// JSON); below the threshold a use of CPU has low confidence, as what could be
// tuned. They bound no gain: that is the model's.
const (
	// leastWorth is for work that belongs in no request but in its set-up, or beside requests.
	leastWorth = 1.3
	// avoidable work has cheaper equals for most of what it does: handshakes,
	// sorting, logging, small reads and writes.
	avoidable = 1.4
	// purposeful work is what some services are for: formatting, compressing,
	// hashing, an algorithm of their own.
	purposeful = 1.55
	// essential work is what many services are for: JSON, look-ups in maps.
	essential = 1.85
	// essentialFast is essential work that a fast library does already.
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

func (d domain) run(p *diagnose.Pass) ([]diagnose.Finding, error) {
	use, err := p.Use()
	if err != nil {
		return nil, err
	}
	share := 0.0
	if p.Sampled(use, d.cause.ID) {
		share = use.Share(d.roles)
	} else if d.waits == "" {
		return nil, nil
	}
	var waited float64
	if d.waits != "" && p.Has(diagnose.NeedAnatomy) {
		waited = p.Waits().Share(d.waits)
	}
	if share < d.least && waited < leastWaited {
		return nil, nil
	}
	direct, garbage := share, p.Garbage(d.roles)
	share += garbage
	places := use.Places(d.roles)
	var hot evidence.Hot
	if len(places) > 0 {
		hot = places[0]
	} else if sites := p.Waits().Sites(d.waits); len(sites) > 0 {
		hot = evidence.Hot{Place: sites[0].Place, User: sites[0].User}
	}
	through := ""
	if d.handed && hot.User {
		if place, helper, ok := p.Above(use.Causing(d.roles, hot.Place.Function)); ok {
			hot.Place, through = place, "through "+callstack.Short(helper)
		}
	}
	f := diagnose.Finding{
		Cause: d.cause.ID, Share: min(1, share), ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(hot.Place),
		Title:  fmt.Sprintf("%s takes %s of the service's CPU, most of it at %s", d.title(hot), diagnose.Percent(share), diagnose.At(hot.Place)),
		Remedy: d.remedy(hot),
	}
	if f.Where.Detail = through; through != "" {
		f.Title += ", " + through
	}
	diagnose.Promise(&f, p.Ran(evidence.Work{Share: min(1, share), Roles: d.roles}), p.Waited(waited))
	f.Confidence = confidence(p, max(f.GainCeiling, alone(p, share)), d.worth(hot))
	if waited > share {
		f.Share, f.ShareOf = waited, diagnose.OfRequest
		f.Title = fmt.Sprintf("%s takes %s of request time, most of it at %s", d.title(hot), diagnose.Percent(waited), diagnose.At(hot.Place))
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, direct, diagnose.Ratio,
		"%s of %d CPU samples", diagnose.Percent(direct), use.Samples))
	if garbage >= leastGarbage {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, garbage, diagnose.Ratio,
			"and %s for collecting what it allocates", diagnose.Percent(garbage)))
	}
	if hot.Share > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, hot.Share, diagnose.Ratio,
			"%s below %s (%s)", diagnose.Percent(hot.Share), callstack.Short(hot.Place.Function), diagnose.At(hot.Place)))
	}
	if waited > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, waited, diagnose.Ratio,
			"requests wait %s of their time in it", diagnose.Percent(waited)))
	}
	f.Evidence = append(f.Evidence, saturation(p)...)
	return []diagnose.Finding{f}, nil
}

// leastGarbage of the service's CPU, to be told.
const leastGarbage = 0.01

// leastWaited of request time, for waits that belong to a domain.
const leastWaited = 0.20

// wasteWorth is the threshold of what no service is for: whatever it takes beyond
// what a comparison can show is too much. Beside a program that took half of the
// machine address-rules' compiling gained 1.28.
const wasteWorth = 1.1

// alone is what a share of the service's CPU would be worth on CPUs that nobody else
// uses, where it is the CPUs that bound the service: what others take bounds the gain
// on this host, and not how sick the service is. 0 where CPUs are idle.
func alone(p *diagnose.Pass, share float64) float64 {
	if !p.CPU().Saturated() {
		return 0
	}
	return diagnose.Ceiling(min(0.99, share))
}

// confidence of a finding whose remedy could gain so much: the profile says
// where, and the host whether CPU is the limit. worth is the gain from which it
// is a sickness.
func confidence(p *diagnose.Pass, gain, worth float64) record.Confidence {
	switch {
	case gain < worth:
		return record.Low
	case p.CPU().Saturated():
		return record.High
	}
	return record.Medium
}

// saturation tells how busy the CPUs were, as evidence.
func saturation(p *diagnose.Pass) []record.Evidence {
	c := p.CPU()
	if use := c.Use(); use == use && c.CPUs > 0 {
		return []record.Evidence{diagnose.Fact(diagnose.FromProcess, use, diagnose.Ratio,
			"CPUs are %s busy, the service uses %.2f of %.0f", diagnose.Percent(min(1, use)), c.Target, c.CPUs)}
	}
	return nil
}

func fixed(text string) func(evidence.Hot) string { return func(evidence.Hot) string { return text } }

func from(gain float64) func(evidence.Hot) float64 {
	return func(evidence.Hot) float64 { return gain }
}

func callee(h evidence.Hot, otherwise string) string {
	if h.Callee == "" {
		return otherwise
	}
	return h.Callee
}

// verify tells how the remedy of a use of CPU is confirmed.
const verify = "redline ab with the binaries before and after: cpu_per_request falls by about the part that the finding promises; " +
	"in a second run the share of the profile is gone."
