package downstream

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastOwn is how many times the service's own work per request a response must
	// take: below it the service itself takes the time. A ratio, unlike a limit in
	// ms, stays the same when CPUs that both share fill up. orders-gateway has 1.4,
	// kyc-check 30.
	leastOwn = 2
	// handOvers is how many times a goroutine's mean wait for a CPU a response must
	// take. A call is handed over a dozen times (goroutines, kernels, the other
	// service and back), each time with such a wait or more, so a response within a
	// hundred waits is immediate. orders-gateway has 25; partner-feed, whose CPUs
	// are saturated, 12; weather-proxy 690.
	handOvers = 100
)

// Slow finds slow calls to other services.
//
// Most of the rule is about what it leaves out: whatever a more specific cause
// explains, calls that the target answers itself, and responses that are fast for
// this host. A fixed limit of 3 ms was tried. On a host that both services fill,
// every response takes that long and none is slow; but next to 0.2 ms of own work,
// 2.5 ms is slow.
var Slow = diagnose.Analyzer{
	Name:  "downstream",
	Stage: diagnose.Wait,
	Doc: "Sums network waits in HTTP clients, gRPC, Redis and other clients (not databases, not the server's own " +
		"connections) by caller. They count at 20 % or more of request time, or at half or more of the tail's extra time, if " +
		"a response takes at least twice as long as the request's own work and a hundred times as long as a wait for a CPU.",
	Causes: []diagnose.Cause{{
		ID:    "downstream-slow",
		Title: "Requests wait for another service",
		Doc:   "Requests wait on the network for the response to one call to a dependency.",
		Knows: "In the trace, redline groups waits in a client's call (HTTP, gRPC, Redis and other clients, sockets that the " +
			"service's own code reads, goroutines of other libraries that read the responses) by the function of the " +
			"service that makes the call. They count at 20 % or more of request time, or at half or more of the time by " +
			"which the tail exceeds the median. Time in which the service's own goroutines are ready to read the " +
			"response but have no CPU does not count. A response is slow compared with the service itself, not with a " +
			"fixed limit: it takes at least twice as long as the request's own work (including its queue for a CPU, so " +
			"that a shared host cancels out) and at least a hundred times a goroutine's mean wait for a CPU. The number " +
			"of calls distinguishes this cause from downstream-serial and retry-storm, callers that still wait from " +
			"missing-timeout, and the reason for the wait from http-client-churn and dns-per-request. A call that the " +
			"service itself answers, over loopback or through memory, is its own work. If each call opens a connection " +
			"on busy CPUs, the wait for the response is reported with that cause.",
		Remedy: "Make the dependency faster, call it less often (cache, batch) or in parallel with other work, or hedge its " +
			"slow calls.",
		Example: diagnose.Example{Lang: "go",
			Before: "rate, err := p.fetch(ctx, pair) // 30 ms, for each request",
			After:  "rate, err := p.cache.Get(ctx, pair, p.fetch) // one fetch per pair and minute"},
		Verify: "redline ab with p50 or p99: request time falls by that wait.",
		Cases:  []string{"weather-proxy", "fx-rates", "trip-planner", "orders-gateway"},
		// If each call opens a connection, or waits without an end, the time of the
		// response itself is unknown.
		FollowsFrom: []string{"http-client-churn", "missing-timeout", "cache-stampede"},
		SamePlace:   true,
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	After: []string{"http-client", "timeout"},
	Run:   runDownstream,
}

// runDownstream goes through the callers, largest first, and reports why it leaves
// out those that it does not name. perCall is the response's own time, without the
// time in which the service's goroutines are ready to read it.
func runDownstream(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	var sites []waits.Site
	for _, kind := range []callstack.Wait{callstack.HTTPWait, callstack.RPCWait, callstack.OwnServer, callstack.NetworkWait} {
		for _, s := range w.Sites(kind) {
			// A request that waits for another one's call makes none: that is
			// singleflight-convoy (currency-table calls four times a second).
			if s.Via != callstack.FlightWait {
				sites = append(sites, s)
			}
		}
	}
	otherwise := otherwiseReported(p)
	var found []diagnose.Finding
	for _, s := range waits.ByOwner(sites) {
		if resolving(s.Part) > s.Part.NS/2 {
			continue // reported as a look-up, or too short for that
		}
		v, ok := waitgain.Decide(p, s, waitgain.Outside)
		if !ok {
			continue
		}
		if why := otherwise(s); why != "" {
			p.Reject("downstream-slow", "calls at %s take %s of request time, but %s", diagnose.At(s.Place),
				diagnose.Percent(s.Share), why)
			continue
		}
		times := attempts(p, s)
		perCall := (1 - p.OwnPart(s)) * s.NS / max(times, 1e-3)
		if why := atOnce(p, perCall); v.Of == diagnose.OfRequest && why != "" {
			p.Reject("downstream-slow", "calls at %s take %s of request time, but each gets its response within %s, %s",
				diagnose.At(s.Place), diagnose.Percent(s.Share), diagnose.Span(perCall), why)
			continue
		}
		f := v.Finding(p, "downstream-slow", s)
		name, through := client(p, s.Part.Stack)
		f.Where.Detail = name
		if through != "" && through != s.Place.Function { // it only passes on its arguments, and may still be where to cache the response
			f.Where.Detail += " in " + callstack.Short(through)
		}
		f.Title = fmt.Sprintf("%s for a downstream call (%s) at %s", v.Requests(), name, diagnose.At(s.Place))
		f.Remedy = fmt.Sprintf("Make the dependency called at %s faster, cache its response, or make the call in parallel "+
			"with other work.", diagnose.At(s.Place))
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, times, diagnose.Count, "%s, %s each",
			diagnose.PerRequest(times, "a call", "calls"), diagnose.Span(perCall)))
		found = append(found, f)
	}
	return found, nil
}

