package downstream

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastDialShare is the part of request time or of CPU. Opening connections is
	// pure waste where they could be kept, so a smaller part than for other waits
	// is worth reporting.
	leastDialShare = 0.10
	// leastDials is the number of waits per request: a client that keeps its
	// connections waits for one a few times in a run, not once in twenty requests.
	leastDials = 0.05
)

// Churn finds HTTP and gRPC clients that do not keep their connections.
//
// Waits and the kernel must agree, because either alone misleads. A burst waits for
// connections that are kept afterwards, and connections are opened in goroutines of
// the transport which no request may wait for. net/http keeps 2 idle connections
// per host by default (DefaultMaxIdleConnsPerHost), so that at 64 in flight most
// are closed after each call.
var Churn = diagnose.Analyzer{
	Name:  "http-client",
	Stage: diagnose.Wait,
	Doc: "Sums waits for a connection of an HTTP or gRPC client and the CPU of dialling and TLS handshakes. They count from " +
		"10 % of request time or CPU, when at least one request in twenty waits for a connection, and the kernel counts as many opened.",
	Causes: []diagnose.Cause{{
		ID:    "http-client-churn",
		Title: "An HTTP or gRPC client opens connections instead of keeping them",
		Doc:   "Requests wait in the transport for a connection to be opened, and CPU goes into dialling and handshakes.",
		Knows: "Waits for the transport to hand out a connection (look-ups of names left out), and the CPU of " +
			"dialling and of TLS handshakes as a client: 10 % of request time or of CPU, when one request in " +
			"twenty waits so, and the kernel counts one connection opened in twenty requests. A client that " +
			"keeps its connections waits for one a few times in a run. On busy CPUs the far end, where it " +
			"runs on the same host, pays about as much again for each connection, and the wait for its answer " +
			"is then reported as a consequence. Distinguished from downstream-slow by the connections opened " +
			"per request.",
		Remedy: "One Transport, or one grpc.ClientConn, for all calls; read bodies to the end and close " +
			"them; MaxIdleConnsPerHost (2 by default) at the number of calls in flight.",
		Example: diagnose.Example{Lang: "go",
			Before: "client := http.Client{Transport: &http.Transport{}} // in every request",
			After:  "var client = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}"},
		Verify:      "redline compare BEFORE AFTER: tcp.opens outwards falls to nearly none, CPU per request falls.",
		Cases:       []string{"geo-lookup", "push-gateway", "partner-feed", "avatar-fetch", "seed-vault", "orders-gateway"},
		FollowsFrom: []string{"dns-per-request"},
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run:   runDial,
}

// runDial takes the larger of wait and CPU as the share. The number of connections
// is the kernel's where it counted, as waits in the trace include those for a
// connection that another request gives back.
func runDial(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	sites := waits.ByOwner(w.Sites(callstack.HTTPOpen))
	if len(sites) == 0 {
		return nil, nil
	}
	share, times := opening(p), w.Times(callstack.HTTPOpen)
	cpu, handshakes := 0.0, 0.0
	if use, err := p.Use(); err == nil {
		cpu = use.With(callstack.HTTPConnect)
		handshakes = use.Share(callstack.TLS)
	}
	if times < leastDials || max(share, cpu) < leastDialShare {
		return nil, nil
	}
	// The place that waits is where the client is used; for gRPC that need not be
	// where it is made.
	place := sites[0].Place
	opens, counted := p.Rate(series.TCPOpens, series.Labels("dir", "out"))
	each := times
	if counted {
		each = opens / p.Load().Rate
	}
	if each < leastDials {
		p.Reject("http-client-churn", "requests wait for a connection %s times each at %s, but the kernel "+
			"counts %s opened per request: those that are kept are waited for",
			diagnose.Times(times), diagnose.At(place), diagnose.Times(each))
		return nil, nil
	}
	// A grpc.ClientConn connects at its first call and waits there in the picker;
	// the fix is at the place that makes it per request (seed-vault).
	rpc := p.Stacks.Roles(p.Stacks.Handler(sites[0].Part.Stack)).Has(callstack.RPCClient)
	if at, ok := maker(p); rpc && ok {
		place = at
	}
	f := diagnose.Finding{
		Cause: "http-client-churn", Share: max(share, cpu), ShareOf: diagnose.OfRequest, Confidence: findings.High,
		Where: diagnose.WhereOf(place),
	}
	diagnose.Promise(&f, dialGain(p, share, cpu, times))
	if cpu > share {
		f.ShareOf = diagnose.OfCPU
	}
	client := "An HTTP client"
	if rpc {
		client = "A gRPC client"
	}
	f.Title = fmt.Sprintf("%s opens %s: %s of %s at %s", client, diagnose.PerRequest(each, "a connection",
		"connections"), diagnose.Percent(f.Share), f.ShareOf, diagnose.At(place))
	f.Evidence = append(f.Evidence,
		diagnose.Fact(diagnose.FromTrace, times, diagnose.Ratio, "%s for a connection, %s of request time",
			diagnose.PerRequest(times, "a wait", "waits"), diagnose.Percent(share)),
		diagnose.Fact(diagnose.FromProfile, cpu, diagnose.Ratio, "%s of the service's CPU goes into opening "+
			"client connections, TLS %s", diagnose.Percent(cpu), diagnose.Percent(handshakes)))
	if counted {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, each, diagnose.Count,
			"the kernel counts %s opened", diagnose.PerRequest(each, "a connection", "connections")))
	}
	f.Remedy = fmt.Sprintf("At %s use one shared Transport, read each body to its end before Close, and set "+
		"MaxIdleConnsPerHost to the calls in flight (the default keeps 2).", diagnose.At(place))
	if rpc {
		f.Remedy = fmt.Sprintf("Make the grpc.ClientConn of %s once, at start, and share it: one carries all "+
			"calls at once and connects again by itself.", diagnose.At(place))
	}
	return []diagnose.Finding{f}, nil
}

