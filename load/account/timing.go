package account

import (
	"time"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/record/histogram"
)

// Timing is a histogram of times with their exact sum. The zero Timing is
// empty, and a nil one has no quantiles.
type Timing struct {
	histogram.Counts
	Sum time.Duration // exact, where buckets round
}

func (t *Timing) add(d time.Duration) {
	t.Sum += clampTime(d)
	t.Add(int64(d))
}

func (t *Timing) merge(o *Timing) {
	t.Sum += o.Sum
	t.Merge(&o.Counts)
}

func (t *Timing) reset() {
	t.Sum = 0
	t.Reset()
}

// with returns the quantiles of t and of requests that had not ended.
func (t *Timing) with(open *Timing) histogram.Quantiles {
	if open.Total() == 0 {
		return t.Quantiles()
	}
	return t.Censored(&open.Counts)
}

// Quantiles are those of histogram.QuantilesOf, with exact least, mean and
// largest values.
func (t *Timing) Quantiles() histogram.Quantiles {
	if t == nil || t.Total() == 0 {
		return histogram.Quantiles{}
	}
	q := t.Counts.Quantiles()
	q.Mean = int64(t.Sum) / t.Total()
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
var loggedKinds = [timeKinds]histogram.Kind{histogram.Latency, histogram.Service, histogram.FirstByte,
	histogram.Lag, histogram.ErrorLatency}

// stepTimes are one request's histograms of an interval, nil until needed.
type stepTimes [timeKinds]*Timing

// timed reports whether a sample's times belong to latency and service time:
// successes and timeouts, which took at least as long as the timeout.
func (s *Sample) timed() bool { return s.Kind == 0 || failure.Kinds[s.Kind] == failure.Timeout }

// each calls add for every time that the sample has.
func (s *Sample) each(add func(kind int, d time.Duration)) {
	if s.timed() {
		add(timeLatency, s.Done-s.Intended)
		if s.Sent > 0 {
			add(timeService, s.Done-s.Sent)
		}
		if s.First > 0 && s.Sent > 0 {
			add(timeFirst, s.First-s.Sent)
		}
	}
	if s.Sent > 0 {
		add(timeLag, s.Sent-s.Intended)
	}
	if s.Kind != 0 {
		add(timeError, s.Done-s.Intended)
	}
}
