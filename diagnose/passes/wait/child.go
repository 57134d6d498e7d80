package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// leastChild is the least part of request time, or of CPU if CPUs are saturated, at
// which the processes that requests start are reported.
const leastChild = 0.15

// Child finds requests that start other processes.
//
// The cost is spread over three places that each look like something else: a wait
// at a pipe, which reads as network; the service's CPU in fork and exec; and CPU of
// processes too short for any sampler, which looks like other programs'. The kernel
// adds the CPU of reaped children to the parent's account (getrusage(2),
// RUSAGE_CHILDREN), which completes the sum. Without it, webhook was advised to
// optimise its handler.
var Child = diagnose.Analyzer{
	Name:  "child",
	Stage: diagnose.Wait,
	Doc: "Sums the time that requests wait for processes that they started, and the CPU that these processes and their start " +
		"take: at least 15 % of request time or, on saturated CPUs, of the load's CPU.",
	Causes: []diagnose.Cause{execCause},
	Needs:  []diagnose.Need{diagnose.NeedLoad, diagnose.NeedProcess},
	Run:    runChild,
}

// runChild adds the wait for processes and the CPU of starting them, or on
// saturated CPUs takes the CPU of both. This includes the commands' own work, which
// would still have to be done, so the gain is an upper bound.
func runChild(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w, c := p.Waits(), p.CPU()
	starting := 0.0 // of the service's CPU
	use, err := p.Use()
	if err == nil {
		starting = use.With(callstack.Child)
	}
	busy := starting*max(0, p.Own()) + c.Children // CPUs
	share, of, whole := w.Share(callstack.ChildWait)+starting*w.OnCPU(), diagnose.OfRequest, "request time"
	if part := busy / c.Used(); c.Saturated() && part > share {
		share, of, whole = min(1, part), diagnose.OfCPU, "the CPU that the load uses"
	}
	place, known := starter(p, use)
	// A process that the service has started once, such as a server of its own, is not started by requests.
	starts := starting > 0 || c.Reaped > 0 || w.Share(callstack.ChildWait) > 0
	if share < leastChild || !known && (c.Children == 0 || !starts) {
		return nil, nil
	}
	where, at := findings.Where{Detail: "processes that the service starts"}, ""
	if known {
		where, at = diagnose.WhereOf(place), " at "+diagnose.At(place)
	}
	f := diagnose.Finding{
		Cause: "exec-per-request", Share: share, ShareOf: of, Confidence: findings.High, Where: where,
		Title: fmt.Sprintf("Requests start processes%s and wait for them: %s of %s", at, diagnose.Percent(share), whole),
		Remedy: fmt.Sprintf("Do the work of the command%s within the service, keep one process running and send it the "+
			"requests, or cache its output; otherwise limit how many run at a time.", at),
	}
	diagnose.Promise(&f, p.Freed(share, starting*max(0, p.Own()), busy))
	if ns := w.NS(callstack.ChildWait); ns > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, ns, diagnose.Nanosec,
			"the mean request waits %s of its %s for processes to start, respond and exit", diagnose.Span(ns),
			diagnose.Span(w.MeanNS())))
	}
	if starting > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, starting, diagnose.Ratio,
			"starting them takes %s of the service's CPU", diagnose.Percent(starting)))
	}
	if rate := p.Load().Rate; c.Children > 0 && rate > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, c.Children, "CPUs",
			"the processes use %s CPUs, %s of CPU per request; the service itself %s", diagnose.Times(c.Children),
			diagnose.Span(1e9*c.Children/rate), diagnose.Times(c.Target)))
	} else {
		f.Confidence = findings.Medium // the cost of the processes is unknown
	}
	if !known {
		f.Confidence = findings.Medium // so is whether requests start them
	}
	return []diagnose.Finding{f}, nil
}

// starter returns the user's place that starts processes: where requests wait for
// them longest, or for the goroutines of a library that do, otherwise where most CPU goes into starting them.
func starter(p *diagnose.Pass, use *usage.Table) (code.Frame, bool) {
	for _, s := range waits.ByOwner(p.Waits().Sites(callstack.ChildWait)) {
		switch {
		case !p.Stacks.Roles(s.Part.Stack).Has(callstack.Child):
		case s.User:
			return s.Place, true
		case p.Stacks.User(s.From):
			return s.From, true
		}
	}
	if use != nil {
		if places := use.From(callstack.Child); len(places) > 0 && places[0].User {
			return places[0].Place, true
		}
	}
	return code.Frame{}, false
}
