package wait

import (
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// Stops finds calls that stop the world.
//
// The request that calls waits until all others stand still, and each of the others until the call is over: so what one of
// them costs is a part of every request, wherever in it. The gain is what the critical path loses to it, a lock's holder that
// stops the world included. Collections that the program forces are gc-forced, whatever part of them is a stop.
var Stops = diagnose.Analyzer{
	Name:  "stops",
	Stage: diagnose.Wait,
	Doc: "Sums the time in which requests, and goroutines that they wait for, stand still because the program stops the world " +
		"(runtime.ReadMemStats, a dump of all goroutines or of the heap, GOMAXPROCS), by the place that calls. It counts at " +
		"10 % of request time or more, or half of the tail's extra time.",
	Causes: []diagnose.Cause{stopsCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	Run:    runStops,
}

func runStops(p *diagnose.Pass) ([]diagnose.Finding, error) {
	var found []diagnose.Finding
	for _, s := range stopsOfWorld(p) {
		v, ok := waitgain.Decide(p, s, waitgain.Stopping)
		if !ok {
			continue
		}
		if l := p.Load(); v.Of == diagnose.OfRequest && l.Instant() {
			p.Reject("stops-the-world", "requests spend %s of their time waiting while %s stops the world, but 99 of 100 finish within %s "+
				"at the requested rate", diagnose.Percent(s.Share), diagnose.At(s.Place), diagnose.Span(l.P99))
			continue
		}
		f := v.Finding(p, "stops-the-world", s)
		what, remedy := halting(p, s)
		f.Title = fmt.Sprintf("%s stops the world %s: %s", callstack.Short(s.Place.Function), what, diagnose.LowerFirst(v.Requests()))
		f.Remedy = remedy
		if cpu := calling(p, s); cpu > 0 {
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, cpu, diagnose.Ratio,
				"the call takes %s of the service's CPU", diagnose.Percent(cpu)))
			if v.Of == diagnose.OfRequest && !p.CPU().Full() {
				diagnose.Promise(&f, p.Polled(s.Share, cpu))
			} else {
				diagnose.Promise(&f, p.Ran(evidence.Work{Share: cpu}))
			}
		}
		found = append(found, f)
	}
	return found, nil
}

// stopsOfWorld returns the places that stop the world, with the time that the critical path loses to each.
func stopsOfWorld(p *diagnose.Pass) []waits.Site {
	forced := func(stack []code.Frame) bool { why, _ := callstack.StopOf(stack); return why == callstack.Collection }
	direct, onPath := []waits.Site{}, []waits.Site{}
	for _, s := range p.Waits().Sites(callstack.StopWait) {
		if !forced(s.Part.Stack) {
			direct = append(direct, s)
		}
	}
	for _, n := range p.Path().In(breakdown.StateStoppedByCall) {
		if at, ok := p.Stacks.Place(n.Stack); ok && !forced(n.Stack) {
			onPath = append(onPath, waits.Site{Wait: callstack.StopWait, Place: at, User: p.Stacks.User(at),
				NS: float64(n.NS), Share: n.Share,
				Part: breakdown.Part{State: n.State, Site: n.Site, NS: n.NS, Share: n.Share, Stack: n.Stack}})
		}
	}
	list := waits.ByOwner(direct)
	for _, on := range waits.ByOwner(onPath) {
		at := slices.IndexFunc(list, func(s waits.Site) bool {
			return callstack.Owner(s.Place.Function) == callstack.Owner(on.Place.Function)
		})
		if at < 0 {
			list = append(list, on)
			continue
		}
		list[at].NS, list[at].Share = max(list[at].NS, on.NS), max(list[at].Share, on.Share)
	}
	return list
}

// stopper is what stops the world at a place: the function that is called, "" if that is unknown, and the library that calls
// it, "" if the service does.
func stopper(p *diagnose.Pass, stack []code.Frame) (called, library string) {
	_, inner := callstack.StopOf(stack)
	if inner == 0 {
		return "", ""
	}
	called = callstack.Short(stack[inner-1].Function)
	for _, f := range stack[inner:] {
		if p.Stacks.User(f) {
			break
		}
		if callstack.Dependency(f.Function) {
			return called, callstack.Short(f.Function)
		}
	}
	return called, ""
}

// halting says what a place stops the world for, as the end of a clause, and what to do instead.
func halting(p *diagnose.Pass, s waits.Site) (what, remedy string) {
	stack, at := s.Part.Stack, diagnose.At(s.Place)
	called, library := stopper(p, stack)
	often := "for each request"
	if !p.Stacks.Serves(stack) {
		often = "so often"
	}
	why, _ := callstack.StopOf(stack)
	switch why {
	case callstack.Statistics:
		what = "to read memory statistics"
		remedy = fmt.Sprintf("Read runtime/metrics at %s instead of %s: metrics.Read does not stop the world.", at, called)
		if library != "" {
			remedy = fmt.Sprintf("Call %s less often, or use a version or a collector that reads runtime/metrics instead of "+
				"calling %s: metrics.Read does not stop the world.", library, called)
		}
	case callstack.Dump:
		what = "to see all goroutines"
		remedy = fmt.Sprintf("Call %s on demand, not %s at %s. debug.Stack gives the caller's own stack and "+
			"runtime.NumGoroutine the number of goroutines; neither stops the world.", called, often, at)
	case callstack.HeapDump:
		what = "to write the heap to a file"
		remedy = fmt.Sprintf("Write a heap dump on demand, not %s at %s. A heap profile (runtime/pprof) does not stop the world.",
			often, at)
	case callstack.Processors:
		what = "to change GOMAXPROCS"
		remedy = fmt.Sprintf("Set GOMAXPROCS once, as the service starts, not at %s; GOMAXPROCS(0) reads it without a stop.", at)
	default:
		what, remedy = "with a call", fmt.Sprintf("Make that call once, or on demand, not %s at %s.", often, at)
		if called != "" {
			what, remedy = "with "+called, fmt.Sprintf("Call %s once, or on demand, not %s at %s.", called, often, at)
		}
	}
	if library != "" && why != callstack.Statistics {
		remedy += " " + library + " calls it."
	}
	return what, remedy
}

// calling returns the part of the service's CPU, 0 to 1, that a call which stops the world takes.
func calling(p *diagnose.Pass, s waits.Site) float64 {
	_, inner := callstack.StopOf(s.Part.Stack)
	if inner == 0 {
		return 0
	}
	return p.SparedBelow(s.Place.Function, s.Part.Stack[inner-1].Function)
}
