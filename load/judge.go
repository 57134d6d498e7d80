package load

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
)

// Thresholds of the generator's judgement of itself. A run over one of the
// first group is invalid: its figures describe the generator. The second group
// only warns.
const (
	// ownLag: a request that is sent late although a connection was free adds
	// the generator's delay to the target's latency. Below a millisecond that
	// is the kernel's scheduling, which any client has; a tenth of the median
	// latency would shift the percentiles visibly. It holds for the median of the
	// lag, and for its 99th percentile unless sharing the CPUs with the target is
	// the reason; see starved.
	ownLagLeast = time.Millisecond
	ownLagShare = 0.10
	// starved: the generator's threads stood in the kernel's run queue for this
	// share of the time that they wanted to run. Beside its target, on loopback,
	// a late request is then the price of sharing the CPUs, which is said but
	// does not void the run.
	starved = 0.20
	// Little's law: rate x mean service time is the number of requests in
	// service. In a closed loop that is the number of connections, unless the
	// generator itself keeps them; a tenth is what a rate may be wrong by
	// before verdicts with the default margin of 5 % turn round.
	littleLeast = 0.90
	// cpuMost: with all CPUs used by the generator alone, nothing says that the
	// target could not have answered faster.
	cpuMost = 0.95
	// localFailures: failures that come from the generator's own limits
	// (descriptors, ports) are no property of the target. One in a thousand is
	// where they begin to show in p99.9.
	localFailures = 0.001

	// offeredLeast: less than this share of the due requests was sent in time.
	offeredLeast = 0.99
	// connectedLeast: share of the asked connections that were there.
	connectedLeast = 0.90
	// sharedCPU: a generator that takes this share of the CPUs beside its
	// target takes it from the target.
	sharedCPU = 0.25
	// ownWait: share of the mean service time that the generator's goroutines
	// waited for a CPU, which is inside of the measured times.
	ownWait = 0.10
)

// evidence is what the generator is judged by, over the measured span.
type evidence struct {
	open     bool
	span     time.Duration
	asked    int  // connections; in an open loop the cap
	ramped   bool // connections differ over the span
	cpus     int
	loopback bool // the target is on this host
	summary  record.LoadSummary
	spent    spent
	own      record.Quantiles // schedule lag while a connection was free

	serviceSum, lagSum time.Duration

	begun, waiting int64         // unfinished: sent, and never sent
	oldest         time.Duration // of the sent ones
	failures       [len(kinds)]error
}

// judge is pure: the same evidence gives the same verdict and texts.
func judge(e *evidence) (record.Generator, []string) {
	g := record.Generator{WhyInvalid: []string{}}
	invalid := func(format string, args ...any) {
		g.WhyInvalid = append(g.WhyInvalid, fmt.Sprintf(format, args...))
	}
	if e.summary.Requests > 0 {
		if e.open {
			judgeLag(e, invalid)
		} else {
			judgeLittle(e, invalid)
		}
		judgeLimits(e, invalid)
	}
	judgeCPU(e, invalid)
	g.Valid = len(g.WhyInvalid) == 0
	return g, warnings(e)
}

type sayer func(format string, args ...any)

// judgeLag tells the generator's own lag from queueing: lag while all
// connections were busy is the target's and belongs into the latency.
func judgeLag(e *evidence, invalid sayer) {
	bound := e.ownLagBound()
	switch typical, tail := time.Duration(e.own.P50), time.Duration(e.own.P99); {
	case typical > bound:
		invalid("the generator sent half of the requests at least %s late although a connection was free (allowed: %s)",
			brief(typical), brief(bound))
	case tail > bound && !e.sharedTail():
		invalid("the generator sent one request in 100 at least %s late although a connection was free (allowed: %s)",
			brief(tail), brief(bound))
	}
}

func (e *evidence) ownLagBound() time.Duration {
	return max(ownLagLeast, time.Duration(ownLagShare*float64(e.summary.Latency.P50)))
}

// sharedTail reports whether late requests come from sharing the CPUs with the
// target.
func (e *evidence) sharedTail() bool {
	wanted := e.spent.cpu + e.spent.delay
	return e.loopback && e.spent.known && wanted > 0 && float64(e.spent.delay) >= starved*float64(wanted)
}

