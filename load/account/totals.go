package account

import (
	"math/bits"
	"strconv"
	"time"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// Totals are the figures of the measured span. Requests are counted one by
// one; their times are added when the window in which they ended closes.
type Totals struct {
	steady   timebase.Span
	Requests int64
	Failures [len(failure.Kinds)]int64
	status   [1000]int64
	// within counts successes that ended inside of the span, whenever they
	// were intended: the basis of the rate.
	within            int64
	bytesIn, bytesOut int64

	// InService is how long requests were with the target, failed ones too.
	InService time.Duration

	service, first, Lag, errors Timing
	Own                         Timing // see Sample.Own

	// Open are the requests that had not ended when the run did.
	Open Ages

	steps  []stepTotals  // the same as in the latency log
	checks []checkTotals // by request
	failed map[failed]*record.FailureSummary
}

// stepTotals is one request of the mix.
type stepTotals struct {
	name             string
	requests, errors int64
	latency          Timing
}

// checkTotals are the checks of one request.
type checkTotals struct {
	request string
	checks  []scenario.Check
	answers int64
	failed  []int64 // by check
}

// Ages are how old the unfinished requests were when the run ended: lower bounds of their
// latencies (right-censored). The zero value is empty.
type Ages struct {
	steps          []Timing // from the intended time, by step; nil when there is none
	service, first Timing   // from sending, of those that were sent; first of those without an answer's begin
}

// Add adds the age of a request of the mix; steps is how many of them have figures of their own.
func (a *Ages) Add(request, steps int, age time.Duration) {
	if a.steps == nil {
		a.steps = make([]Timing, steps)
	}
	a.steps[min(request, steps-1)].add(age)
}

// AddSent adds the time since a request was sent. begun is set if its answer had begun.
func (a *Ages) AddSent(age time.Duration, begun bool) {
	a.service.add(age)
	if !begun {
		a.first.add(age)
	}
}

// newTotals takes the requests' names and the plan with their checks; without a
// plan there are none.
func newTotals(steady timebase.Span, names []string, plan *scenario.Plan) *Totals {
	t := &Totals{steady: steady}
	for _, name := range stepNames(names) {
		t.steps = append(t.steps, stepTotals{name: name})
	}
	t.checks = make([]checkTotals, len(names))
	for i, name := range names {
		t.checks[i].request = name
		if plan != nil {
			t.checks[i].checks = plan.Requests[i].Checks
			t.checks[i].failed = make([]int64, len(plan.Requests[i].Checks))
		}
	}
	return t
}

// add counts s if it belongs to the measured span, and reports whether it does.
func (t *Totals) add(s *Sample) bool {
	// By when it ended, unlike all else: see the package comment of load, Counting.
	if s.Kind == 0 && Within(t.steady, s.Done) {
		t.within++
	}
	if !Within(t.steady, s.Intended) {
		return false
	}
	t.Requests++
	t.Failures[s.Kind]++ // index 0 counts the successes
	if (s.Status > 0 || s.answered()) && int(s.Status) < len(t.status) {
		t.status[s.Status]++
	}
	t.bytesIn += int64(s.BytesIn)
	t.bytesOut += int64(s.BytesOut)
	if s.Sent > 0 {
		t.Own.add(s.Own)
		t.InService += s.Done - s.Sent
	}
	step := &t.steps[min(int(s.Request), len(t.steps)-1)]
	step.requests++
	if s.Kind != 0 {
		step.errors++
		t.fail(s)
	}
	if c := &t.checks[s.Request]; len(c.failed) > 0 {
		c.add(s)
	}
	return true
}

// answered reports whether there is an answer, even one with a status that the plan
// does not expect.
func (s *Sample) answered() bool { return s.Kind == 0 || failure.Kinds[s.Kind] == failure.Status }

// add counts the checks' verdicts on an answer. Without an answer there are none.
func (c *checkTotals) add(s *Sample) {
	if !s.answered() {
		return
	}
	c.answers++
	for failed := s.Failed; failed != 0; failed &= failed - 1 {
		if i := bits.TrailingZeros64(failed); i < len(c.failed) {
			c.failed[i]++
		}
	}
}

// merge adds the times of an interval's requests of the measured span.
func (t *Totals) merge(i *interval) {
	for step, times := range i.inside {
		all := [timeKinds]*Timing{&t.steps[step].latency, &t.service, &t.first, &t.Lag, &t.errors}
		for kind, part := range times {
			if part != nil {
				all[kind].merge(part)
			}
		}
	}
}

// StepCount is how many requests of the mix have figures of their own.
func (t *Totals) StepCount() int { return len(t.steps) }

// Failed returns the number of failures.
func (t *Totals) Failed() int64 { return t.Requests - t.Failures[0] }

// Summary is the load half of summary.json. The caller adds the parts that the totals do
// not know: the model and the unfinished requests. name gives a status its name;
// nil means its number.
func (t *Totals) Summary(measured time.Duration, name func(status int) string) record.LoadSummary {
	first := 0 // which is a success where statuses have names, as in gRPC
	if name == nil {
		name, first = strconv.Itoa, 1
	}
	s := record.LoadSummary{
		Duration: int64(measured), Requests: t.Requests, Errors: t.Failed(),
		Rate:    series.PerSecond(float64(t.within), measured),
		Latency: t.latency(), Service: t.service.with(&t.Open.service), FirstByte: t.first.with(&t.Open.first),
		Lag: t.Lag.Quantiles(), ErrorLatency: t.errors.Quantiles(),
		Status: map[string]int64{}, ErrorKinds: map[string]int64{},
		BytesIn: t.bytesIn, BytesOut: t.bytesOut,
		Steps: t.stepSummaries(), Checks: t.checkResults(),
	}
	for code, n := range t.status {
		if code >= first && n > 0 {
			s.Status[name(code)] += n
		}
	}
	for i, n := range t.Failures {
		if i > 0 && n > 0 {
			s.ErrorKinds[string(failure.Kinds[i])] = n
		}
	}
	return s
}

// latency is that of all steps.
func (t *Totals) latency() histogram.Quantiles {
	var all, open Timing
	for i := range t.steps {
		all.merge(&t.steps[i].latency)
		if t.Open.steps != nil {
			open.merge(&t.Open.steps[i])
		}
	}
	return all.with(&open)
}

// stepSummaries returns one for each request of the mix, if there are several.
func (t *Totals) stepSummaries() (all []record.StepSummary) {
	if len(t.steps) < 2 {
		return nil
	}
	for i := range t.steps {
		s, latency := &t.steps[i], histogram.Quantiles{}
		if latency = s.latency.Quantiles(); t.Open.steps != nil {
			latency = s.latency.with(&t.Open.steps[i])
		}
		all = append(all, record.StepSummary{Name: s.name, Requests: s.requests, Errors: s.errors, Latency: latency})
	}
	return all
}

func (t *Totals) checkResults() (all []record.CheckResult) {
	for _, c := range t.checks {
		for i, check := range c.checks {
			all = append(all, record.CheckResult{
				Request: c.request, Name: check.Name, Passed: c.answers - c.failed[i], Failed: c.failed[i],
			})
		}
	}
	return shortChecks(all)
}
