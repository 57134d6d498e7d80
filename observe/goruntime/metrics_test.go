package goruntime

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/probe/ring"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

func TestMetricsOfARealTarget(t *testing.T) {
	target := startService(t)
	m := NewMetrics()
	if err := m.Open(t.Context(), target.subject); err != nil {
		t.Fatal(err)
	}
	sink := run(t, m, &m.subject, target.subject.Clock, time.Second,
		func(*observetest.Sink) bool { return m.bracket.Samples() >= 30 })
	samples := int(m.bracket.Samples())
	gauges := map[string][2]float64{ // bounds of the last value
		"/sched/goroutines:goroutines": {6, 40},
		"/sched/gomaxprocs:threads":    {1, 4096},
		"/gc/heap/goal:bytes":          {1 << 20, 1 << 30},
	}
	for name, bounds := range gauges {
		_, points := sink.Sum(name, "")
		if last := sink.Last(name, ""); !(last >= bounds[0] && last <= bounds[1]) || points < samples/2 {
			t.Errorf("%s: last %v of %d", name, last, points)
		}
	}
	for name, least := range map[string]float64{
		"/gc/heap/allocs:bytes":             1 << 20,
		"/gc/cycles/forced:gc-cycles":       1,
		"/process/cpu/user:cpu-seconds":     1e6,
		"/sync/mutex/wait/total:seconds":    0,
		"/cpu/classes/total:cpu-seconds":    1e6,
		"/sched/threads/total:threads":      1, // of Go 1.26
		"/memory/classes/total:bytes":       1,
		"/cgo/go-to-c-calls:calls":          0,
		"/gc/limiter/last-enabled:gc-cycle": 0,
	} {
		if sum, points := sink.Sum(name, ""); points == 0 || sum < least {
			if strings.HasSuffix(name, ":threads") && points == 0 {
				continue // an older Go has it not
			}
			t.Errorf("%s: %v in %d points", name, sum, points)
		}
	}
	count, _ := sink.Sum("/sched/pauses/total/gc:seconds", "q=count")
	if worst := sink.Last("/sched/pauses/total/gc:seconds", "q=max"); count < 1 || !(worst > 0) {
		t.Errorf("%v pauses, the last worst of %v ns", count, worst)
	}
	seen := map[series.Point]bool{}
	for _, p := range sink.Points() {
		p.Value = 0
		if seen[p] {
			t.Errorf("%s{%s} comes twice in window %d: the record would add them up", p.Series.Name, p.Series.Labels, p.Window)
		}
		seen[p] = true
	}
	h := m.Health()
	t.Logf("%d samples, alignment error p50 %v p99 %v", h.Samples, h.Align.P50, h.Align.P99)
	if !h.OK || h.Why != "" && len(h.Gaps) == 0 { // a busy host makes gaps of windows of 20 ms
		t.Errorf("%+v", h)
	}
}

