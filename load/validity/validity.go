// Package validity decides whether a run's figures describe the target or the
// generator: what voids them, and what a reader should know. It is pure.
package validity

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/scenario"
)

// Thresholds of the generator's validity. Exceeding one of these makes the run invalid:
// its figures describe the generator.
const (
	// ownLag: a request that is sent late although a connection was free adds
	// the generator's delay to the target's latency. Below a millisecond that
	// is the kernel's scheduling, which any client has; a tenth of the median
	// latency would shift the percentiles visibly. It holds for the median of the
	// lag, and for its 99th percentile unless sharing the CPUs with the target is
	// the reason; see sharedTail.
	ownLagLeast = time.Millisecond
	ownLagShare = 0.10
	// starved: the generator's threads stood in the kernel's run queue for this
	// share of the time that they wanted to run. Next to its target, on loopback,
	// a late request is then the price of sharing the CPUs, which is a warning but
	// does not void the run, unless the late sending makes up half of the tail:
	// then the tail is more the generator's than the target's.
	// Any client there waits for up to two turns of another thread (two slices of the
	// kernel's scheduler, some 1.5 ms each on 2 to 4 CPUs), however short the latency
	// is.
	starved    = 0.20
	sharedMost = 0.50
	twoTurns   = 3 * time.Millisecond
	// Little's law: rate x mean service time is the number of requests in
	// service. In a closed loop that is the number of connections, unless the generator
	// itself holds requests up; a rate may be wrong by a tenth before verdicts with the
	// default margin of 5 % change sides.
	littleLeast = 0.90
	// cpuMost: with all CPUs used by the generator alone, nothing says that the
	// target could not have answered faster.
	cpuMost = 0.95
	// loopMost: an event loop that is on CPU all the time always finds the next event
	// already waiting, so answers queue in the generator and it could not have taken
	// more of them. Below that there are pauses, in which it waits for the target.
	loopMost = 0.95
	// localFailures: failures that come from the generator's own limits (descriptors,
	// ports) say nothing about the target. From one in a thousand they begin to show in
	// p99.9.
	localFailures = 0.001
	// unfinishedMost: the latency of a request that never ended is only known to be at
	// least its age. With up to one in 100 of these the 99th percentile is still that of
	// a request that ended; with more it may lie anywhere above. (The estimate of
	// histogram.Counts.Censored does not help: it assumes that unfinished requests are
	// like the others, which is false if the target stalls.)
	unfinishedMost = 0.01
	// connectedLeast: share of the requested connections that were there. It voids the
	// run only if the generator's own limits are the reason.
	connectedLeast = 0.90
)

// Figures of an invalid run that cannot be trusted, as the reasons word them.
const (
	figureLatency = "the latency percentiles"
	figureTail    = "the latency percentiles from p90 up"
	figureRate    = "the rate"
	figureOffered = "the offered rate"
	figureBoth    = "the rate and the latency percentiles"
	figureErrors  = "the rate and the share of errors"
)

// Evidence is the basis of the generator's validity, over the measured span.
type Evidence struct {
	Open     bool          // an open loop
	Span     time.Duration // the measured one
	On       time.Duration // of the span, with requests due or in progress; 0 for all of it
	Asked    int           // connections; in an open loop the cap
	Held     bool          // an open loop whose connections are all open from the start
	Ramped   bool          // connections differ over the span
	CPUs     int
	Loopback bool // the target is on this host
	Summary  record.LoadSummary
	Spent    Spent
	Own      histogram.Quantiles // schedule lag while a connection was free
	// LoopBusy is the largest share of the span, 0 to 1, that one event loop was on CPU; 0
	// if unknown.
	LoopBusy float64

	// ServiceSum is the total service time of all requests, failed ones included, LagSum
	// their total schedule lag, and ThinkSum the total planned think time of a closed loop.
	ServiceSum, LagSum, ThinkSum time.Duration

	Begun, Waiting int64         // unfinished: sent, and never sent
	Oldest         time.Duration // of the sent ones
	Grace          time.Duration
	Cut            bool  // the caller ended the run, so there was no grace time
	Pushed         int64 // messages that no request waited for
	Failures       [len(failure.Kinds)]error
}

