package validity

import (
	"errors"
	"fmt"
	"time"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
)

// Thresholds of warnings, which do not void a run's figures.
const (
	// offeredLeast: less than this share of the due requests was sent in time.
	offeredLeast = 0.99
	// sharedCPU: a generator that takes this share of the CPUs next to its
	// target takes it from the target.
	sharedCPU = 0.25
	// queued: the share of all time for which the generator's threads were in the
	// kernel's run queue. An answer that arrives meanwhile is read only afterwards. By
	// Little's law the share of the mean service time that answers wait for this is at
	// most the share of time that their event loop is there, because at most all requests
	// in progress wait then. Verdicts tolerate a tenth of it. The share of the time in
	// which the threads wanted to run would mislead: a generator with little to do wants
	// to run only for moments.
	queued = 0.10
	// readLate is the part of the mean service time by which responses must be read late. Each is read when a thread that waited
	// gets its turn, so their mean delay is about that of a turn, whatever part of the time such waits take.
	readLate = 0.05
)

// warnings are remarks for the reader of the figures.
func warnings(e *Evidence) []string {
	all := []string{}
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if used := e.cpusUsed(); e.Loopback && used >= sharedCPU*float64(e.CPUs) {
		warn("the generator used %s of the %d CPUs that it shares with the target", notation.Short(used), e.CPUs)
	}
	warnQueued(e, warn)
	if e.neverSent() && !e.full() {
		warn("%s of %s due requests were never sent: all %d connections were busy",
			notation.Count(e.Waiting), notation.Count(e.due()), e.Asked)
	} else if rate := e.Summary.Rate; e.Open && !e.neverSent() && e.due() > 0 && e.Summary.Errors == 0 &&
		rate < offeredLeast*e.Summary.IntendedRate {
		warn("the target answered only %s of the %s requests/s that were due", notation.Rate(rate), notation.Rate(e.Summary.IntendedRate))
	}
	if e.disconnected() {
		warn("only %s of %d connections were open on average", notation.Short(e.Spent.Open), e.Asked)
	}
	if e.Begun > 0 {
		warn("%s unanswered at the end of the grace time, the oldest after %s; the percentiles count them "+
			"as at least that slow", notation.Counted(e.Begun, "request was", "requests were"), notation.Time(e.Oldest))
	}
	if e.Pushed > 0 {
		warn("the target sent %s that no request waited for: the next message counts as a request's response, so such messages may "+
			"have been taken for responses", notation.Counted(e.Pushed, "message", "messages"))
	}
	for i, err := range e.Failures {
		if err != nil {
			var named *failure.Error
			if errors.As(err, &named) {
				err = named.Err // it would say the kind once more
			}
			during := ""
			if e.Summary.ErrorKinds[string(failure.Kinds[i])] == 0 {
				during = ", in the warm-up"
			}
			warn("first failure of kind %s%s: %.300s", failure.Kinds[i], during, err.Error())
		}
	}
	return all
}

// warnQueued reports how long the generator waited for a CPU in the kernel's run queue,
// and which figures contain that.
func warnQueued(e *Evidence, warn func(format string, args ...any)) {
	if e.Summary.Requests == 0 {
		return
	}
	share, each := e.queueShare(), 1e3*series.PerSecond(e.Spent.Delay.Seconds(), e.Span)
	if tail := time.Duration(e.Own.P99); e.Open && tail > e.ownLagBound() && e.sharedTail() {
		warn("one request in 100 was sent at least %s late because the load generator waited for a CPU that the target or other programs "+
			"used (%s per second in the kernel's run queue); the tail of the latency includes that delay", notation.Time(tail),
			notation.Span(1e6*each))
	} else if late := float64(e.Spent.Delay) / max(1, e.Spent.Runs); e.Spent.Known && each >= 1e3*queued &&
		late >= readLate*float64(e.Summary.Service.Mean) {
		warn("the load generator was short of CPU (its threads waited for one for %s per second, %s of the time in which they were "+
			"ready to run), so it read responses late: about %s of the latency shown (mean %s%s) is the generator's delay",
			notation.Span(1e6*each), notation.Percent(share), notation.Span(late),
			notation.Time(time.Duration(e.Summary.Service.Mean)), p99(e.Summary))
	}
}

// p99 is the 99th percentile of the latency as the second figure of a list; "" if there are fewer than a hundred requests.
func p99(s record.LoadSummary) string {
	if s.Requests < 100 {
		return ""
	}
	return ", p99 " + notation.Time(time.Duration(s.Latency.P99))
}
