package host

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// nearPorts is the least part of the local ports in TIME_WAIT to one
	// address: partner-ports reaches all of them. The kernel searches ports of one
	// parity first, so connects slow down before all are taken.
	nearPorts = 0.90
	// leastOpens is per request: it shows that outbound connections come and go
	// with requests.
	leastOpens = 0.1
)

// Ports finds services that run out of local ports.
//
// A closed connection keeps its port for 60 s, for the same address
// (TCP_TIMEWAIT_LEN, include/net/tcp.h; RFC 9293, section 3.4.1). The default range
// of 28,232 ports thus allows some 470 new connections per second and destination.
// Open connections take ports too, but are few compared with closed ones.
var Ports = diagnose.Analyzer{
	Name:  "ports",
	Stage: diagnose.Host,
	Doc: "Compares the connections in TIME_WAIT to one address and port with the available local ports: at least 90 %. It " +
		"explains the requests that fail.",
	Causes: []diagnose.Cause{{
		ID: "port-exhaustion", Title: "Local ports run out",
		Doc: "Every new connection to one address takes a local port, and keeps it for a minute after it closes (TIME_WAIT). " +
			"When all ports are taken, dialling fails at once with EADDRNOTAVAIL: cannot assign requested address.",
		Knows: "The target's connections in TIME_WAIT to the one address that has the most of them reach 90 % of " +
			"net.ipv4.ip_local_port_range in its namespace (sock_diag); or, if they are too short to be sampled, all of the " +
			"namespace's connections do while the target's connects fail without a refused SYN (eBPF), at medium confidence. " +
			"It explains the requests that fail; if none fails yet, confidence is low. New connections per request that do " +
			"not exhaust the ports are http-client-churn, which is reported separately. Exhausted descriptors are fd-limit. " +
			"A client that binds to a few ports of its own goes unnoticed: the kernel does not count failed binds.",
		Remedy: "Reuse connections (one http.Transport, bodies read and closed, MaxIdleConnsPerHost); more local addresses " +
			"or a wider port range only postpone it.",
		Example: diagnose.Example{
			Lang:   "go",
			Before: "http.Transport{} // MaxIdleConnsPerHost is 2: the rest are closed",
			After:  "http.Transport{MaxIdleConnsPerHost: 64} // one for all calls",
		},
		Verify: "redline run again: sockets.time_wait.to_peer stays far below sockets.ports, and tcp.opens (dir=out) falls to a few.",
		Cases:  []string{"partner-ports", "webhook-short-lived"},
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	Run:   runPorts,
}

// runPorts compares TIME_WAIT to one address with the range of ports. A
// connection is a pair of addresses and ports, so ports used for other
// addresses are free for this one.
func runPorts(p *diagnose.Pass) ([]diagnose.Finding, error) {
	waiting, ok := p.Max(series.SocketsTimeWaitPeer, "")
	ports, known := p.Max(series.SocketsPorts, "")
	if !ok || !known || ports <= 0 {
		p.Unjudged("port-exhaustion", "the target's connections in TIME_WAIT were not observed: that needs sock_diag, as the "+
			"target's user or root")
		return nil, nil
	}
	load := p.Load()
	failed := math.Min(1, load.Errors/math.Max(1, load.Requests))
	trust, to := findings.High, "to one address"
	if all, failing := refusedPorts(p); failing && failed >= leastFailed && all > waiting {
		waiting, trust, to = all, findings.Medium, "in the network namespace"
	}
	used := waiting / ports
	if used < nearPorts {
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "port-exhaustion", Share: math.Min(1, used), ShareOf: diagnose.OfCapacity, Confidence: trust,
		GainCeiling: math.Max(diagnose.Ceiling(failed), 1.5),
		Title: fmt.Sprintf("Local ports run out: %s of %s are in TIME_WAIT %s",
			diagnose.Number(waiting), diagnose.Number(ports), to),
		Where: findings.Where{Detail: "net.ipv4.ip_local_port_range"},
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromKernel, waiting, diagnose.Count, "%s connections %s are in TIME_WAIT; there are %s local ports",
				diagnose.Number(waiting), to, diagnose.Number(ports)),
			diagnose.Fact(diagnose.FromLoad, failed, diagnose.Ratio, "%s of the requests fail", diagnose.Percent(failed)),
		},
		Remedy: "Keep and reuse connections. An HTTP client needs one http.Transport, bodies read to the end and closed, and " +
			"MaxIdleConnsPerHost set to the number of calls in flight; a client of a database or cache one pool that keeps them.",
	}
	if failed < leastFailed {
		f.Confidence, f.GainCeiling = findings.Low, diagnose.MinGain
	}
	if fails, ok := p.Sum(series.TCPConnectFails, ""); ok && fails > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromKernel, fails, diagnose.Count,
			"%s could not be established", diagnose.Counted(fails, "outbound connection", "outbound connections")))
	}
	if opened, ok := p.Sum(series.TCPOpens, series.Labels("dir", "out")); ok && opened >= leastOpens*load.Requests {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromKernel, opened/math.Max(1, load.Requests),
			diagnose.Count, "the service opens %s", diagnose.PerRequest(opened/math.Max(1, load.Requests),
				"a connection", "connections")))
	}
	for _, kind := range []callstack.Wait{callstack.HTTPOpen, callstack.HTTPWait, callstack.NetworkWait} {
		if sites := p.Waits().Sites(kind); len(sites) > 0 && sites[0].User {
			f.Where.Function, f.Where.File, f.Where.Line = sites[0].Place.Function, sites[0].Place.File, sites[0].Place.Line
			break
		}
	}
	return []diagnose.Finding{f}, nil
}

// refusedPorts returns the connections in TIME_WAIT of the whole namespace, and
// whether the target's connects fail before a SYN is sent, as they do if no port is
// free. Connections too short to be sampled may not be the target's, hence medium
// confidence.
func refusedPorts(p *diagnose.Pass) (waiting float64, failing bool) {
	waiting, ok := p.Max(series.NetTCPTimeWait, "")
	fails, counted := p.Sum(series.TCPConnectFails, "")
	asked, reported := p.Sum(series.NetAttemptFails, "")
	return waiting, ok && counted && reported && fails >= p.Steady().Len().Seconds() && asked < fails/2
}
