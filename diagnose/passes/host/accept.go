package host

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastOverflows is per second, because a single refused connection is no
	// limit: ticket-small-backlog has 46; webhook-short-lived, which opens as many
	// connections, has none.
	leastOverflows = 1.0
	// synRetryNS is how long a client waits before it repeats a SYN that was dropped
	// (TCP_TIMEOUT_INIT, include/net/tcp.h; RFC 6298, section 2.1).
	synRetryNS = 1e9
)

// Accept finds listeners whose accept queue is full.
//
// The counter covers the network namespace, not a process, so one of the target's
// listeners must have been full as well; otherwise another program's overflowed.
// The kernel drops the final ACK of a handshake, or the SYN, and informs neither
// side: the service sees nothing, the client a connection that takes a second
// longer (tcp(7), listen(2): backlog, net.core.somaxconn).
var Accept = diagnose.Analyzer{
	Name:  "accept",
	Stage: diagnose.Host,
	Doc: "Reads the kernel's count of connections refused because of a full accept queue, at least one a second, and which queue " +
		"was full. They explain the time by which connections are late: at most a second each.",
	Causes: []diagnose.Cause{{
		ID: "accept-overflow", Title: "The accept queue overflows",
		Doc: "Connections come faster than the service accepts them, and the kernel drops those that do not fit into its " +
			"accept queue. The client retries after 1, 3 and 7 s: a few requests are slower by whole seconds, and the " +
			"service itself does not notice.",
		Knows: "ListenOverflows of the target's network namespace rises by at least one a second, and the accept queue of one " +
			"of the target's listeners reached its bound (sock_diag). An overflow while no listener of the target was full " +
			"belongs to another program, and is rejected. If the queues cannot be read, confidence is medium. It explains " +
			"the latency above the median of an open loop, or the missing connections of a closed one, at most a second per " +
			"overflow.",
		Remedy: "Do nothing that waits between two calls of Accept; raise the backlog (net.core.somaxconn, which Go's listeners " +
			"adopt); keep connections open; use several listeners with SO_REUSEPORT.",
		Example: diagnose.Example{
			Lang:   "go",
			Before: "c, err := l.Accept()\nif !register.admits(c.RemoteAddr()) { // waits\n\tc.Close()\n}",
			After:  "c, err := l.Accept()\ngo serve(c) // the register is consulted there",
		},
		Verify: "redline run again: net.tcp.listen_overflows stays at 0 and tcp.handshake's p99 falls below a second.",
		Cases:  []string{"ticket-small-backlog", "meter-accept-limit", "webhook-short-lived"},
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	Run:   runAccept,
}

// runAccept has high confidence only if one of the target's listeners was seen
// full. Overflows elsewhere in the namespace are rejected with the fullest queue's
// figures.
func runAccept(p *diagnose.Pass) ([]diagnose.Finding, error) {
	overflows, ok := p.Sum(series.NetListenOverflows, "")
	if !ok {
		p.Unjudged("accept-overflow", "no TCP counters of the target's network namespace: they need a target on this host")
		return nil, nil
	}
	if overflows < leastOverflows*p.Steady().Len().Seconds() {
		return nil, nil
	}
	listen, queue, bound, known := fullest(p)
	if known && queue < bound {
		p.Reject("accept-overflow", "%s refused because an accept queue was full, but none of the "+
			"target's was (%s: %s of %s)", refused(overflows), listen, diagnose.Number(queue), diagnose.Number(bound))
		return nil, nil
	}
	share := lateConnections(p, overflows)
	f := diagnose.Finding{
		Cause: "accept-overflow", Share: share, ShareOf: diagnose.OfRequest, GainCeiling: p.OutsideGain(share), Confidence: findings.Medium,
		Title: "The accept queue overflows: " + refused(overflows) + " refused",
		Where: findings.Where{Detail: "net.ipv4 ListenOverflows"},
		Evidence: []findings.Evidence{diagnose.Fact(diagnose.FromKernel, overflows, diagnose.Count,
			"%s refused because an accept queue was full; the client retries after 1 s", refused(overflows))},
		Remedy: "Do nothing that waits between two calls of Accept, raise the listener's backlog " +
			"(net.core.somaxconn), and let clients keep their connections.",
	}
	if known {
		f.Confidence, f.Where.Detail = findings.High, "listener "+listen
		f.Title = fmt.Sprintf("The accept queue of %s overflows: %s refused", listen, refused(overflows))
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromKernel, queue, diagnose.Count,
			"up to %s connections wait at %s, whose queue holds %s", diagnose.Number(queue), listen, diagnose.Number(bound)))
	}
	if longest, ok := p.Max(series.TCPHandshake, series.Labels("q", "max")); ok {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromKernel, longest, diagnose.Nanosec,
			"a handshake takes up to %s", diagnose.Span(longest)))
	}
	return []diagnose.Finding{f}, nil
}

func refused(n float64) string { return diagnose.Counted(n, "connection was", "connections were") }

// fullest returns the target's listener whose accept queue was nearest to its bound, in
// connections. The kernel refuses when more than the bound wait (sk_acceptq_is_full).
func fullest(p *diagnose.Pass) (listen string, queue, bound float64, known bool) {
	for _, labels := range p.Record.Labels(series.SocketsAcceptQueue) {
		most, ok := p.Max(series.SocketsAcceptQueue, labels)
		holds, bounded := p.Mean(series.SocketsBacklog, labels)
		if ok && bounded && holds > 0 && (!known || most/holds > queue/bound) {
			listen, queue, bound, known = series.Label(labels, "listen"), most, holds, true
		}
	}
	return listen, queue, bound, known
}

// lateConnections returns the part of request time spent on connections that are
// not accepted yet, 0 to 0.95. In a closed loop it is the part of connections
// missing on average, in an open one the latency above the median; a second per
// overflow bounds both.
func lateConnections(p *diagnose.Pass, overflows float64) float64 {
	load := p.Load()
	var late, all float64
	if load.Open {
		late, all = above(load), load.Requests*load.Mean
	} else {
		open, ok := p.Mean(series.LoadConnections, "")
		if !ok || load.Sockets == 0 {
			return 0
		}
		late, all = 1-open/float64(load.Sockets), float64(load.Sockets)*float64(p.Steady().Len())
		late = math.Max(late, above(load))
	}
	if !(all > 0) {
		return 0
	}
	return math.Max(0, math.Min(0.95, math.Min(late, overflows*synRetryNS/all)))
}

// above returns the part of the mean latency that lies above the median, 0 to 1:
// the effect of events that delay a few requests by a lot.
func above(load measured.Load) float64 {
	if !(load.Mean > 0) {
		return 0
	}
	return math.Max(0, 1-load.P50/load.Mean)
}