// otherwiseReported returns a function that says, as a clause for the report, why
// the calls at a site are not a finding of their own; "" if they may be.
func otherwiseReported(p *diagnose.Pass) func(s waits.Site) string {
	reported, reason := elsewhere(p)
	stalled := isStall(p)
	return func(s waits.Site) string {
		switch function := s.Place.Function; {
		case reported(function):
			return reason
		case stalled(function):
			return fmt.Sprintf("half of the requests finish within %s; missing-timeout names the few that do not",
				diagnose.Span(p.Load().P50))
		case outlivedAt(p, function):
			return "the few that outlive their callers raise the mean; missing-timeout names them"
		case ownService(p, s):
			return "the service answers them itself, so they count as its own handlers"
		}
		return ""
	}
}

// atOnce says, as a clause for the report, compared with what a response is fast; ""
// if it is slow. ns is the response's time without the queueing of the service's own
// goroutines.
func atOnce(p *diagnose.Pass, ns float64) string {
	if l := p.Load(); l.Instant() {
		return fmt.Sprintf("and 99 of 100 requests finish within %s", diagnose.Span(l.P99))
	}
	w := p.Waits()
	own := w.NS(callstack.Busy, callstack.Queued, callstack.Collector)
	if ns < leastOwn*own {
		return fmt.Sprintf("while a request's own work takes %s", diagnose.Span(own))
	}
	if each := w.NS(callstack.Queued) / max(1, w.Times(callstack.Queued)); ns < handOvers*each {
		return fmt.Sprintf("and a goroutine waits %s for a CPU each time", diagnose.Span(each))
	}
	return ""
}

// elsewhere returns which functions' calls are reported as retries, as a sequence
// or as cache misses, and why these are not one slow call.
func elsewhere(p *diagnose.Pass) (reported func(function string) bool, reason string) {
	again := map[string]bool{}
	for _, c := range callsOf(p) {
		if _, ok := retriesOf(p, c); ok {
			again[c.chain[0].Function] = true
		}
	}
	s, serial := sequenceOf(p)
	for _, m := range missesOf(p) {
		if v, ok := waitgain.Decide(p, m.site, waitgain.Outside); !ok || v.Of != diagnose.OfRequest {
			continue // too few to be reported
		}
		for function := range m.path {
			again[function] = true
		}
	}
	return func(function string) bool { return again[function] || serial && s.has(function) },
		"their number costs the time, not any single call"
}

// ownService reports whether the target itself answers a call (redline once advised to cache
// one). If the target also has connections to others, a call counts as its own if it is an RPC
// and the target serves gRPC while connected to itself.
func ownService(p *diagnose.Pass, s waits.Site) bool {
	if s.Wait == callstack.OwnServer || s.Wait == callstack.NetworkWait && p.Stacks.Answers == callstack.AnswersAll {
		return true
	}
	self, _ := p.Mean(series.SocketsOutwards, series.Labels("to", "self"))
	return self >= 1 && s.Wait == callstack.RPCWait && p.Stacks.GRPC(s.Part.Stack) && p.ServesRPC()
}

// attempts returns the number of calls per request at a site, or the number of its
// waits where calls cannot be distinguished.
func attempts(p *diagnose.Pass, s waits.Site) (n float64) {
	for _, c := range callsOf(p) {
		if c.chain[0].Function == s.Place.Function {
			n += c.calls[mean]
		}
	}
	if n == 0 {
		return s.Times
	}
	return n
}

// client names the client on a stack by its outermost function, "network" where none is known, and the user's function that calls it, ""
// if none does.
func client(p *diagnose.Pass, stack []code.Frame) (name, caller string) {
	for i := len(stack) - 1; i >= 0; i-- {
		if p.Stacks.Role(stack[i].Function).Has(callstack.HTTPClient | callstack.RPCClient | callstack.SocketIO) {
			if outside := usersOf(p, stack[i+1:]); len(outside) > 0 {
				caller = outside[0].Function
			}
			return callstack.Short(stack[i].Function), caller
		}
	}
	// A client that no rule knows.
	if i := p.Stacks.Innermost(stack); i > 0 && !callstack.Runtime(stack[i-1].Function) {
		return callstack.Short(stack[i-1].Function), ""
	}
	return "network", ""
}
