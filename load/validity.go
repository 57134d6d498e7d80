package load

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/scenario"
)

// Thresholds of the generator's validity. What is over one of these
// makes the run invalid: its figures describe the generator.
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
	// Less than two turns of another thread (two slices of the kernel's scheduler,
	// some 1.5 ms each on 2 to 4 CPUs) are waits of any client there, however
	// short the latency is.
	starved    = 0.20
	sharedMost = 0.50
	twoTurns   = 3 * time.Millisecond
	// Little's law: rate x mean service time is the number of requests in
	// service. In a closed loop that is the number of connections, unless the
	// generator itself keeps them; a rate may be wrong by a tenth
	// before verdicts with the default margin of 5 % turn round.
	littleLeast = 0.90
	// cpuMost: with all CPUs used by the generator alone, nothing says that the
	// target could not have answered faster.
	cpuMost = 0.95
	// loopMost: an event loop that is on CPU all of the time always finds the
	// next event waiting when it comes back, so answers queue in the generator
	// and more of them could not have been taken. Below, there are pauses, in
	// which it waits for the target.
	loopMost = 0.95
	// localFailures: failures that come from the generator's own limits
	// (descriptors, ports) are no property of the target. One in a thousand is
	// where they begin to show in p99.9.
	localFailures = 0.001
	// unfinishedMost: of a request that never ended, the latency is only known to
	// be at least its age. With up to one in 100 of these the 99th percentile, by
	// which the validity of most runs rests, still is one of a request that ended; with more
	// it may lie anywhere above. (The estimate of histogram.Counts.Censored cannot
	// say more: it takes the unfinished to be like the others, which under a
	// target that stalls they are not.)
	unfinishedMost = 0.01
	// connectedLeast: share of the asked connections that were there. It voids
	// the run only when the generator's own limits are the reason.
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

// evidence is the basis of the generator's validity, over the measured span.
type evidence struct {
	open     bool
	span     time.Duration
	on       time.Duration // of the span, with requests due or under way; 0 for all of it
	asked    int           // connections; in an open loop the cap
	held     bool          // an open loop whose connections are all open from the start
	ramped   bool          // connections differ over the span
	cpus     int
	loopback bool // the target is on this host
	summary  record.LoadSummary
	spent    spent
	own      histogram.Quantiles // schedule lag while a connection was free
	// loopBusy is the largest share of the span that one event loop was on CPU;
	// 0 where it is not known.
	loopBusy float64

	// serviceSum is how long requests were with the target, failed ones too, and
	// thinkSum how long a closed loop meant to wait between them.
	serviceSum, lagSum, thinkSum time.Duration

	begun, waiting int64         // unfinished: sent, and never sent
	oldest         time.Duration // of the sent ones
	grace          time.Duration
	cut            bool // the caller ended the run: nothing had its grace time
	failures       [len(kinds)]error
}

// verdict gathers the reasons against a run, each with the figure that it
// spoils.
type verdict struct{ why []string }

func (v *verdict) invalid(figure, format string, args ...any) {
	v.why = append(v.why, fmt.Sprintf(format, args...)+"; "+figure+" cannot be trusted")
}

