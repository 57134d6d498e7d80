package load

import (
	"strconv"
	"time"

	"github.com/redline-go/redline/record"
)

// totals are the figures of the measured span.
type totals struct {
	steady   record.Span
	requests int64
	failures [len(kinds)]int64
	status   [1000]int64
	// within counts successes that ended inside of the span, whenever they
	// were intended: what the rate is made of.
	within            int64
	bytesIn, bytesOut int64

	latency, service, first, lag, errors timing
	own                                  timing // see sample.own
}

func newTotals(steady record.Span) *totals {
	return &totals{
		steady: steady, latency: newTiming(), service: newTiming(), first: newTiming(),
		lag: newTiming(), errors: newTiming(), own: newTiming(),
	}
}

// add counts s if it belongs to the measured span, and tells whether it does.
func (t *totals) add(s *sample) bool {
	if s.kind == 0 && within(t.steady, s.done) {
		t.within++
	}
	if !within(t.steady, s.intended) {
		return false
	}
	t.requests++
	t.failures[s.kind]++ // index 0 counts the successes
	if s.status > 0 && int(s.status) < len(t.status) {
		t.status[s.status]++
	}
	t.bytesIn += int64(s.bytesIn)
	t.bytesOut += int64(s.bytesOut)
	if s.timed() {
		t.latency.add(s.done - s.intended)
		if s.sent > 0 {
			t.service.add(s.done - s.sent)
		}
		if s.first > 0 && s.sent > 0 {
			t.first.add(s.first - s.sent)
		}
	}
	if s.sent > 0 {
		t.lag.add(s.sent - s.intended)
		t.own.add(s.own)
	}
	if s.kind != 0 {
		t.errors.add(s.done - s.intended)
	}
	return true
}

// failed returns the number of failures.
func (t *totals) failed() int64 { return t.requests - t.failures[0] }

// summary is the load half of summary.json. The caller adds what the totals do
// not know: the model and what was left unfinished.
func (t *totals) summary(measured time.Duration) record.LoadSummary {
	s := record.LoadSummary{
		Duration: int64(measured), Requests: t.requests, Errors: t.failed(),
		Rate:    record.PerSecond(float64(t.within), measured),
		Latency: t.latency.quantiles(), Service: t.service.quantiles(), FirstByte: t.first.quantiles(),
		Lag: t.lag.quantiles(), ErrorLatency: t.errors.quantiles(),
		Status: map[string]int64{}, ErrorKinds: map[string]int64{},
		BytesIn: t.bytesIn, BytesOut: t.bytesOut,
	}
	for code, n := range t.status {
		if n > 0 {
			s.Status[strconv.Itoa(code)] = n
		}
	}
	for i, n := range t.failures {
		if i > 0 && n > 0 {
			s.ErrorKinds[string(kinds[i])] = n
		}
	}
	return s
}
