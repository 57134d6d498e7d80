package host

import (
	"fmt"
	"math"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastLoss is the least part of segments that are retransmitted:
	// price-feed-loss measures 1.7 %. Services with short connections on busy CPUs,
	// rate-quotes-tls and push-gateway, retransmit 0.5 % although none is lost.
	leastLoss = 0.01
	// leastRetransmits is per second, because two of a hundred segments say nothing
	// about the path.
	leastRetransmits = 2.0
	// retryNS is the least delay of a lost request or response: a single segment,
	// which only the timer retransmits (TCP_RTO_MIN, include/net/tcp.h).
	retryNS = 200e6
)

// Loss finds paths that lose packets.
//
// A retransmitted segment need not be lost: on busy CPUs acknowledgements come late and
// segments go out twice, without harm. Their receivers report these (D-SACK, RFC 2883),
// and they are left out. A loss costs the timer's 200 ms, so in the mean window some
// request must be that late.
var Loss = diagnose.Analyzer{
	Name:  "loss",
	Stage: diagnose.Host,
	Doc: "Compares the segments that the target's connections retransmitted with all that they sent: at least 1 % and two a " +
		"second. Each delays a request by 200 ms at most, and by no more than the mean latency exceeds the median.",
	Causes: []diagnose.Cause{{
		ID: "packet-loss", Title: "Packets are lost on the way",
		Doc: "Segments are retransmitted because they were not acknowledged. Most requests are as fast as usual, and a few " +
			"take 200 ms longer or a multiple of it: TCP's retransmission timer, not the service.",
		Knows: "At least 1 % of the segments on the target's own connections are retransmissions (eBPF or sock_diag), and in " +
			"the mean window the slowest request takes 200 ms: on busy CPUs, segments that were only late are retransmitted " +
			"too, which does no harm. Segments that their receivers report as received twice (D-SACK) do not count. " +
			"If only the namespace's counters are available, those without SYNs count, at medium confidence, " +
			"because they cover all its connections. SYNs refused by a full accept queue are accept-overflow. " +
			"The finding names the peer with the most retransmissions. A slow response without loss is downstream-slow, " +
			"which ranks behind this.",
		Remedy: "Fix the path, not the code: cables, overlay networks, policers and firewalls that drop packets; a " +
			"smaller MTU. Make fewer round trips per request.",
		Example: diagnose.Example{
			Lang:   "sh",
			Before: "ss -ti dst 10.0.3.7   # retrans:0/412, rto:204",
			After:  "ss -ti dst 10.0.3.7   # no retrans, and mtr shows no loss on the way",
		},
		Verify: "redline run again: tcp.retransmits and sockets.retransmits stay at 0.",
		Cases:  []string{"price-feed-loss"},
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	Run:   runLoss,
}

// resent is how many segments were retransmitted, out of how many, and on whose
// connections.
type resent struct {
	again, sent float64
	own         bool // of the target's own connections
}

// share is the part of all segments on the wire that were retransmissions, 0 to 1.
func (r resent) share() float64 { return r.again / (r.again + r.sent) }

// runLoss bounds the share twice: by 200 ms per retransmitted segment, and by the
// mean latency's excess over the median.
func runLoss(p *diagnose.Pass) ([]diagnose.Finding, error) {
	r, ok := retransmitted(p)
	if !ok {
		p.Unjudged("packet-loss", "no retransmissions were counted: that needs a target on this host")
		return nil, nil
	}
	repeated, least := r.share(), leastRetransmits*p.Steady().Len().Seconds()
	if !(repeated >= leastLoss) || r.again < least {
		return nil, nil
	}
	if r.again *= 1 - arrived(p); !(r.share() >= leastLoss) || r.again < least {
		p.Reject("packet-loss", "%s of TCP segments are retransmitted, but their receivers report %s of these as received "+
			"twice: they were late, not lost", diagnose.Percent(repeated), diagnose.Percent(arrived(p)))
		return nil, nil
	}
	// Who finds an accept queue full is not answered, and sends again.
	if full, ok := p.Sum(series.NetListenOverflows, ""); ok && full > 0 {
		if r.again = math.Max(0, r.again-full); !(r.share() >= leastLoss) || r.again < least {
			p.Reject("packet-loss", "%s of TCP segments are retransmitted, but %s because an accept queue was full: those are sent "+
				"again, and no path lost them", diagnose.Percent(repeated), refused(full)+" refused")
			return nil, nil
		}
	}
	load := p.Load()
	share := math.Min(0.95, math.Min(above(load), r.again*retryNS/(load.Requests*load.Mean)))
	if slowest, ok := p.Mean(series.LoadLatency, series.Labels("q", "max")); !(share > 0) || ok && slowest < retryNS {
		p.Reject("packet-loss", "%s of TCP segments are retransmitted, but no request is late by the 200 ms "+
			"that a lost one costs", diagnose.Percent(r.share()))
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "packet-loss", Share: share, ShareOf: diagnose.OfRequest, GainCeiling: p.OutsideGain(share), Confidence: findings.Medium,
		Title: fmt.Sprintf("%s of TCP segments are lost and retransmitted", diagnose.Percent(r.share())),
		Where: findings.Where{Detail: "the network namespace"},
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromKernel, r.share(), diagnose.Ratio,
				"%s of %s segments were retransmitted, each after 200 ms or more",
				diagnose.Number(r.again), diagnose.Number(r.again+r.sent)),
			diagnose.Fact(diagnose.FromLoad, load.Mean, diagnose.Nanosec, "the mean latency is %s, the median %s",
				diagnose.Span(load.Mean), diagnose.Span(load.P50)),
		},
		Remedy: "Find where the path drops packets (an overlay network, a policer, a firewall, a cable); " +
			"code can only help by making fewer round trips per request.",
	}
	if r.own {
		f.Confidence, f.Where.Detail = findings.High, "the target's connections"
	}
	if peer, n := worstPeer(p); peer != "" {
		f.Where.Detail = "connections of " + peer
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromKernel, n, diagnose.Count,
			"%s of them on connections of %s", diagnose.Number(n), peer))
	}
	return []diagnose.Finding{f}, nil
}

