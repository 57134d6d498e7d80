package downstream

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// mostRequests is the number of connections opened per request from which those that the service dials itself are opened for
// requests: no library says so.
const mostRequests = 0.5

// dialledItself finds connections that the service opens for its requests by itself, for a protocol of its own or a library that
// has no pool. A database's have a rule of their own.
func dialledItself(p *diagnose.Pass) []diagnose.Finding {
	each, source := openedItself(p)
	if each < mostRequests {
		return nil
	}
	place, cpu, share := dialler(p)
	d := dialled{share: share, cpu: cpu, times: each, each: each, source: source}
	d.clients(p)
	if place.Function == "" || max(d.ofCPU(), share) < leastDialShare {
		return nil
	}
	f := diagnose.Finding{
		Cause: "http-client-churn", Share: max(share, d.ofCPU()), ShareOf: diagnose.OfRequest, Confidence: findings.Medium,
		Where: diagnose.WhereOf(place), Evidence: d.evidence()[1:],
		Remedy: fmt.Sprintf("Keep the connections opened at %s and reuse them for later requests: one connection if the "+
			"protocol carries several calls at a time, otherwise a pool of as many connections as calls in flight.", diagnose.At(place)),
	}
	if d.ofCPU() > share {
		f.ShareOf = diagnose.OfCPU
	}
	f.Title = fmt.Sprintf("The service dials %s, which takes %s of %s at %s", diagnose.PerRequest(d.each, "a connection", "connections"),
		diagnose.Percent(f.Share), diagnose.OfWhat(f.ShareOf), diagnose.At(place))
	diagnose.Promise(&f, dialGain(p, share, d.ofCPU(), d.times))
	d.word(p, &f)
	hint(p, &f)
	if mostlyDials(p, place.Function) {
		p.Cover(f, place.Function)
	}
	if !namesDialled(p) {
		p.Reached(f.Cause, nil) // it dials whatever resolves its names, and would without look-ups
	}
	return []diagnose.Finding{f}
}

// openedItself returns how many connections are opened per request, as the kernel counts them, or the hooks: a service that has a network
// stack of its own (WireGuard's tunnels) does without the kernel's. 0 where nobody counts.
func openedItself(p *diagnose.Pass) (each float64, source string) {
	if n, counted := opened(p); counted {
		each, source = n, diagnose.FromProcess
	}
	dialled, _ := p.Dialled()
	if requests := p.CountedRequests(); requests > 0 && dialled/requests > each {
		each, source = dialled/requests, diagnose.FromProbe
	}
	return each, source
}

// namesDialled reports whether requests look up names in order to dial: within a dialling function.
func namesDialled(p *diagnose.Pass) bool {
	return slices.ContainsFunc(p.Anatomy.All, func(part breakdown.Part) bool {
		lookup := slices.IndexFunc(part.Stack, func(f code.Frame) bool { return resolverFunction(f.Function) })
		return lookup >= 0 && slices.ContainsFunc(part.Stack[lookup:], func(f code.Frame) bool {
			return strings.HasPrefix(f.Function, "net.(*Dialer).")
		})
	})
}

// mostlyDials reports whether dialling is most of what a function uses the CPU for.
func mostlyDials(p *diagnose.Pass, function string) bool {
	use, err := p.Use()
	return err == nil && 2*use.In(function, callstack.Dial) >= p.Within(callstack.Enclosing(function))
}

// dialler returns the user's place that dials most, and what dialling takes of the service's CPU and of request time, 0 to 1.
func dialler(p *diagnose.Pass) (place code.Frame, cpu, share float64) {
	dials := func(roles callstack.Role) bool {
		return roles.Has(callstack.Dial) && !roles.Has(callstack.DBClient|callstack.DBConnect)
	}
	places := map[code.Frame]float64{}
	if use, err := p.Use(); err == nil {
		cpu = use.Part(func(b usage.Booked) bool {
			at, ok := p.Stacks.Place(b.Stack)
			if ok = ok && dials(b.Roles); ok {
				places[at] += float64(b.Value)
			}
			return ok
		})
	}
	for _, part := range p.Anatomy.All {
		if at, ok := p.Stacks.Place(part.Stack); ok && dials(p.Stacks.Roles(part.Stack)) {
			share += float64(part.NS) / p.Waits().MeanNS()
			if cpu == 0 {
				places[at] += float64(part.NS)
			}
		}
	}
	return measured.Heaviest(places, measured.CompareFrames), cpu, share
}
