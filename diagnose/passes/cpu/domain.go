package cpu

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

// domain describes an analyzer of one use of CPU.
type domain struct {
	name, doc string
	cause     diagnose.Cause
	roles     callstack.Role
	// least share of the service's CPU.
	least float64
	// title gets share and place, as in "Encoding JSON takes 31 % ... at x.go:4".
	title func(hot diagnose.Hot) string
	// remedy gets the place that uses most.
	remedy func(hot diagnose.Hot) string
	// waits of the same origin count with the CPU.
	waits callstack.Wait
}

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
	var hot diagnose.Hot
	if len(places) > 0 {
		hot = places[0]
	} else if sites := p.Waits().Sites(d.waits); len(sites) > 0 {
		hot = diagnose.Hot{Place: sites[0].Place, User: sites[0].User}
	}
	f := diagnose.Finding{
		Cause: d.cause.ID, Share: share, ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(hot.Place),
		GainCeiling: max(p.CPUGain(share), p.WaitGain(waited)), Confidence: record.Medium,
		Title:  fmt.Sprintf("%s takes %s of the service's CPU, most of it at %s", d.title(hot), diagnose.Percent(share), diagnose.At(hot.Place)),
		Remedy: d.remedy(hot),
	}
	if waited > share {
		f.Share, f.ShareOf = waited, diagnose.OfRequest
		f.Title = fmt.Sprintf("%s takes %s of request time, most of it at %s", d.title(hot), diagnose.Percent(waited), diagnose.At(hot.Place))
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, direct, diagnose.Ratio, "%s of %d CPU samples", diagnose.Percent(direct), use.Samples))
	if garbage >= leastGarbage {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, garbage, diagnose.Ratio, "and %s for collecting what it allocates", diagnose.Percent(garbage)))
	}
	if hot.Share > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, hot.Share, diagnose.Ratio, "%s below %s (%s)", diagnose.Percent(hot.Share), callstack.Short(hot.Place.Function), diagnose.At(hot.Place)))
	}
	if waited > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, waited, diagnose.Ratio, "requests wait %s of their time in it", diagnose.Percent(waited)))
	}
	f.Evidence = append(f.Evidence, saturation(p)...)
	if p.CPU().Saturated() {
		f.Confidence = record.High // the profile says where, the host that CPU is the limit
	}
	return []diagnose.Finding{f}, nil
}

// leastGarbage of the service's CPU, to be told.
const leastGarbage = 0.01

// leastWaited of request time, for waits that belong to a domain.
const leastWaited = 0.20

// saturation tells how busy the CPUs were, as evidence.
func saturation(p *diagnose.Pass) []record.Evidence {
	c := p.CPU()
	if use := c.Use(); use == use {
		return []record.Evidence{diagnose.Fact(diagnose.FromProcess, use, diagnose.Ratio, "CPUs are %s busy, the service uses %.2f of %.0f", diagnose.Percent(min(1, use)), c.Target, c.CPUs)}
	}
	return nil
}

func fixed(text string) func(diagnose.Hot) string { return func(diagnose.Hot) string { return text } }