// retransmitted returns the retransmissions on the target's connections if they are
// known, otherwise on all in its namespace; false if nothing counted them.
func retransmitted(p *diagnose.Pass) (resent, bool) {
	sent, known := p.Sum(series.SocketsSegments, "")
	again, sampled := p.Sum(series.SocketsRetransmits, "")
	if counted, ok := p.Sum(series.TCPRetransmits, ""); ok && (!sampled || counted > again) {
		again, sampled = counted, true
	}
	all, namespace := p.Sum(series.NetOutSegments, "")
	if sampled && again > 0 {
		switch {
		case known && sent >= 0.5*again && (!namespace || lasting(p)):
			return resent{again, math.Max(sent-again, 0), true}, true // sampled segments include retransmissions
		case namespace:
			return resent{again, all, true}, true
		}
	}
	total, ok := p.Sum(series.NetRetransmits, "")
	syn, _ := p.Sum(series.NetSynRetransmits, "")
	if !namespace || !ok {
		return resent{}, sampled
	}
	return resent{math.Max(0, total-syn), all, false}, true
}

// arrived is the part of retransmitted segments that had arrived before, 0 to 1. Receivers
// report each (D-SACK), which the kernel counts only for the whole namespace. Retransmitted
// SYNs are not reported.
func arrived(p *diagnose.Pass) float64 {
	twice, _ := p.Sum(series.NetDuplicates, "")
	again, _ := p.Sum(series.NetRetransmits, "")
	syn, _ := p.Sum(series.NetSynRetransmits, "")
	if !(again > syn) {
		return 0
	}
	return math.Min(1, twice/(again-syn))
}

// lasting reports whether the target's connections last for many requests. On short
// ones the samples miss most segments, while eBPF misses no retransmission, so
// their quotient would be far too large.
func lasting(p *diagnose.Pass) bool {
	in, _ := p.Sum(series.TCPOpens, series.Labels("dir", "in"))
	out, _ := p.Sum(series.TCPOpens, series.Labels("dir", "out"))
	return in+out < leastOpens*p.Load().Requests
}

// worstPeer returns the listening port or the remote address on whose connections
// most segments were retransmitted, and how many.
func worstPeer(p *diagnose.Pass) (peer string, most float64) {
	for _, labels := range p.Record.Labels(series.TCPRetransmitBy) {
		if n, _ := p.Sum(series.TCPRetransmitBy, labels); n > most {
			_, at, _ := strings.Cut(labels, "=")
			peer, most = at, n
		}
	}
	return peer, most
}
