package downstream

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastDialShare is the least part of request time or of CPU. Opening
	// connections that could be kept is pure waste, so a smaller part than for
	// other waits is worth reporting.
	leastDialShare = 0.10
	// leastDials is the number of waits, and of connections opened, per request.
	leastDials = measured.LeastDials
)

// Churn finds clients of HTTP, gRPC and caches that do not keep their connections.
//
// Waits and the kernel must agree, because either alone misleads. A burst waits for
// connections that are kept afterwards, and the transport's goroutines open
// connections for which no request may wait. net/http keeps 2 idle connections per
// host by default (DefaultMaxIdleConnsPerHost), so with 64 calls in flight most
// connections are closed after each call.
var Churn = diagnose.Analyzer{
	Name:  "http-client",
	Stage: diagnose.Wait,
	Doc: "Sums a client's waits for a connection, and the CPU of dialling and TLS handshakes. They count at 10 % or more of " +
		"request time or CPU, if at least one request in twenty waits for a connection and the kernel or the hooks count as " +
		"many connections opened.",
	Causes: []diagnose.Cause{{
		ID:    "http-client-churn",
		Title: "A client opens new connections instead of reusing them",
		Doc: "Requests wait in an HTTP, gRPC, memcached or Redis client for a connection to open, and dialling and " +
			"handshakes use CPU.",
		Knows: "redline sums the waits for the transport to provide a connection (without DNS look-ups), also in a goroutine " +
			"in which the client makes the call, and the CPU of dialling and of TLS handshakes as a client. They count at " +
			"10 % or more of request time or of CPU, if at least one request in twenty waits like this and the kernel or the " +
			"hooks count at least one connection opened per twenty requests. The hooks count those of net/http; otherwise the " +
			"database's sessions are subtracted from the kernel's count. A client that keeps its connections waits for " +
			"one only a few times in a run. Connections that the service dials itself count if it opens one for at least " +
			"every other request. The CPU that requests spend on creating the clients (functions named so: newClient, " +
			"createTransport) counts too if each opens a connection. On busy CPUs the other end, if it runs on the same " +
			"host, pays about as much again for each connection, so the wait for its response is reported as a consequence. " +
			"The number of connections opened per request distinguishes this cause from downstream-slow.",
		Remedy: "Use one Transport, or one grpc.ClientConn, for all calls; read bodies to the end and close them; set " +
			"MaxIdleConnsPerHost (2 by default; MaxIdleConns in a memcache.Client, MaxIdle in a redis.Pool) to the number of " +
			"calls in flight.",
		Example: diagnose.Example{Lang: "go",
			Before: "client := http.Client{Transport: &http.Transport{}} // in every request",
			After:  "var client = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}"},
		Verify:      "redline compare BEFORE AFTER: outgoing tcp.opens falls to nearly zero, and CPU per request falls.",
		Cases:       []string{"geo-lookup", "push-gateway", "partner-feed", "avatar-fetch", "seed-vault", "orders-gateway"},
		FollowsFrom: []string{"dns-per-request"},
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run:   runDial,
}

// runDial takes the larger of wait and CPU as the share. The place is where the
// client is used, unless the client is made per call elsewhere.
func runDial(p *diagnose.Pass) ([]diagnose.Finding, error) {
	sites := waits.ByOwner(p.Waits().Sites(callstack.HTTPOpen))
	if len(sites) == 0 {
		return dialledItself(p), nil
	}
	d, ok := dials(p, sites[0].Place)
	if !ok {
		return dialledItself(p), nil // and hands the connection to the client, which waits for none
	}
	f := diagnose.Finding{
		Cause: "http-client-churn", Share: max(d.share, d.ofCPU()), ShareOf: diagnose.OfRequest, Confidence: findings.High,
		Evidence: d.evidence(),
	}
	if d.ofCPU() > d.share {
		f.ShareOf = diagnose.OfCPU
	}
	diagnose.Promise(&f, dialGain(p, d.share, d.ofCPU(), d.times))
	site := opener(p, sites)
	client, place := "An HTTP client", site.Place
	f.Remedy = fmt.Sprintf("At %s, use one shared Transport, read each body to its end before Close, and set "+
		"MaxIdleConnsPerHost to the number of calls in flight (the default keeps 2).", diagnose.At(place))
	stack := p.Stacks.Handler(site.Part.Stack)
	switch roles := p.Stacks.Roles(stack); {
	case fasthttp(p, stack):
		client = "A fasthttp client"
		f.Remedy = fmt.Sprintf("At %s, use one shared fasthttp.Client: it keeps connections that are idle for less than "+
			"MaxIdleConnDuration (10 s by default), unless the other end closes them.", diagnose.At(place))
	case roles.Has(callstack.RPCClient) && !p.Stacks.GRPC(stack):
		library, setting := pooled(p, stack)
		client = "A client of " + library
		f.Remedy = fmt.Sprintf("Let the client at %s keep as many idle connections as there are calls in flight%s.",
			diagnose.At(place), setting)
	case roles.Has(callstack.RPCClient):
		client = "A gRPC client"
		// A grpc.ClientConn connects at its first call and waits there in the picker;
		// the fix is at the place that makes it per request (seed-vault).
		if at, ok := maker(p, place); ok {
			place = at
		}
		f.Remedy = fmt.Sprintf("Create the grpc.ClientConn of %s once, at start-up, and share it: one carries all calls at "+
			"once and reconnects by itself.", diagnose.At(place))
	}
	if !p.Stacks.GRPC(stack) && !fasthttp(p, stack) && p.PilesUp() {
		f.Remedy = fmt.Sprintf("Create the client that is called at %s, or its Transport, once and share it: each call "+
			"leaves connections of its own behind. If a request makes several calls at once, set MaxIdleConnsPerHost to "+
			"their number (the default keeps 2).",
			diagnose.At(place))
	}
	f.Where = diagnose.WhereOf(place)
	f.Title = fmt.Sprintf("%s opens %s, which takes %s of %s at %s", client, diagnose.PerRequest(d.each, "a connection",
		"connections"), diagnose.Percent(f.Share), diagnose.OfWhat(f.ShareOf), diagnose.At(place))
	d.word(p, &f)
	hint(p, &f)
	return []diagnose.Finding{f}, nil
}

// hint lowers the confidence of a finding whose share of the CPU rests on few samples.
func hint(p *diagnose.Pass, f *diagnose.Finding) {
	if f.ShareOf == diagnose.OfCPU && p.FewSamples() {
		f.Confidence = findings.Low
	}
}

// leastMade is the part of the service's CPU from which making clients counts; eachMade is the number of connections opened per request
// from which a client that requests make is the reason: it begins without any.
const leastMade, eachMade = 0.05, 0.5

// clients notes what requests spend on making the clients that open the connections.
func (d *dialled) clients(p *diagnose.Pass) {
	made, maker, making := p.ClientsMade()
	if made >= leastMade && d.times >= eachMade {
		d.made, d.maker, d.making = made, maker, making
	}
}

// ofCPU is what opening connections takes of the service's CPU, 0 to 1, with the clients.
func (d dialled) ofCPU() float64 { return min(1, d.cpu+d.made) }

// word adds the clients to a finding. Keeping one spares all that making it takes.
func (d dialled) word(p *diagnose.Pass, f *diagnose.Finding) {
	if d.made == 0 {
		return
	}
	name := callstack.Short(d.maker)
	f.Remedy = fmt.Sprintf("Each request creates a client (%s): create it once and share it, and its connections with it. %s",
		name, f.Remedy)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, d.made, diagnose.Ratio,
		"%s takes %s of the service's CPU, including the collection of its allocations", name, diagnose.Percent(d.made)))
	p.Cover(*f, d.making...)
}

