package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

// leastCallNS is the mean wait per call from which a dependency is slow: an
// answer within a millisecond is a fast one, whatever its share.
const leastCallNS = 1e6

// Downstream finds slow calls to other services.
var Downstream = diagnose.Analyzer{
	Name:  "downstream",
	Stage: diagnose.Wait,
	Doc: "Sums network waits in HTTP clients, gRPC, Redis and other clients (not databases, not the server's own " +
		"connections) by the caller. They count from 20 % of request time or half of the tail's extra time, and " +
		"from 1 ms per call.",
	Causes: []diagnose.Cause{{
		ID:     "downstream-slow",
		Title:  "Requests wait for another service",
		Doc:    "Requests wait on the network for the answer to one call to a dependency.",
		Remedy: "Make the dependency faster, call it less (cache, batch), in parallel with other work, or hedge its tail.",
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run:   runDownstream,
}

func runDownstream(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	var sites []diagnose.Site
	for _, kind := range []callstack.Wait{callstack.HTTPWait, callstack.RPCWait, callstack.NetworkWait} {
		sites = append(sites, w.Sites(kind)...)
	}
	var found []diagnose.Finding
	for _, s := range diagnose.ByOwner(sites) {
		v, ok := judge(p, s, outside)
		if !ok {
			continue
		}
		perCall := s.NS / max(s.Times, 1e-3)
		if v.of == diagnose.OfRequest && perCall < leastCallNS {
			p.Reject("downstream-slow", "calls at %s take %s of request time, but answer within %s each", diagnose.At(s.Place), diagnose.Percent(s.Share), diagnose.Span(perCall))
			continue
		}
		f := v.finding(p, "downstream-slow", s)
		f.Where.Detail = client(p, s.Part.Stack)
		f.Title = fmt.Sprintf("%s for a downstream call (%s) at %s", v.requests(), f.Where.Detail, diagnose.At(s.Place))
		f.Remedy = fmt.Sprintf("Make the dependency called at %s answer faster, cache its answer, or make the call in parallel with other work.", diagnose.At(s.Place))
		if s.Times >= 1.5 {
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, s.Times, diagnose.Ratio, "%.1f waits per request of %s each: if the calls do not depend on each other, make them together", s.Times, diagnose.Span(perCall)))
		}
		found = append(found, f)
	}
	return found, nil
}

// client names the client on a stack: its outermost function.
func client(p *diagnose.Pass, stack []record.Frame) string {
	for i := len(stack) - 1; i >= 0; i-- {
		if p.Stacks.Role(stack[i].Function).Has(callstack.HTTPClient | callstack.RPCClient | callstack.SocketIO) {
			return callstack.Short(stack[i].Function)
		}
	}
	return "network"
}