// Spent is the usage of the generator's process within the measured span.
type Spent struct {
	CPU time.Duration
	// Polled is the part of CPU in which event loops waited awake for what was due: it would have gone to any work.
	Polled time.Duration
	Delay  time.Duration
	Runs   float64 // how often threads were put on a CPU, after Delay in all
	Known  bool    // whether Delay and Runs are
	Open   float64 // mean established connections
	// Busy is the largest share of the time, 0 to 1, that one event loop was on CPU; 0 if
	// unknown.
	Busy  float64
	Edges int // that Open is the mean of
}

// verdict gathers the reasons that void a run, each with the figure that it spoils.
type verdict struct{ why []string }

func (v *verdict) invalid(figure, format string, args ...any) {
	v.why = append(v.why, fmt.Sprintf(format, args...)+"; "+figure+" cannot be trusted")
}

// Assess returns the verdict with its reasons, and warnings that do not void a run. It is
// deterministic.
func Assess(e *Evidence) (record.Generator, []string) {
	v := verdict{why: []string{}}
	if e.Summary.Requests > 0 {
		if e.Open {
			checkLag(e, &v)
		} else {
			checkLittle(e, &v)
		}
		checkLimits(e, &v)
	}
	checkConnections(e, &v)
	checkCPU(e, &v)
	checkOffered(e, &v)
	unanswered := checkUnfinished(e, &v)
	verdict := record.ValidityValid
	if len(v.why) > 0 {
		verdict = record.ValidityInvalid
	}
	return record.Generator{WhyInvalid: v.why, Valid: len(v.why) == 0, Validity: verdict, Unanswered: unanswered}, warnings(e)
}

// checkLag separates the generator's own lag from queueing: lag while all connections
// were busy is the target's and belongs to the latency.
func checkLag(e *Evidence, v *verdict) {
	bound := e.ownLagBound()
	switch typical, tail := time.Duration(e.Own.P50), time.Duration(e.Own.P99); {
	case typical > bound:
		v.invalid(figureLatency, "the generator sent half of the requests at least %s late although a connection was free (allowed: %s)",
			notation.Time(typical), notation.Time(bound))
	case tail > bound && !e.sharedTail():
		v.invalid(figureTail, "the generator sent one request in 100 at least %s late although a connection was free (allowed: %s)",
			notation.Time(tail), notation.Time(bound))
	}
}

func (e *Evidence) ownLagBound() time.Duration {
	return max(ownLagLeast, time.Duration(ownLagShare*float64(e.Summary.Latency.P50)))
}

// sharedTail reports whether late requests come from sharing the CPUs with the
// target, and are not most of the latency's tail.
func (e *Evidence) sharedTail() bool {
	late := float64(e.Own.P99)
	return e.Loopback && e.queueShare() >= starved && (late < sharedMost*float64(e.Summary.Latency.P99) || late < float64(twoTurns))
}

// queueShare returns for which share of the time that the generator's threads wanted to
// run they were in the kernel's run queue; 0 if that is not known.
func (e *Evidence) queueShare() float64 {
	wanted := e.Spent.CPU + e.Spent.Delay
	if !e.Spent.Known || wanted <= 0 {
		return 0
	}
	return float64(e.Spent.Delay) / float64(wanted)
}

func checkLittle(e *Evidence, v *verdict) {
	total := e.ServiceSum + e.LagSum + e.ThinkSum
	if total <= 0 {
		return
	}
	share := float64(e.ServiceSum+e.ThinkSum) / float64(total)
	if share >= littleLeast {
		return
	}
	inService, slots, what := float64(e.ServiceSum)/float64(e.Span), e.Asked, "connections"
	if e.Summary.Streams > 1 {
		slots, what = e.Asked*e.Summary.Streams, "streams"
	}
	v.invalid(figureRate, "Little's law: %s requests/s x %s mean service time keep %s of %d %s busy; "+
		"for %s of the time between two requests, the generator kept them idle",
		notation.Rate(float64(e.Summary.Requests)/e.Span.Seconds()), notation.Time(e.MeanService()),
		notation.Short(inService), slots, what, notation.Percent(1-share))
}

// localLimits are the generator's own limits, by the failures that they cause.
var localLimits = [...]struct {
	kind failure.Kind
	what string
}{
	{failure.TooManyFDs, "file descriptors (raise the limit: ulimit -n)"},
	{failure.NoPorts, "local ports (fewer new connections, more local addresses, or a wider net.ipv4.ip_local_port_range)"},
}

