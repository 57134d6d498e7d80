package load

import (
	"time"

	"github.com/redline-go/redline/record/histogram"
)

// timing is a histogram of times with their exact sum. The zero timing is
// empty, and a nil one has no quantiles.
type timing struct {
	histogram.Counts
	sum time.Duration
}

func (t *timing) add(d time.Duration) {
	t.sum += clampTime(d)
	t.Add(int64(d))
}

func (t *timing) merge(o *timing) {
	t.sum += o.sum
	t.Merge(&o.Counts)
}

func (t *timing) reset() {
	t.sum = 0
	t.Reset()
}

// with returns the quantiles of t and of requests that had not ended.
func (t *timing) with(open *timing) histogram.Quantiles {
	if open.Total() == 0 {
		return t.quantiles()
	}
	return t.Censored(&open.Counts)
}

// quantiles are those of histogram.QuantilesOf, with exact least, mean and
// largest values.
func (t *timing) quantiles() histogram.Quantiles {
	if t == nil || t.Total() == 0 {
		return histogram.Quantiles{}
	}
	q := t.Quantiles()
	q.Mean = int64(t.sum) / t.Total()
	return q
}

// clampTime bounds a time to a histogram's range.
func clampTime(d time.Duration) time.Duration {
	return min(max(d, 0), time.Duration(histogram.Highest))
}

// Times of a request, as indices into stepTimes and loggedKinds.
const (
	timeLatency = iota
	timeService
	timeFirst
	timeLag
	timeError
	timeKinds
)

// loggedKinds are the kinds of histogram in the latency log.
var loggedKinds = [timeKinds]histogram.Kind{histogram.Latency, histogram.Service, histogram.FirstByte, histogram.Lag, histogram.ErrorLatency}

// stepTimes are one request's histograms of an interval, nil until needed.
type stepTimes [timeKinds]*timing

// timed reports whether a sample's times belong to latency and service time:
// successes and timeouts, which took as long as the timeout at least.
func (s *sample) timed() bool { return s.kind == 0 || kinds[s.kind] == KindTimeout }

// each calls add for every time of the sample that there is.
func (s *sample) each(add func(kind int, d time.Duration)) {
	if s.timed() {
		add(timeLatency, s.done-s.intended)
		if s.sent > 0 {
			add(timeService, s.done-s.sent)
		}
		if s.first > 0 && s.sent > 0 {
			add(timeFirst, s.first-s.sent)
		}
	}
	if s.sent > 0 {
		add(timeLag, s.sent-s.intended)
	}
	if s.kind != 0 {
		add(timeError, s.done-s.intended)
	}
}
