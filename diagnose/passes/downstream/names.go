package downstream

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

const (
	// leastNameShare is the least part of request time. A look-up whose result could be cached, or
	// whose connection could be kept, is pure waste, so a smaller part than for other
	// waits is worth reporting.
	leastNameShare = 0.10
	// leastNameNS per request: the resolver's files and a cache on the host answer
	// within 100 µs.
	leastNameNS = 100e3
	// leastNameTimes per request: a client that keeps its connections looks names
	// up a few times in a run.
	leastNameTimes = 0.05
)

// Names finds look-ups of names in the request path.
//
// Go's own resolver has no cache (package net, Name Resolution), so every look-up
// queries a server, and with search domains several times. It mostly happens in the
// goroutine that dials for a request; the trace follows the request's wait to that
// goroutine.
var Names = diagnose.Analyzer{
	Name:  "names",
	Stage: diagnose.Wait,
	Doc: "Sums the waits for DNS look-ups, in the request's own goroutine or in those that dial for it. They count at 10 % " +
		"or more of request time and at least 100 µs, if at least one request in twenty makes a look-up.",
	Causes: []diagnose.Cause{{
		ID:    "dns-per-request",
		Title: "Requests wait for DNS look-ups",
		Doc: "Requests query a name server, directly or because they open a connection, and wait for its response. Go's " +
			"resolver has no cache, so each look-up goes to the server.",
		Knows: "Waits with the resolver on the stack (net.(*Resolver), its exchange, or getaddrinfo through cgo), in the " +
			"request's goroutine or in the transport's dialling goroutine, which the trace follows. They count at 10 % or " +
			"more of request time and at least 100 µs, if at least one request in twenty makes a look-up. It differs from " +
			"http-client-churn in how much of the wait for a connection is the look-up: if that is most of the wait, the " +
			"churn is reported with this cause.",
		Remedy: "Keep connections open (one Transport, bodies read and closed), cache the addresses for their time to live, " +
			"or run a caching resolver on the host.",
		Example: diagnose.Example{Lang: "go",
			Before: "hosts, err := resolver.LookupHost(ctx, \"mx.\"+domain) // in every request",
			After:  "hosts, err := r.cache.LookupHost(ctx, \"mx.\"+domain) // keeps results for their time to live"},
		Verify: "redline compare BEFORE AFTER: requests no longer wait in net.(*Resolver).",
		Cases:  []string{"mail-relay", "avatar-fetch"},
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run:   runNames,
}

func runNames(p *diagnose.Pass) ([]diagnose.Finding, error) {
	l := lookupsOf(p)
	share := min(1, l.ns/p.Waits().MeanNS())
	if share < leastNameShare || l.ns < leastNameNS || l.times < leastNameTimes {
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "dns-per-request", Share: share, ShareOf: diagnose.OfRequest, Confidence: findings.High,
		GainCeiling: p.OutsideGain(share), Where: diagnose.WhereOf(l.place),
		Title: fmt.Sprintf("Requests wait %s of their time for DNS look-ups at %s",
			diagnose.Percent(share), diagnose.At(l.place)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromTrace, l.ns, diagnose.Nanosec,
				"the mean request waits %s of its %s for the resolver (%s)", diagnose.Span(l.ns),
				diagnose.Span(p.Waits().MeanNS()), diagnose.PerRequest(l.times, "a wait", "waits")),
		},
		Remedy: fmt.Sprintf("At %s, keep the connection open, cache the addresses, or use a caching resolver on the host.",
			diagnose.At(l.place)),
	}
	f.Where.Detail = usage.PathWords(l.chain)
	return []diagnose.Finding{f}, nil
}

// lookups is how much requests wait for look-ups of names.
type lookups struct {
	ns, times float64 // per request
	place     code.Frame
	chain     []code.Frame
}

// lookupsOf sums them; the place is that of the longest.
func lookupsOf(p *diagnose.Pass) (l lookups) {
	var most int64
	for _, part := range p.Anatomy.All {
		ns, times := resolved(part)
		if ns == 0 {
			continue
		}
		l.ns += float64(ns)
		if !inKernel(part.Stack) {
			l.times += times
		}
		if ns > most {
			most, l.chain = ns, users(p, part.Stack)
			if len(l.chain) > 0 {
				l.place = l.chain[0]
			}
		}
	}
	return l
}

// inKernel reports whether a stack ends in a system call, such as connect or write: that waits for no response.
// getaddrinfo through cgo does.
func inKernel(stack []code.Frame) bool {
	return len(stack) > 0 && strings.HasPrefix(stack[0].Function, "syscall.")
}

// resolving returns the time of a part that is spent on look-ups, in ns.
func resolving(part breakdown.Part) (ns int64) {
	ns, _ = resolved(part)
	return ns
}

// resolved returns the time of a part that is spent on look-ups, in ns, and how often: all of it if the resolver is on its stack,
// otherwise what the goroutines behind it spent there. A look-up takes several waits there, but is one to who waits for it.
func resolved(part breakdown.Part) (ns int64, times float64) {
	if resolver(part.Stack) {
		return part.NS, part.Times
	}
	for _, c := range part.Behind {
		i := slices.IndexFunc(c.Links, func(l breakdown.Link) bool { return resolver(l.Stack) || resolverFunction(l.Goroutine) })
		if i >= 0 {
			ns, times = ns+c.NS, times+c.Links[i].Times
		}
	}
	if times == 0 {
		times = part.Times // not counted
	}
	return ns, min(times, part.Times)
}

func resolver(stack []code.Frame) bool {
	for _, f := range stack {
		if resolverFunction(f.Function) {
			return true
		}
	}
	return false
}

// resolverFunction reports whether a function looks up names: in the standard
// library's resolver, in Go or through cgo, or in miekg/dns, which others use.
// (*Resolver).dial and the resolving of numeric addresses do not.
func resolverFunction(function string) bool {
	pkg, name := callstack.Split(function)
	switch {
	case pkg == "net":
		for _, prefix := range []string{"(*Resolver).lookup", "(*Resolver).Lookup", "(*Resolver).goLookup",
			"(*Resolver).exchange", "(*Resolver).tryOneName", "dnsPacketRoundTrip", "dnsStreamRoundTrip",
			"cgoLookup", "goLookup"} {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
	case strings.HasPrefix(pkg, "github.com/miekg/dns"):
		return strings.HasPrefix(name, "(*Client).") || strings.HasPrefix(name, "Exchange")
	}
	return false
}