// validity is pure: the same evidence gives the same verdict and texts.
func validity(e *evidence) (record.Generator, []string) {
	v := verdict{why: []string{}}
	if e.summary.Requests > 0 {
		if e.open {
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

// checkLag separates the generator's own lag from queueing: lag while all
// connections were busy is the target's and belongs into the latency.
func checkLag(e *evidence, v *verdict) {
	bound := e.ownLagBound()
	switch typical, tail := time.Duration(e.own.P50), time.Duration(e.own.P99); {
	case typical > bound:
		v.invalid(figureLatency, "the generator sent half of the requests at least %s late although a connection was free (allowed: %s)",
			notation.Time(typical), notation.Time(bound))
	case tail > bound && !e.sharedTail():
		v.invalid(figureTail, "the generator sent one request in 100 at least %s late although a connection was free (allowed: %s)",
			notation.Time(tail), notation.Time(bound))
	}
}

func (e *evidence) ownLagBound() time.Duration {
	return max(ownLagLeast, time.Duration(ownLagShare*float64(e.summary.Latency.P50)))
}

// sharedTail reports whether late requests come from sharing the CPUs with the
// target, and are not most of the latency's tail.
func (e *evidence) sharedTail() bool {
	late := float64(e.own.P99)
	return e.loopback && e.queueShare() >= starved && (late < sharedMost*float64(e.summary.Latency.P99) || late < float64(twoTurns))
}

// queueShare returns the share of the time that the generator's threads wanted
// to run for which they stood in the kernel's run queue; 0 where it is not known.
func (e *evidence) queueShare() float64 {
	wanted := e.spent.cpu + e.spent.delay
	if !e.spent.known || wanted <= 0 {
		return 0
	}
	return float64(e.spent.delay) / float64(wanted)
}

func checkLittle(e *evidence, v *verdict) {
	total := e.serviceSum + e.lagSum + e.thinkSum
	if total <= 0 {
		return
	}
	share := float64(e.serviceSum+e.thinkSum) / float64(total)
	if share >= littleLeast {
		return
	}
	inService, slots, what := float64(e.serviceSum)/float64(e.span), e.asked, "connections"
	if e.summary.Streams > 1 {
		slots, what = e.asked*e.summary.Streams, "streams"
	}
	v.invalid(figureRate, "Little's law: %.0f requests/s x %s mean service time keep %.1f of %d %s in service; "+
		"the generator itself held them for %.0f %% of the time between two requests",
		float64(e.summary.Requests)/e.span.Seconds(), notation.Time(e.meanService()), inService, slots, what, 100*(1-share))
}

// localLimits are the generator's own limits, by the failures that they cause.
var localLimits = [...]struct {
	kind ErrorKind
	what string
}{
	{KindTooManyFDs, "file descriptors (raise the limit: ulimit -n)"},
	{KindNoPorts, "local ports (fewer new connections, more local addresses, or a wider net.ipv4.ip_local_port_range)"},
}

func checkLimits(e *evidence, v *verdict) {
	for _, limit := range localLimits {
		n := e.summary.ErrorKinds[string(limit.kind)]
		if float64(n) > localFailures*float64(e.summary.Requests) {
			v.invalid(figureErrors, "the generator ran out of %s: %d of %d requests failed on that", limit.what, n, e.summary.Requests)
		}
	}
}

// checkConnections voids a run whose connections are missing for a reason of
// the generator's. A target that refuses them is a finding, and only a warning.
func checkConnections(e *evidence, v *verdict) {
	if !e.disconnected() {
		return
	}
	for _, limit := range localLimits {
		if e.failures[limit.kind.index()] != nil {
			v.invalid(figureRate, "%.1f of %d connections were open on average: the generator ran out of %s", e.spent.open, e.asked, limit.what)
		}
	}
}

// disconnected reports whether too few of the asked connections were there, on
// average. An open loop opens only as many as it needs, unless it holds them.
func (e *evidence) disconnected() bool {
	return (!e.open || e.held) && !e.ramped && e.spent.edges > 0 && e.spent.open < connectedLeast*float64(e.asked)
}

func checkCPU(e *evidence, v *verdict) {
	switch used := e.cpusUsed(); {
	case used >= cpuMost*float64(e.cpus):
		v.invalid(figureBoth, "the generator used %.2f of %d CPUs: it is the limit, not the target", used, e.cpus)
	case e.busy() >= loopMost:
		v.invalid(figureBoth, "an event loop of the generator was on CPU for %.0f %% of the time, so answers waited for it: "+
			"it is the limit, not the target (more threads, or a second machine)", 100*e.busy())
	}
}

// checkOffered compares sent requests with due ones. Requests that waited
// for a connection while the generator had time are the target's doing.
func checkOffered(e *evidence, v *verdict) {
	if e.neverSent() && e.full() {
		v.invalid(figureOffered, "%d of %d due requests were never sent, and the generator had no time left for them", e.waiting, e.due())
	}
}

// checkUnfinished voids a run in which too many requests never ended for
// their latency to be known, and returns the reason.
func checkUnfinished(e *evidence, v *verdict) string {
	open := e.begun + e.waiting
	if e.cut || float64(open) <= unfinishedMost*float64(e.due()) {
		return ""
	}
	never := ""
	if e.waiting > 0 {
		never = fmt.Sprintf(" (%d of them were never sent)", e.waiting)
	}
	v.invalid(figureBoth, "%d of %d due requests had not ended %s after the end of the load%s, so their latency is unknown",
		open, e.due(), notation.Time(e.grace), never)
	return v.why[len(v.why)-1]
}

// full reports whether the generator had no time left.
func (e *evidence) full() bool {
	return e.busy() >= loopMost || e.cpusUsed() >= cpuMost*float64(e.cpus)
}

func (e *evidence) due() int64 { return e.summary.Requests + e.begun + e.waiting }

func (e *evidence) neverSent() bool {
	return e.open && float64(e.waiting) > (1-offeredLeast)*float64(e.due())
}

func (e *evidence) cpusUsed() float64 {
	return series.PerSecond(e.spent.cpu.Seconds(), e.span)
}

// busy is the largest share of the time under load that one event loop was on
// CPU. Where the load pauses, the loop does too, and that says nothing.
func (e *evidence) busy() float64 {
	return min(1, e.loopBusy*float64(e.span)/float64(max(1, cmp.Or(e.on, e.span))))
}

// meanService is how long a request is with the target.
func (e *evidence) meanService() time.Duration {
	return e.serviceSum / time.Duration(max(1, e.summary.Requests))
}

// loopback reports whether every request of the plan goes to this host, as far
// as the URL names it.
func loopback(p *scenario.Plan) bool {
	for _, q := range p.Requests {
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
