package load

import (
	"math"
	"time"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// window gathers the requests that ended in one window.
type window struct {
	index             int64
	requests          int64
	failures          [len(kinds)]int64
	bytesIn, bytesOut int64
	slow              slowSample // the slowest of the measured span; zero if none
	traced            slowSample // the slowest of these that carried a Trace

	// intervals hold the times: one, or several where the latency log is cut.
	intervals []*interval
	// latency, service and lag are those of all requests, once the window is
	// closed and until its intervals are taken back; nil when there are none.
	latency, service, lag *timing
	sums                  [timeKinds]*timing // their targets where several add up
}

// reset makes w the window of an index, without intervals.
func (w *window) reset(index int64) {
	*w = window{index: index, intervals: w.intervals[:0], sums: w.sums}
}

// add counts a request that ended in the window. Its times go to the interval.
func (w *window) add(s *sample) {
	w.requests++
	if s.kind != 0 {
		w.failures[s.kind]++
	}
	w.bytesIn += int64(s.bytesIn)
	w.bytesOut += int64(s.bytesOut)
}

// interval returns the interval of a time; of a time outside of the window, the
// nearest.
func (w *window) interval(t time.Duration) *interval {
	for _, i := range w.intervals {
		if t < i.span.To {
			return i
		}
	}
	return w.intervals[len(w.intervals)-1]
}

// whole returns the times of a kind of all intervals and steps together. With
// one request in the mix that is the interval's own histogram.
func (w *window) whole(kind int) *timing {
	var all *timing
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
					w.sums[kind] = &timing{}
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

func (w *window) failed() (n int64) {
	for _, f := range w.failures {
		n += f
	}
	return n
}

// gauges are the readings of the connections at a window's edge.
type gauges struct {
	begun, unsent, dials int64 // so far
	open, queued         int64 // now
}

// loadSeries holds the series of the load, made once.
type loadSeries struct {
	requests, sent, inFlight, queued, connections, dials, bytesIn, bytesOut series.Series

	cpu, delay            series.Series
	errors                [len(kinds)]series.Series
	latency, service, lag [4]series.Series
}

func newSeries() *loadSeries {
	count := func(name string) series.Series { return series.Series{Name: name, Unit: "1"} }
	quantiles := func(name string) (all [4]series.Series) {
		for i, q := range []string{"p50", "p90", "p99", "max"} {
			all[i] = series.Series{Name: name, Labels: series.Labels("q", q), Unit: "ns"}
		}
		return all
	}
	s := &loadSeries{
		requests: count(series.LoadRequests), sent: count(series.LoadSent), inFlight: count(series.LoadInFlight),
		queued: count(series.LoadQueued), connections: count(series.LoadConnections), dials: count(series.LoadDials),
		bytesIn:  series.Series{Name: series.LoadBytesIn, Unit: "bytes"},
		bytesOut: series.Series{Name: series.LoadBytesOut, Unit: "bytes"},
		cpu:      series.Series{Name: series.GeneratorCPU, Unit: "ns"},
		delay:    series.Series{Name: series.GeneratorDelay, Unit: "ns"},
		latency:  quantiles(series.LoadLatency), service: quantiles(series.LoadService), lag: quantiles(series.LoadLag),
	}
	for i, kind := range kinds {
		s.errors[i] = series.Series{Name: series.LoadErrors, Labels: series.Labels("kind", string(kind)), Unit: "1"}
	}
	return s
}

// points appends the window's figures. Kinds of failure that the run has not
// met take no series, and times of no request no point.
func (s *loadSeries) points(dst []series.Point, w *window, met *[len(kinds)]bool) []series.Point {
	add := func(of series.Series, v float64) {
		dst = append(dst, series.Point{Window: w.index, Series: of, Value: v})
	}
	add(s.requests, float64(w.requests))
	add(s.bytesIn, float64(w.bytesIn))
	add(s.bytesOut, float64(w.bytesOut))
	for i := range kinds {
		if met[i] = met[i] || w.failures[i] > 0; met[i] {
			add(s.errors[i], float64(w.failures[i]))
		}
	}
	times := func(of [4]series.Series, t *timing) {
		if t == nil {
			return
		}
		q := t.quantiles()
		for i, v := range []int64{q.P50, q.P90, q.P99, q.Max} {
			add(of[i], float64(v))
		}
	}
	times(s.latency, w.latency)
	times(s.service, w.service)
	times(s.lag, w.lag)
	return dst
}

// edge appends the readings of a window's edge: counters since the edge before and
// gauges now.
func (s *loadSeries) edge(dst []series.Point, window int64, before, now gauges, ended int64, openLoop bool) []series.Point {
	add := func(of series.Series, v int64) {
		dst = append(dst, series.Point{Window: window, Series: of, Value: float64(v)})
	}
	add(s.sent, (now.begun-now.unsent)-(before.begun-before.unsent))
	add(s.inFlight, now.begun-ended)
	add(s.connections, now.open)
	add(s.dials, now.dials-before.dials)
	if openLoop {
		add(s.queued, now.queued)
	}
	return dst
}

// consumed appends the usage of the generator's process between two edges, split
// among the windows that it touches.
func (s *loadSeries) consumed(dst []series.Point, span timebase.Span, width time.Duration, before, now usage) []series.Point {
	split := func(of series.Series, amount time.Duration) {
		timebase.Split(span, width, float64(amount), func(window int64, part float64) {
			dst = append(dst, series.Point{Window: window, Series: of, Value: math.Max(0, part)})
		})
	}
	split(s.cpu, now.cpu-before.cpu)
	if now.delayKnown && before.delayKnown {
		split(s.delay, now.delay-before.delay)
	}
	return dst
}