// opener returns the site that takes most, at a place in the service's own code. A transport dials in goroutines of its own, and a
// library calls it in others, on whose stacks there is none: then it is where the request waits for them, where the hooks
// saw most calls begin, or another site's.
func opener(p *diagnose.Pass, sites []waits.Site) waits.Site {
	site := sites[0]
	switch place, called := caller(p); {
	case site.User:
	case p.Stacks.User(site.From):
		site.Place = site.From
	case called:
		site.Place = place
	default:
		if i := slices.IndexFunc(sites, func(s waits.Site) bool { return s.User }); i >= 0 {
			return sites[i]
		}
	}
	return site
}

// caller returns the place in the service's own code that makes most calls to other services, by the hooks' count.
func caller(p *diagnose.Pass) (place code.Frame, ok bool) {
	return p.Asker(func(o operation.Operation, by operation.Caller) float64 {
		if o.Kind != operation.HTTP && o.Kind != operation.RPC {
			return 0
		}
		return by.Share * float64(o.Calls)
	})
}

// fasthttp reports whether the client that waits for a connection on a stack is fasthttp's.
func fasthttp(p *diagnose.Pass, stack []code.Frame) bool {
	i := p.Stacks.Find(stack, callstack.HTTPConnect)
	return i >= 0 && callstack.Library(stack[i].Function) == "fasthttp"
}