func judgeLittle(e *evidence, invalid sayer) {
	total := e.serviceSum + e.lagSum
	if total <= 0 {
		return
	}
	share := float64(e.serviceSum) / float64(total)
	if share >= littleLeast {
		return
	}
	inService := float64(e.serviceSum) / float64(e.span)
	invalid("Little's law: %.0f requests/s x %s mean service time keep %.1f of %d connections in service; "+
		"the generator itself held them for %.0f %% of the time between two requests",
		float64(e.summary.Requests)/e.span.Seconds(), brief(time.Duration(e.summary.Service.Mean)), inService, e.asked, 100*(1-share))
}

func judgeLimits(e *evidence, invalid sayer) {
	for _, limit := range []struct {
		kind ErrorKind
		what string
	}{
		{KindTooManyFDs, "file descriptors (raise the limit: ulimit -n)"},
		{KindNoPorts, "local ports (fewer new connections, or a wider net.ipv4.ip_local_port_range)"},
	} {
		n := e.summary.ErrorKinds[string(limit.kind)]
		if float64(n) > localFailures*float64(e.summary.Requests) {
			invalid("the generator ran out of %s: %d of %d requests failed on that", limit.what, n, e.summary.Requests)
		}
	}
}

func judgeCPU(e *evidence, invalid sayer) {
	if used := e.cpusUsed(); used >= cpuMost*float64(e.cpus) {
		invalid("the generator used %.2f of %d CPUs: it is the limit, not the target", used, e.cpus)
	}
}

func (e *evidence) cpusUsed() float64 {
	return record.PerSecond(e.spent.cpu.Seconds(), e.span)
}

// warnings are what a reader should know beside the figures.
func warnings(e *evidence) []string {
	all := []string{}
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if used := e.cpusUsed(); e.loopback && used >= sharedCPU*float64(e.cpus) {
		warn("the generator used %.2f of the %d CPUs that the target runs on too", used, e.cpus)
	}
	if tail := time.Duration(e.own.P99); e.open && tail > e.ownLagBound() && e.sharedTail() {
		warn("one request in 100 was sent at least %s late because the generator waited for a CPU that the target or others used "+
			"(%.0f ms/s in the kernel's run queue); the tail of the latency includes it",
			brief(tail), 1e3*record.PerSecond(e.spent.delay.Seconds(), e.span))
	}
	if e.summary.Requests > 0 && float64(e.spent.wait) > ownWait*float64(e.summary.Service.Mean) {
		warn("the generator's goroutines waited %s for a CPU on average (p99 %s); service times (mean %s) include it",
			brief(e.spent.wait), brief(e.spent.waitP99), brief(time.Duration(e.summary.Service.Mean)))
	}
	if due := e.summary.Requests + e.begun + e.waiting; e.open && due > 0 {
		if late := e.waiting; float64(late) > (1-offeredLeast)*float64(due) {
			warn("%d of %d due requests were never sent: all %d connections were busy", late, due, e.asked)
		} else if rate := e.summary.Rate; e.summary.Errors == 0 && rate < offeredLeast*e.summary.IntendedRate {
			warn("%.0f requests/s were answered of %.0f/s that were due", rate, e.summary.IntendedRate)
		}
	}
	if !e.open && e.spent.edges > 0 && !e.ramped && e.spent.open < connectedLeast*float64(e.asked) {
		warn("%.1f of %d connections were open on average", e.spent.open, e.asked)
	}
	if e.begun > 0 {
		warn("%d requests were not answered by the end of the grace time, the oldest for %s; the percentiles leave them out",
			e.begun, brief(e.oldest))
	}
	for i, err := range e.failures {
		if err != nil {
			warn("first failure of kind %s: %.300s", kinds[i], err.Error())
		}
	}
	return all
}

// brief prints a time with three digits.
func brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	default:
		return fmt.Sprintf("%.3g us", float64(d)/1e3)
	}
}

// loopback reports whether every request of the plan goes to this host, as far
// as the URL tells.
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