// writeRing makes a ring of one gauge and one counter.
func writeRing(t *testing.T, path string, columns ...ring.Column) *ring.Writer {
	t.Helper()
	if columns == nil {
		columns = []ring.Column{
			{Name: "/g:things", Kind: ring.Gauge, Unit: ring.One},
			{Name: "/c:bytes", Kind: ring.Cumulative, Unit: ring.Bytes},
		}
	}
	w, err := ring.Create(path, ring.Header{ClockError: 10}, columns, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// drained delivers what is in the ring, as if the source had been opened at
// the run's begin.
func drained(t *testing.T, subject observe.Subject, m *Metrics) *observetest.Sink {
	t.Helper()
	sink := &observetest.Sink{}
	m.drain(sink)
	return sink
}

func openMetrics(t *testing.T) (*Metrics, observe.Subject) {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject := observe.Subject{Clock: clock, Window: 100 * time.Millisecond, Ring: filepath.Join(t.TempDir(), "ring")}
	return NewMetrics(), subject
}

// put writes a sample taken at a run time.
func put(t *testing.T, w *ring.Writer, s observe.Subject, at time.Duration, values ...float64) {
	t.Helper()
	mono := s.Clock.EpochMonotonic + int64(at)
	if err := w.Write(mono-2000, mono-1000, mono+1000, values); err != nil {
		t.Fatal(err)
	}
}

func TestMetricsSplitByTrueTimes(t *testing.T) {
	m, subject := openMetrics(t)
	w := writeRing(t, subject.Ring)
	if err := m.Open(t.Context(), subject); err != nil {
		t.Fatal(err)
	}
	defer m.reader.Close()
	m.begun, m.last = 0, -1
	ms := time.Millisecond
	put(t, w, subject, 100*ms, 1, 1000)
	put(t, w, subject, 200*ms, 2, 1100)
	put(t, w, subject, 210*ms, 3, 1110) // again in the same window: only its counter counts
	put(t, w, subject, 450*ms, math.NaN(), 1350)
	put(t, w, subject, 500*ms, 5, 1400)
	sink := drained(t, subject, m)
	got := map[series.Point]bool{}
	for _, p := range sink.Points() {
		p.Value = math.Round(p.Value)
		got[p] = true
	}
	gauge, counter := series.Series{Name: "/g:things", Unit: "1"}, series.Series{Name: "/c:bytes", Unit: "bytes"}
	for _, want := range []series.Point{
		{Window: 0, Series: gauge, Value: 1}, {Window: 1, Series: gauge, Value: 2}, {Window: 4, Series: gauge, Value: 5},
		{Window: 1, Series: counter, Value: 100}, {Window: 2, Series: counter, Value: 100},
		{Window: 3, Series: counter, Value: 100}, {Window: 4, Series: counter, Value: 100},
	} {
		if !got[want] {
			t.Errorf("missing %+v", want)
		}
		delete(got, want)
	}
	for p := range got {
		t.Errorf("unexpected %+v", p)
	}
	if h := m.Health(); h.Samples != 5 || h.Align.P99 < time.Microsecond || h.Align.P99 > 2*time.Microsecond {
		t.Errorf("%+v", h)
	}
}

func TestMetricsFollowATargetThatRestarts(t *testing.T) {
	m, subject := openMetrics(t)
	first := writeRing(t, subject.Ring)
	if err := m.Open(t.Context(), subject); err != nil {
		t.Fatal(err)
	}
	m.begun, m.last = 0, -1
	for i := range 3 {
		put(t, first, subject, time.Duration(i)*100*time.Millisecond, 1, float64(1000+i))
	}
	second := writeRing(t, subject.Ring)
	for i := range 3 {
		put(t, second, subject, time.Duration(i+4)*100*time.Millisecond, 7, float64(i))
	}
	drained(t, subject, m) // up to the end of the first
	sink := drained(t, subject, m)
	defer m.reader.Close()
	if sum, points := sink.Sum("/c:bytes", ""); sum != 2 || points != 2 {
		t.Errorf("the new process's counter: %v in %d points", sum, points)
	}
	h := m.Health()
	if !h.OK || !strings.Contains(h.Why, "restarted") {
		t.Errorf("%+v", h)
	}
	if ms := time.Millisecond; len(h.Gaps) != 1 || h.Gaps[0].Span != span(200*ms, 400*ms) {
		t.Errorf("gaps %+v", h.Gaps)
	}
}

// TestMetricsLeaveAGap stops the target's probe for longer than a busy target
// does: the amounts of that time are not spread over the windows between.
func TestMetricsLeaveAGap(t *testing.T) {
	m, subject := openMetrics(t)
	w := writeRing(t, subject.Ring)
	if err := m.Open(t.Context(), subject); err != nil {
		t.Fatal(err)
	}
	defer m.reader.Close()
	m.begun, m.last = 0, -1
	ms := time.Millisecond
	for i, at := range []time.Duration{100 * ms, 200 * ms, 900 * ms, 1000 * ms} {
		put(t, w, subject, at, 1, float64(i*1000))
	}
	sink := drained(t, subject, m)
	if sum, points := sink.Sum("/c:bytes", ""); math.Round(sum) != 2000 || points != 2 {
		t.Errorf("%v in %d windows, want what was seen: 2000 in 2", sum, points)
	}
	for _, p := range sink.Points() {
		if p.Window > 1 && p.Window < 8 {
			t.Errorf("a figure of the gap: %+v", p)
		}
	}
	h := m.Health()
	if !h.OK || !strings.Contains(h.Why, "no figures for 700 ms, first from 0.2 s to 0.9 s: the target's probe got no CPU") {
		t.Errorf("%+v", h)
	}
	if len(h.Gaps) != 1 || h.Gaps[0].Span != span(200*ms, 900*ms) {
		t.Errorf("gaps %+v", h.Gaps)
	}
}

func TestMetricsOfPools(t *testing.T) {
	m, subject := openMetrics(t)
	column := func(name string, named int, kind ring.Kind) ring.Column {
		return ring.Column{Name: name, Labels: "pool", Named: named, Kind: kind, Unit: ring.One}
	}
	w := writeRing(t, subject.Ring,
		column(series.PoolInUse, 1, ring.Gauge), column(series.PoolMax, 1, ring.Gauge), column(series.PoolWaits, 1, ring.Cumulative),
		column(series.PoolInUse, 2, ring.Gauge), column(series.PoolMax, 2, ring.Gauge), column(series.PoolWaits, 2, ring.Cumulative),
		column(series.PoolInUse, 3, ring.Gauge),     // of the name of the first
		column(series.PoolInUse, 4, ring.Gauge),     // of no name
		column(series.PoolIdle, 1, ring.Cumulative), // of another kind than it has
		column(series.LoadRequests, 1, ring.Cumulative),
		ring.Column{Name: series.LoadRequests, Kind: ring.Cumulative, Unit: ring.One})
	for i, name := range []string{"orders", "stock=a,b", "orders"} {
		if err := w.Name(i, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Open(t.Context(), subject); err != nil {
		t.Fatal(err)
	}
	defer m.reader.Close()
	m.begun, m.last = 0, -1
	put(t, w, subject, 100*time.Millisecond, 3, 4, 100, 1, 8, 0, 9, 9, 9, 9, 9)
	put(t, w, subject, 200*time.Millisecond, 2, 4, 130, 1, 0, 5, 9, 9, 9, 9, 9)
	sink := drained(t, subject, m)
	point := func(w int64, name, labels string, v float64) series.Point {
		return series.Point{Window: w, Series: series.Series{Name: name, Labels: labels, Unit: "1"}, Value: v}
	}
	const orders, stock = "pool=orders", "pool=stock_a_b"
	want := map[series.Point]bool{
		point(0, series.PoolInUse, orders, 3): true, point(0, series.PoolMax, orders, 4): true,
		point(0, series.PoolInUse, stock, 1): true, point(0, series.PoolMax, stock, 8): true,
		point(0, series.PoolInUse, "", 4): true, point(0, series.PoolMax, "", 12): true,
		point(1, series.PoolInUse, orders, 2): true, point(1, series.PoolMax, orders, 4): true,
		point(1, series.PoolInUse, stock, 1): true, point(1, series.PoolMax, stock, 0): true,
		point(1, series.PoolInUse, "", 3): true, point(1, series.PoolMax, "", 0): true, // one of them has no limit
		point(1, series.PoolWaits, orders, 30): true, point(1, series.PoolWaits, stock, 5): true,
	}
	for _, p := range sink.Points() {
		p.Value = math.Round(p.Value)
		if !want[p] {
			t.Errorf("unexpected %+v", p)
		}
		delete(want, p)
	}
	for p := range want {
		t.Errorf("missing %+v", p)
	}
}

// TestMetricsSurviveTheTargetsDeath kills the target in the middle of the run.
func TestMetricsSurviveTheTargetsDeath(t *testing.T) {
	target := startService(t)
	m := NewMetrics()
	if err := m.Open(t.Context(), target.subject); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sink := &observetest.Sink{}
	ended := make(chan error)
	go func() { ended <- m.Run(ctx, sink) }()
	await(t, func() bool { return m.bracket.Samples() >= 3 })
	target.kill()
	died := target.subject.Clock.Now()
	target.wait(died + 2*maxStride*target.subject.Window)
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	last := timebase.Window(died, target.subject.Window)
	for _, p := range sink.Points() {
		if p.Window > last {
			t.Errorf("a figure of window %d, after the target died in window %d: %+v", p.Window, last, p)
		}
	}
	h := m.Health()
	if !h.OK {
		t.Errorf("%+v", h)
	}
	if n := len(h.Gaps); n == 0 || h.Gaps[n-1].From > died || !strings.Contains(h.Gaps[n-1].Why, "the target ended") {
		t.Errorf("the target died at %v, and the gaps are %+v", died, h.Gaps)
	}
}

func TestMetricsLeaveOutWhatTheyDoNotUnderstand(t *testing.T) {
	m, subject := openMetrics(t)
	good := ring.Column{Name: "/g:things", Kind: ring.Gauge, Unit: ring.One}
	w := writeRing(t, subject.Ring, good, good,
		ring.Column{Name: "made.up", Kind: ring.Gauge, Unit: ring.One},
		ring.Column{Name: "/k:things", Kind: 9, Unit: ring.One},
		ring.Column{Name: "/u:things", Kind: ring.Gauge, Unit: 9},
		ring.Column{Name: "/l:things", Labels: "pid=7", Kind: ring.Gauge, Unit: ring.One})
	if err := m.Open(t.Context(), subject); err != nil {
		t.Fatal(err)
	}
	defer m.reader.Close()
	m.begun, m.last = 0, -1
	put(t, w, subject, 100*time.Millisecond, 1, 2, 3, 4, 5, 6)
	put(t, w, subject, 200*time.Millisecond, math.Inf(1), 2, 3, 4, 5, 6)
	put(t, w, subject, 2*time.Hour, 1, 2, 3, 4, 5, 6) // in the future
	sink := drained(t, subject, m)
	if points := sink.Points(); len(points) != 1 || points[0].Series.Name != "/g:things" || points[0].Value != 1 {
		t.Errorf("%+v", points)
	}
	if h := m.Health(); !strings.Contains(h.Why, "future") {
		t.Errorf("%+v", h)
	}
}

func TestMetricsRefuse(t *testing.T) {
	_, subject := openMetrics(t)
	if err := os.WriteFile(subject.Ring, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var refusal *observe.Unsupported
	if err := NewMetrics().Open(t.Context(), subject); !errors.As(err, &refusal) || !errors.Is(err, ring.ErrForeign) {
		t.Errorf("a file that is no ring: %v", err)
	}
	writeRing(t, subject.Ring)
	old, err := os.ReadFile(subject.Ring)
	if err != nil {
		t.Fatal(err)
	}
	old[8] = 1 // the layout's version
	if err := os.WriteFile(subject.Ring, old, 0o600); err != nil {
		t.Fatal(err)
	}
	err = NewMetrics().Open(t.Context(), subject)
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "layout is version 1") ||
		!strings.Contains(refusal.Enable, "build the target") {
		t.Errorf("a ring of another version: %v", err)
	}
	subject.Ring = t.TempDir()
	if err := NewMetrics().Open(t.Context(), subject); !errors.As(err, &refusal) {
		t.Errorf("a directory: %v", err)
	}
}

func TestMetricsWhenTheTargetEnds(t *testing.T) {
	target := startService(t)
	m := NewMetrics()
	if err := m.Open(t.Context(), target.subject); err != nil {
		t.Fatal(err)
	}
	target.end()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := m.Run(ctx, &observetest.Sink{}); err != nil {
		t.Fatal(err)
	}
	if h := m.Health(); h.OK != (h.Samples > 0) || !h.OK && h.Why == "" {
		t.Errorf("%+v", h)
	}
}
