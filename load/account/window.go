package account

import (
	"time"

	"github.com/redline-go/redline/load/failure"
)

// Window gathers the requests that ended in one window.
type Window struct {
	Index             int64
	Requests          int64
	failures          [len(failure.Kinds)]int64
	bytesIn, bytesOut int64
	slow              slowSample // the slowest of the measured span; zero if none
	traced            slowSample // the slowest of these that carried a Trace

	// intervals hold the times: one, or several where the latency log is cut.
	intervals []*interval
	// Latency, service and Lag cover all requests, from when the window closes until its
	// intervals are reused; nil without requests.
	Latency, service, Lag *Timing
	sums                  [timeKinds]*Timing // their targets where several add up
}

// reset makes w the window of an index, without intervals.
func (w *Window) reset(index int64) {
	*w = Window{Index: index, intervals: w.intervals[:0], sums: w.sums}
}

// add counts a request that ended in the window. Its times go to the interval.
func (w *Window) add(s *Sample) {
	w.Requests++
	if s.Kind != 0 {
		w.failures[s.Kind]++
	}
	w.bytesIn += int64(s.BytesIn)
	w.bytesOut += int64(s.BytesOut)
}

// interval returns the interval of a time; of a time outside of the window, the
// nearest.
func (w *Window) interval(t time.Duration) *interval {
	for _, i := range w.intervals {
		if t < i.span.To {
			return i
		}
	}
	return w.intervals[len(w.intervals)-1]
}

// whole returns the times of a kind of all intervals and steps together. With
// one request in the mix that is the interval's own histogram.
// Merging copies up to 3.3 MB a step, and most runs have one step: theirs is returned as
// it is.
func (w *Window) whole(kind int) *Timing {
	var all *Timing
	several := false
	for _, i := range w.intervals {
		for step := range i.inside {
			t := i.inside[step][kind]
			switch {
			case t == nil:
			case all == nil:
				all = t
			case several:
				all.merge(t)
			default:
				if w.sums[kind] == nil {
					w.sums[kind] = &Timing{}
				}
				sum := w.sums[kind]
				sum.reset()
				sum.merge(all)
				sum.merge(t)
				all, several = sum, true
			}
		}
	}
	return all
}

// Failed is the number of failures.
func (w *Window) Failed() (n int64) {
	for _, f := range w.failures {
		n += f
	}
	return n
}
