package measured

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/scenario"
)

// Load is the load over the steady span.
type Load struct {
	Open        bool
	Connections int     // requests in flight at once in a closed loop, or the cap of an open one
	Sockets     int     // that carry them: fewer where each has several streams
	Think       float64 // mean pause between a response and the next request, ns
	Intended    float64 // 1/s, of an open loop
	Requests    float64 // ended in the span, failures included
	Errors      float64
	Rate        float64 // ended per second
	// Mean, P50 and P99 are latencies in ns; 0 when nothing was recorded.
	Mean, P50, P99 float64
	// Service is the mean service time in ns: from sent, not from intended.
	Service float64
	// Messages is set if requests are messages on connections that stay open, over WebSocket or TCP.
	Messages bool
}

// Load returns the load of the steady span; its Requests are 0 if no load was recorded.
func (p *Run) Load() Load {
	return p.load.Get(p.readLoad)
}

func (p *Run) readLoad() Load {
	var l Load
	scheme, _, _ := strings.Cut(p.Record.Run.Target.URL, "://")
	l.Messages = slices.Contains([]string{"ws", "wss", "tcp"}, scheme)
	// A plan that does not decode leaves the model unknown, which reads as a
	// closed loop without a connection count; nothing is judged from that.
	if plan, err := scenario.ReadRecorded(p.Record.Run.Scenario); err == nil {
		load := plan.Load
		l.Open, l.Intended, l.Connections = load.Open(), load.Rate, load.Connections*max(1, load.Streams)
		l.Sockets = load.Connections
		if l.Think = float64(load.Think.Mean); l.Think == 0 {
			l.Think = float64(load.Think.Min+max(load.Think.Min, load.Think.Max)) / 2
		}
	}
	l.Requests, _ = p.Sum(series.LoadRequests, "")
	for _, labels := range p.Record.Labels(series.LoadErrors) {
		n, _ := p.Sum(series.LoadErrors, labels)
		l.Errors += n
	}
	l.Rate, _ = p.Rate(series.LoadRequests, "")
	if h, err := p.Record.Histogram("", histogram.Latency, p.Steady()); err == nil && h.TotalCount() > 0 {
		l.Mean, l.P50, l.P99 = h.Mean(), float64(h.ValueAtQuantile(50)), float64(h.ValueAtQuantile(99))
	}
	if h, err := p.Record.Histogram("", histogram.Service, p.Steady()); err == nil && h.TotalCount() > 0 {
		l.Service = h.Mean()
	}
	return l
}

// leastKept: an open loop that reached this part of its intended rate kept its
// schedule.
const leastKept = 0.95

// Kept reports whether the load is an open loop at a rate that the target kept: nothing
// queued from one second to the next.
func (l Load) Kept() bool { return l.Open && l.Intended > 0 && l.Rate >= leastKept*l.Intended }

// instant is a bound on the 99th percentile, in ns: see Instant.
const instant = 10e6

// Instant reports whether the load shows that nothing makes its requests slow.
//
// To a person anything within 100 ms happens at once (R. B. Miller, Response time
// in man-computer conversational transactions, 1968), and a request that is one of
// ten on the way there is fast at a tenth of that. Only an open loop that keeps its
// schedule shows that nothing queues: in a closed one the same latency bounds the
// rate.
func (l Load) Instant() bool { return l.Kept() && l.P99 > 0 && l.P99 < instant }
