package account

import (
	"math"
	"time"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/usage"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Gauges are the readings of the connections at a window's edge.
type Gauges struct {
	Begun, Unsent, Dials int64 // requests and connections so far
	Open, Queued         int64 // connections, and tickets that wait, now
}

// Series holds the series of the load, made once.
type Series struct {
	requests, sent, inFlight, queued, connections, dials, bytesIn, bytesOut series.Series

	cpu, delay            series.Series
	errors                [len(failure.Kinds)]series.Series
	latency, service, lag [4]series.Series
}

// NewSeries makes the series with their names, labels and units.
func NewSeries() *Series {
	count := func(name string) series.Series { return series.Series{Name: name, Unit: "1"} }
	quantiles := func(name string) (all [4]series.Series) {
		for i, q := range []string{"p50", "p90", "p99", "max"} {
			all[i] = series.Series{Name: name, Labels: series.Labels("q", q), Unit: "ns"}
		}
		return all
	}
	s := &Series{
		requests: count(series.LoadRequests), sent: count(series.LoadSent), inFlight: count(series.LoadInFlight),
		queued: count(series.LoadQueued), connections: count(series.LoadConnections), dials: count(series.LoadDials),
		bytesIn:  series.Series{Name: series.LoadBytesIn, Unit: "bytes"},
		bytesOut: series.Series{Name: series.LoadBytesOut, Unit: "bytes"},
		cpu:      series.Series{Name: series.GeneratorCPU, Unit: "ns"},
		delay:    series.Series{Name: series.GeneratorDelay, Unit: "ns"},
		latency:  quantiles(series.LoadLatency), service: quantiles(series.LoadService), lag: quantiles(series.LoadLag),
	}
	for i, kind := range failure.Kinds {
		s.errors[i] = series.Series{Name: series.LoadErrors, Labels: series.Labels("kind", string(kind)), Unit: "1"}
	}
	return s
}

// Points appends the window's figures. Kinds of failure that did not occur get no series,
// and windows without requests no points for times.
func (s *Series) Points(dst []series.Point, w *Window, met *[len(failure.Kinds)]bool) []series.Point {
	add := func(of series.Series, v float64) {
		dst = append(dst, series.Point{Window: w.Index, Series: of, Value: v})
	}
	add(s.requests, float64(w.Requests))
	add(s.bytesIn, float64(w.bytesIn))
	add(s.bytesOut, float64(w.bytesOut))
	for i := range failure.Kinds {
		// Once a kind has occurred, it continues with zeros: a gap would read as "not measured".
		if met[i] = met[i] || w.failures[i] > 0; met[i] {
			add(s.errors[i], float64(w.failures[i]))
		}
	}
	times := func(series [4]series.Series, t *Timing) {
		if t == nil {
			return
		}
		q := t.Quantiles()
		for i, v := range []int64{q.P50, q.P90, q.P99, q.Max} {
			add(series[i], float64(v))
		}
	}
	times(s.latency, w.Latency)
	times(s.service, w.service)
	times(s.lag, w.Lag)
	return dst
}

// Edge appends the readings of a window's edge: counters since the edge before and gauges now.
func (s *Series) Edge(dst []series.Point, window int64, before, now Gauges, ended int64, openLoop bool) []series.Point {
	add := func(of series.Series, v int64) {
		dst = append(dst, series.Point{Window: window, Series: of, Value: float64(v)})
	}
	add(s.sent, (now.Begun-now.Unsent)-(before.Begun-before.Unsent))
	add(s.inFlight, now.Begun-ended)
	add(s.connections, now.Open)
	add(s.dials, now.Dials-before.Dials)
	if openLoop {
		add(s.queued, now.Queued)
	}
	return dst
}

// Consumed appends the usage of the generator's process between two edges, split
// among the windows that it touches.
func (s *Series) Consumed(dst []series.Point, span timebase.Span, width time.Duration, before, now usage.Usage) []series.Point {
	split := func(of series.Series, amount time.Duration) {
		timebase.Split(span, width, float64(amount), func(window int64, part float64) {
			dst = append(dst, series.Point{Window: window, Series: of, Value: math.Max(0, part)})
		})
	}
	split(s.cpu, now.CPU-before.CPU)
	if now.DelayKnown && before.DelayKnown {
		split(s.delay, now.Delay-before.Delay)
	}
	return dst
}