// idles are the settings of clients that bound how many idle connections they keep, by their packages.
var idles = map[string]string{
	"github.com/bradfitz/gomemcache/memcache": " (MaxIdleConns, 2 by default)",
	"github.com/gomodule/redigo/redis":        " (MaxIdle of the Pool)",
}

// pooled names the client's library on a stack, and the setting that bounds its idle connections.
func pooled(p *diagnose.Pass, stack []code.Frame) (library, setting string) {
	function := stack[p.Stacks.Find(stack, callstack.RPCClient)].Function
	pkg, _ := callstack.Split(function)
	return callstack.Library(function), idles[pkg]
}

// dialled is what opening connections takes.
type dialled struct {
	share           float64 // of request time
	cpu, handshakes float64 // of the service's CPU, and the part of it that is TLS
	times           float64 // waits per request for a connection
	each            float64 // connections opened per request
	source          string  // who counted them, the kernel or the hooks; "" if each is times

	made   float64  // of the service's CPU, for making the clients
	maker  string   // the function that does
	making []string // that and those that it calls
}

// dials applies the rule: waits or CPU, and connections that the kernel or the hooks count. Their
// numbers take precedence over the trace's, whose waits include those for a connection that another
// request gives back.
func dials(p *diagnose.Pass, place code.Frame) (d dialled, ok bool) {
	d.share, d.times = opening(p), p.Waits().Times(callstack.HTTPOpen)
	if use, err := p.Use(); err == nil {
		d.cpu = use.With(callstack.HTTPConnect)
		d.handshakes = use.Part(func(s usage.Booked) bool {
			return s.Roles.Has(callstack.HTTPConnect) && s.Roles.Has(callstack.Handshake|callstack.TLS)
		})
	}
	d.clients(p)
	if d.times < leastDials || max(d.share, d.ofCPU()) < leastDialShare {
		return d, false
	}
	d.count(p)
	if d.each < leastDials {
		p.Reject("http-client-churn", "requests wait for a connection %s times each at %s, but only %s are opened "+
			"per request: they wait for existing connections",
			diagnose.Times(d.times), diagnose.At(place), diagnose.Times(d.each))
		return d, false
	}
	return d, true
}

// count sets how many connections are opened per request. The hooks count those of net/http's client, streams over one connection
// (yamux) included. The kernel counts all of the service's, also those to its database, which the server or the hooks count, and those of
// other clients.
func (d *dialled) count(p *diagnose.Pass) {
	d.each = d.times
	if each, counted := opened(p); counted {
		d.each, d.source = each, diagnose.FromProcess
	}
	n, counted := p.Dialled()
	if requests := p.CountedRequests(); requests > 0 && (n/requests > d.each || counted && standard(p) && holds(p)) {
		d.each, d.source = n/requests, diagnose.FromProbe
	}
}

// holds reports whether the hooks' count holds beside the kernel's: they counted each connection, or calls of other clients as well. In
// bundles from before they counted those that net/http opens for a later call, they have only those that the asking call got.
func holds(p *diagnose.Pass) bool {
	ops := p.Operations()
	return ops == nil || slices.ContainsFunc(ops.Operations, func(o operation.Operation) bool {
		return o.Kind != operation.HTTP && o.Kind != operation.Dial
	})
}

// opened returns how many connections to others than a database are opened per request, as the kernel counts them; false if it does not.
func opened(p *diagnose.Pass) (each float64, counted bool) {
	opens, counted := p.Rate(series.TCPOpens, series.Labels("dir", "out"))
	rate, requests := p.Load().Rate, p.CountedRequests()
	if !counted || !(rate > 0) || !(requests > 0) {
		return 0, false
	}
	sessions, _ := p.Rate(series.DBSessions, "")
	acquired, _ := p.Acquired()
	return max(0, opens/rate-max(sessions/rate, acquired.Opened/requests)), true
}

// standard reports whether requests wait mostly in net/http's own transport for a connection.
func standard(p *diagnose.Pass) bool {
	all, own := 0.0, 0.0
	for _, s := range p.Waits().Sites(callstack.HTTPOpen) {
		all += s.NS
		if slices.ContainsFunc(s.Part.Stack, func(f code.Frame) bool { return strings.HasPrefix(f.Function, "net/http.(*Transport).") }) {
			own += s.NS
		}
	}
	return 2*own > all
}

