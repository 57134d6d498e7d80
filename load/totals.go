package load

import (
	"math/bits"
	"strconv"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// totals are the figures of the measured span. Requests are counted one by
// one; their times are added when the window in which they ended closes.
type totals struct {
	steady   timebase.Span
	requests int64
	failures [len(kinds)]int64
	status   [1000]int64
	// within counts successes that ended inside of the span, whenever they
	// were intended: the basis of the rate.
	within            int64
	bytesIn, bytesOut int64

	// inService is how long requests were with the target, failed ones too.
	inService time.Duration

	service, first, lag, errors timing
	own                         timing // see sample.own

	// open are the requests that had not ended when the run did.
	open ages

	steps  []stepTotals  // as the latency log has them
	checks []checkTotals // by request
}

// stepTotals is one request of the mix.
type stepTotals struct {
	name             string
	requests, errors int64
	latency          timing
}

// checkTotals are the checks of one request.
type checkTotals struct {
	request string
	checks  []scenario.Check
	answers int64
	failed  []int64 // by check
}

// newTotals takes the requests' names and the plan with their checks; without a
// plan there are none.
func newTotals(steady timebase.Span, names []string, plan *scenario.Plan) *totals {
	t := &totals{steady: steady}
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
func (t *totals) add(s *sample) bool {
	if s.kind == 0 && within(t.steady, s.done) {
		t.within++
	}
	if !within(t.steady, s.intended) {
		return false
	}
	t.requests++
	t.failures[s.kind]++ // index 0 counts the successes
	if (s.status > 0 || s.answered()) && int(s.status) < len(t.status) {
		t.status[s.status]++
	}
	t.bytesIn += int64(s.bytesIn)
	t.bytesOut += int64(s.bytesOut)
	if s.sent > 0 {
		t.own.add(s.own)
		t.inService += s.done - s.sent
	}
	step := &t.steps[min(int(s.request), len(t.steps)-1)]
	step.requests++
	if s.kind != 0 {
		step.errors++
	}
	if c := &t.checks[s.request]; len(c.failed) > 0 {
		c.add(s)
	}
	return true
}

// answered reports whether there is an answer, be it with a status that the
// plan does not expect.
func (s *sample) answered() bool { return s.kind == 0 || kinds[s.kind] == KindStatus }

// add counts the checks' verdicts on an answer. Without an answer they have
// looked at nothing.
func (c *checkTotals) add(s *sample) {
	if !s.answered() {
		return
	}
	c.answers++
	for failed := s.failed; failed != 0; failed &= failed - 1 {
		if i := bits.TrailingZeros64(failed); i < len(c.failed) {
			c.failed[i]++
		}
	}
}

// merge adds the times of an interval's requests of the measured span.
func (t *totals) merge(i *interval) {
	for step, times := range i.inside {
		all := [timeKinds]*timing{&t.steps[step].latency, &t.service, &t.first, &t.lag, &t.errors}
		for kind, part := range times {
			if part != nil {
				all[kind].merge(part)
			}
		}
	}
}

// failed returns the number of failures.
func (t *totals) failed() int64 { return t.requests - t.failures[0] }

// summary is the load half of summary.json. The caller adds the parts that the totals do
// not know: the model and the unfinished requests. name gives a status its name;
// nil means its number.
func (t *totals) summary(measured time.Duration, name func(status int) string) record.LoadSummary {
	first := 0 // which is a success where statuses have names, as gRPC's have
	if name == nil {
		name, first = strconv.Itoa, 1
	}
	s := record.LoadSummary{
		Duration: int64(measured), Requests: t.requests, Errors: t.failed(),
		Rate:    series.PerSecond(float64(t.within), measured),
		Latency: t.latency(), Service: t.service.with(&t.open.service), FirstByte: t.first.with(&t.open.first),
		Lag: t.lag.quantiles(), ErrorLatency: t.errors.quantiles(),
		Status: map[string]int64{}, ErrorKinds: map[string]int64{},
		BytesIn: t.bytesIn, BytesOut: t.bytesOut,
		Steps: t.stepSummaries(), Checks: t.checkResults(),
	}
	for code, n := range t.status {
		if code >= first && n > 0 {
			s.Status[name(code)] += n
		}
	}
	for i, n := range t.failures {
		if i > 0 && n > 0 {
			s.ErrorKinds[string(kinds[i])] = n
		}
	}
	return s
}

// latency is that of all steps.
func (t *totals) latency() histogram.Quantiles {
	var all, open timing
	for i := range t.steps {
		all.merge(&t.steps[i].latency)
		if t.open.steps != nil {
			open.merge(&t.open.steps[i])
		}
	}
	return all.with(&open)
}

// stepSummaries returns one for each request of the mix, if there are several.
func (t *totals) stepSummaries() (all []record.StepSummary) {
	if len(t.steps) < 2 {
		return nil
	}
	for i := range t.steps {
		s, latency := &t.steps[i], histogram.Quantiles{}
		if latency = s.latency.quantiles(); t.open.steps != nil {
			latency = s.latency.with(&t.open.steps[i])
		}
		all = append(all, record.StepSummary{Name: s.name, Requests: s.requests, Errors: s.errors, Latency: latency})
	}
	return all
}

func (t *totals) checkResults() (all []record.CheckResult) {
	for _, c := range t.checks {
		for i, check := range c.checks {
			all = append(all, record.CheckResult{
				Request: c.request, Name: check.Name, Passed: c.answers - c.failed[i], Failed: c.failed[i],
			})
		}
	}
	return all
}