func checkLimits(e *Evidence, v *verdict) {
	for _, limit := range localLimits {
		n := e.Summary.ErrorKinds[string(limit.kind)]
		if float64(n) > localFailures*float64(e.Summary.Requests) {
			v.invalid(figureErrors, "the generator ran out of %s: %s of %s requests failed because of it", limit.what,
				notation.Count(n), notation.Count(e.Summary.Requests))
		}
	}
}

// checkConnections voids a run whose connections are missing because of the generator.
// A target that refuses them causes only a warning.
func checkConnections(e *Evidence, v *verdict) {
	if !e.disconnected() {
		return
	}
	for _, limit := range localLimits {
		if e.Failures[limit.kind.Index()] != nil {
			v.invalid(figureRate, "%s of %d connections were open on average: the generator ran out of %s",
				notation.Short(e.Spent.Open), e.Asked, limit.what)
		}
	}
}

// disconnected reports whether too few of the requested connections were there, on
// average. An open loop opens only as many as it needs, unless it holds them.
func (e *Evidence) disconnected() bool {
	return (!e.Open || e.Held) && !e.Ramped && e.Spent.Edges > 0 && e.Spent.Open < connectedLeast*float64(e.Asked)
}

func checkCPU(e *Evidence, v *verdict) {
	switch used := e.cpusUsed(); {
	case used >= cpuMost*float64(e.CPUs):
		v.invalid(figureBoth, "the generator used %s of %d CPUs: it is the limit, not the target", notation.Short(used), e.CPUs)
	case e.busy() >= loopMost:
		v.invalid(figureBoth, "an event loop of the generator was on CPU for %s of the time, so answers waited for it: "+
			"it is the limit, not the target (give it more threads or a second machine)", notation.Percent(e.busy()))
	}
}

// checkOffered compares sent requests with due ones. If requests waited for a connection
// while the generator had time, the target is the reason.
func checkOffered(e *Evidence, v *verdict) {
	if e.neverSent() && e.full() {
		v.invalid(figureOffered, "%s of %s due requests were never sent because the generator had no CPU time left",
			notation.Count(e.Waiting), notation.Count(e.due()))
	}
}

// checkUnfinished voids a run in which so many requests never ended that latencies are
// unknown, and returns the reason.
func checkUnfinished(e *Evidence, v *verdict) string {
	open := e.Begun + e.Waiting
	if e.Cut || float64(open) <= unfinishedMost*float64(e.due()) {
		return ""
	}
	never := ""
	if e.Waiting > 0 {
		never = fmt.Sprintf(" (%s of them were never sent)", notation.Count(e.Waiting))
	}
	v.invalid(figureBoth, "%s of %s due requests were unfinished %s after the end of the load%s, so their latency is unknown",
		notation.Count(open), notation.Count(e.due()), notation.Time(e.Grace), never)
	return v.why[len(v.why)-1]
}

// full reports whether the generator had no time left.
func (e *Evidence) full() bool {
	return e.busy() >= loopMost || e.cpusUsed() >= cpuMost*float64(e.CPUs)
}

func (e *Evidence) due() int64 { return e.Summary.Requests + e.Begun + e.Waiting }

func (e *Evidence) neverSent() bool {
	return e.Open && float64(e.Waiting) > (1-offeredLeast)*float64(e.due())
}

func (e *Evidence) cpusUsed() float64 {
	return series.PerSecond((e.Spent.CPU - e.Spent.Polled).Seconds(), e.Span)
}

// busy is the largest share of the time under load that one event loop was on CPU. When
// the load pauses so does the loop, and that time does not count.
func (e *Evidence) busy() float64 {
	return min(1, e.LoopBusy*float64(e.Span)/float64(max(1, cmp.Or(e.On, e.Span))))
}

// MeanService is the mean service time of a request.
func (e *Evidence) MeanService() time.Duration {
	return e.ServiceSum / time.Duration(max(1, e.Summary.Requests))
}

// Loopback reports whether every request of the plan goes to this host, as far
// as the URL names it.
func Loopback(p *scenario.Plan) bool {
	for _, q := range p.Requests {
		// The host never comes from data, so it stands before any placeholder.
		text, _, _ := strings.Cut(string(q.URL), "{{")
		u, err := url.Parse(text)
		if err != nil {
			return false
		}
		host := u.Hostname()
		addr, err := netip.ParseAddr(host)
		if host != "localhost" && (err != nil || !addr.IsLoopback()) {
			return false
		}
	}
	return true
}