func (d dialled) evidence() []findings.Evidence {
	list := []findings.Evidence{
		diagnose.Fact(diagnose.FromTrace, d.times, diagnose.Ratio, "%s for a connection, %s of request time",
			diagnose.PerRequest(d.times, "a wait", "waits"), diagnose.Percent(d.share)),
		diagnose.Fact(diagnose.FromProfile, d.cpu, diagnose.Ratio, "%s of the service's CPU goes into opening "+
			"client connections, %s into their handshakes", diagnose.Percent(d.cpu), diagnose.Percent(d.handshakes)),
	}
	if d.source != "" {
		list = append(list, diagnose.Fact(d.source, d.each, diagnose.Count,
			"%s opened", diagnose.PerRequest(d.each, "a connection", "connections")))
	}
	return list
}

// maker returns the user's place that makes gRPC connections, by the CPU profile:
// they open only at their first call, so no wait shows it. Of several it is the one in the
// function whose calls wait for them, if there is one, or else the one that takes the most.
func maker(p *diagnose.Pass, waits code.Frame) (place code.Frame, ok bool) {
	use, err := p.Use()
	if err != nil {
		return place, false
	}
	sums := map[code.Frame]int64{}
	own := func(f code.Frame) bool { return f.Function == waits.Function }
	for b := range use.All {
		if !b.Roles.Has(callstack.Dial) || !b.Roles.Has(callstack.RPCClient) || p.Stacks.Innermost(b.Stack) < 0 {
			continue
		}
		if at, found := p.Stacks.Place(b.Stack); found {
			sums[at] += b.Value
			if !ok || own(at) && !own(place) || own(at) == own(place) && sums[at] > sums[place] {
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
			share -= float64(resolving(part)) / p.Waits().MeanNS()
		}
	}
	return max(0, share)
}

const (
	// often is the number of connections opened per request at which opening them
	// is part of each call.
	often = 0.2
	// leastFarEnd: the far end, which spends about as much on connections, counts
	// as on this host if other programs use at least this part of what this end
	// spends on them. push-gateway has 1.2.
	leastFarEnd = 0.5
)

// dialGain bounds the gain of keeping connections: the dialler's CPU, about as much
// at a far end on this host, and the wait. The wait alone gave dialling that took
// 73 % of the CPU a gain of 1.11x, less than that of the call it belongs to.
func dialGain(p *diagnose.Pass, share, cpu, times float64) laws.Gain {
	c := p.CPU()
	freed := cpu * p.Own()
	if !(freed > 0) {
		return p.Waited(share)
	}
	freed = min(p.Own(), freed*(1+accepted(p)))
	others := c.Busy - c.Target - c.Children - c.Generator
	if c.Database > 0 {
		others -= c.Database
	}
	if c.Peers > 0 {
		others = c.Peers // seen, and no remainder
	}
	farEnd := times >= often && others > leastFarEnd*freed
	both := freed
	if farEnd {
		both += min(others, freed)
	}
	gain := p.Freed(share, freed, both)
	if c.Saturated() && farEnd {
		// The far end keeps the CPUs busy too, and requests wait during their calls
		// for its share of opening a connection.
		if more := p.Elsewhere(min(1, share+farWork(p, others))); more.Factor > gain.Factor {
			gain = more
		}
	}
	return gain
}

// farWork returns the part of request time, 0 to 1, that the far end can have worked or waited for a
// CPU, if it uses so many CPUs: it waits as long for each millisecond of CPU as this end does. In the rest
// of the call it waits for something else, which connections do not change.
func farWork(p *diagnose.Pass, cpus float64) float64 {
	w, load := p.Waits(), p.Load()
	if !(load.Rate > 0) || !(w.MeanNS() > 0) || !(w.OnCPU() > 0) {
		return 0
	}
	stretch := 1 + w.Share(callstack.Queued)/w.OnCPU()
	return min(w.Share(callstack.HTTPWait), cpus*1e9/load.Rate*stretch/w.MeanNS())
}

// accepted returns the part of the connections opened by the process that it also accepts, 0 to 1,
// as the kernel counts them: for those it pays for both ends. Connections that the load dials are
// excluded.
func accepted(p *diagnose.Pass) float64 {
	out, known := p.Rate(series.TCPOpens, series.Labels("dir", "out"))
	in, counted := p.Rate(series.TCPOpens, series.Labels("dir", "in"))
	load, dials := p.Rate(series.LoadDials, "")
	if !known || !counted || !dials || !(out > 0) {
		return 0
	}
	return max(0, min(1, (in-load)/out))
}