// maker returns the user's place that makes gRPC connections, by the CPU profile:
// they open only at their first call, so no wait shows it.
func maker(p *diagnose.Pass) (place code.Frame, ok bool) {
	use, err := p.Use()
	if err != nil {
		return place, false
	}
	sums := map[code.Frame]int64{}
	for b := range use.All {
		if !b.Roles.Has(callstack.Dial) || !b.Roles.Has(callstack.RPCClient) || p.Stacks.Innermost(b.Stack) < 0 {
			continue
		}
		if at, found := p.Stacks.Place(b.Stack); found {
			if sums[at] += b.Value; !ok || sums[at] > sums[place] {
				place, ok = at, true
			}
		}
	}
	return place, ok
}

// opening returns the part of request time spent waiting for a connection, 0 to 1,
// without the part that look-ups of names take (dns-per-request).
func opening(p *diagnose.Pass) float64 {
	share := p.Waits().Share(callstack.HTTPOpen)
	for _, part := range p.Anatomy.All {
		if p.Stacks.Wait(part) == callstack.HTTPOpen {
			share -= float64(resolving(part)) / float64(p.Anatomy.MeanNS)
		}
	}
	return max(0, share)
}

const (
	// often is the number of connections opened per request from which opening them
	// is part of each call.
	often = 0.2
	// leastFarEnd: the far end is on this host if other programs use at least this
	// part of what this end spends on connections; it pays about as much.
	// push-gateway has 1.2.
	leastFarEnd = 0.5
)

// dialGain bounds what keeping connections could gain: the dialler's CPU, about as
// much at a far end on this host, and the wait. Bounding by the wait alone made a
// dial that took 73 % of the CPU worth 1.11x, less than the call it belongs to.
func dialGain(p *diagnose.Pass, share, cpu, times float64) laws.Gain {
	c := p.CPU()
	freed := cpu * p.Own()
	if !(freed > 0) {
		return p.Waited(share)
	}
	others := c.Busy - c.Target - c.Children - c.Generator
	if c.Database > 0 {
		others -= c.Database
	}
	farEnd := times >= often && others > leastFarEnd*freed
	both := freed
	if farEnd {
		both += min(others, freed)
	}
	gain := p.Freed(share, freed, both)
	if c.Saturated() && farEnd {
		// Others that keep the CPUs busy are the far end, and requests wait for its
		// share of opening a connection in their calls.
		if more := p.Elsewhere(min(1, share+p.Waits().Share(callstack.HTTPWait))); more.Factor > gain.Factor {
			gain = more
		}
	}
	return gain
}
