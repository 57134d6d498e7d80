package load

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/record"
)

// window gathers the requests that ended in one window.
type window struct {
	index             int64
	requests          int64
	failures          [len(kinds)]int64
	bytesIn, bytesOut int64
	latency           timing
	service, lag      timing
	slow              slowSample // the slowest of the measured span; zero if none
}

// timing is a histogram with what HDR iteration would be slow to find.
type timing struct {
	h        *hdrhistogram.Histogram
	sum      time.Duration
	min, max time.Duration
}

func newTiming() timing { return timing{h: record.NewHistogram()} }

func (t *timing) add(d time.Duration) {
	d = clampTime(d)
	if t.h.TotalCount() == 0 || d < t.min {
		t.min = d
	}
	t.max = max(t.max, d)
	t.sum += d
	_ = t.h.RecordValue(int64(d)) // in range after clampTime
}

func (t *timing) reset() {
	t.h.Reset()
	t.sum, t.min, t.max = 0, 0, 0
}

// quantiles are those of record.QuantilesOf, with exact least, mean and
// largest values.
func (t *timing) quantiles() record.Quantiles {
	n := t.h.TotalCount()
	if n == 0 {
		return record.Quantiles{}
	}
	v := t.h.ValueAtPercentilesSlice(quantilesTaken)
	for i := range v {
		v[i] = min(v[i], int64(t.max)) // a bucket's upper end may be above it
	}
	return record.Quantiles{
		Min: int64(t.min), Mean: int64(t.sum) / n, Max: int64(t.max),
		P50: v[0], P90: v[1], P95: v[2], P99: v[3], P999: v[4],
	}
}

var quantilesTaken = []float64{50, 90, 95, 99, 99.9}

// clampTime bounds a time to what a histogram holds.
func clampTime(d time.Duration) time.Duration {
	return min(max(d, 0), time.Duration(record.HistogramHighest))
}

func newWindow() *window {
	return &window{latency: newTiming(), service: newTiming(), lag: newTiming()}
}

func (w *window) reset(index int64) {
	w.latency.reset()
	w.service.reset()
	w.lag.reset()
	*w = window{index: index, latency: w.latency, service: w.service, lag: w.lag}
}

// timed reports whether a sample's times belong to latency and service time:
// successes and timeouts, which took as long as the timeout at least.
func (s *sample) timed() bool { return s.kind == 0 || kinds[s.kind] == KindTimeout }

// add counts a request that ended in the window.
func (w *window) add(s *sample) {
	w.requests++
	if s.kind != 0 {
		w.failures[s.kind]++
	}
	w.bytesIn += int64(s.bytesIn)
	w.bytesOut += int64(s.bytesOut)
	if s.timed() {
		w.latency.add(s.done - s.intended)
		if s.sent > 0 {
			w.service.add(s.done - s.sent)
		}
	}
	if s.sent > 0 {
		w.lag.add(s.sent - s.intended)
	}
}

func (w *window) failed() (n int64) {
	for _, f := range w.failures {
		n += f
	}
	return n
}

// gauges is what a window's edge sees of the connections.
type gauges struct {
	begun, unsent, dials int64 // so far
	open, queued         int64 // now
}

// series holds the series of the load, made once.
type series struct {
	requests, sent, inFlight, queued, connections, dials, bytesIn, bytesOut record.Series

	cpu, delay            record.Series
	errors                [len(kinds)]record.Series
	latency, service, lag [4]record.Series
}

func newSeries() *series {
	count := func(name string) record.Series { return record.Series{Name: name, Unit: "1"} }
	quantiles := func(name string) (all [4]record.Series) {
		for i, q := range []string{"p50", "p90", "p99", "max"} {
			all[i] = record.Series{Name: name, Labels: record.Labels("q", q), Unit: "ns"}
		}
		return all
	}
	s := &series{
		requests: count(record.LoadRequests), sent: count(record.LoadSent), inFlight: count(record.LoadInFlight),
		queued: count(record.LoadQueued), connections: count(record.LoadConnections), dials: count(record.LoadDials),
		bytesIn:  record.Series{Name: record.LoadBytesIn, Unit: "bytes"},
		bytesOut: record.Series{Name: record.LoadBytesOut, Unit: "bytes"},
		cpu:      record.Series{Name: record.GeneratorCPU, Unit: "ns"},
		delay:    record.Series{Name: record.GeneratorDelay, Unit: "ns"},
		latency:  quantiles(record.LoadLatency), service: quantiles(record.LoadService), lag: quantiles(record.LoadLag),
	}
	for i, kind := range kinds {
		s.errors[i] = record.Series{Name: record.LoadErrors, Labels: record.Labels("kind", string(kind)), Unit: "1"}
	}
	return s
}

// points appends the window's figures. Kinds of failure that the run has not
// met take no series, and times of no request no point.
func (s *series) points(dst []record.Point, w *window, met *[len(kinds)]bool) []record.Point {
	add := func(series record.Series, v float64) {
		dst = append(dst, record.Point{Window: w.index, Series: series, Value: v})
	}
	add(s.requests, float64(w.requests))
	add(s.bytesIn, float64(w.bytesIn))
	add(s.bytesOut, float64(w.bytesOut))
	for i := range kinds {
		if met[i] = met[i] || w.failures[i] > 0; met[i] {
			add(s.errors[i], float64(w.failures[i]))
		}
	}
	times := func(series [4]record.Series, t *timing) {
		if t.h.TotalCount() == 0 {
			return
		}
		q := t.quantiles()
		for i, v := range []int64{q.P50, q.P90, q.P99, q.Max} {
			add(series[i], float64(v))
		}
	}
	times(s.latency, &w.latency)
	times(s.service, &w.service)
	times(s.lag, &w.lag)
	return dst
}

// edge appends what a window's edge saw: counters since the edge before and
// gauges now.
func (s *series) edge(dst []record.Point, window int64, before, now gauges, ended int64, openLoop bool) []record.Point {
	add := func(series record.Series, v int64) {
		dst = append(dst, record.Point{Window: window, Series: series, Value: float64(v)})
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

// consumed appends what the generator's process used between two edges, split
// among the windows that it touches.
func (s *series) consumed(dst []record.Point, span record.Span, width time.Duration, before, now usage) []record.Point {
	split := func(series record.Series, amount time.Duration) {
		record.Split(span, width, float64(amount), func(window int64, part float64) {
			dst = append(dst, record.Point{Window: window, Series: series, Value: math.Max(0, part)})
		})
	}
	split(s.cpu, now.cpu-before.cpu)
	if now.delayKnown && before.delayKnown {
		split(s.delay, now.delay-before.delay)
	}
	return dst
}
