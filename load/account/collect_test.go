package account

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

const testWindow = 100 * time.Millisecond

// testCollector collects for a load without connections.
func testCollector(steady timebase.Span, plan *scenario.Plan, steps ...string) *Collector {
	return New(0, testWindow, steady, steps, plan)
}

// flush writes what the collector has closed by now.
func flush(t testing.TB, c *Collector, sink Sink, now time.Duration) {
	t.Helper()
	for i := c.log.ended(now); i != nil; i = c.log.ended(now) {
		if err := c.log.write(sink, i); err != nil {
			t.Fatal(err)
		}
		c.log.reuse(i)
	}
}

// logged keeps the entries that the latency log would get.
type logged struct {
	discard
	spans []timebase.Span
	times map[string]*[timeKinds]Timing // by step
}

func (l *logged) Counts(step string, kind histogram.Kind, s timebase.Span, c *histogram.Counts) error {
	if l.times == nil {
		l.times = map[string]*[timeKinds]Timing{}
	}
	if l.times[step] == nil {
		l.times[step] = &[timeKinds]Timing{}
	}
	for k := range loggedKinds {
		if loggedKinds[k] == kind {
			l.times[step][k].Merge(c)
		}
	}
	l.spans = append(l.spans, s)
	return nil
}

// randomSample makes requests of every kind that end around at.
func randomSample(r *rand.Rand, at time.Duration, steps int) Sample {
	s := Sample{Done: at - time.Duration(r.IntN(30))*time.Millisecond, Request: int32(r.IntN(steps)), BytesIn: 10, Status: 200}
	s.Intended = s.Done - time.Duration(r.ExpFloat64()*3e6)
	if r.IntN(20) > 0 {
		s.Sent = s.Intended + (s.Done-s.Intended)/4
		s.First = s.Intended + (s.Done-s.Intended)/2
	}
	if r.IntN(10) == 0 {
		s.Kind = uint8(r.IntN(len(failure.Kinds)))
	}
	if r.IntN(3) == 0 {
		s.Failed = r.Uint64N(4)
	}
	return s
}

// addTimes counts a sample's times as the documentation of Run defines them.
func addTimes(t *[timeKinds]Timing, s *Sample) {
	kind := failure.Kinds[s.Kind]
	if kind == "" || kind == failure.Timeout {
		t[timeLatency].add(s.Done - s.Intended)
		if s.Sent > 0 {
			t[timeService].add(s.Done - s.Sent)
			t[timeFirst].add(s.First - s.Sent)
		}
	}
	if s.Sent > 0 {
		t[timeLag].add(s.Sent - s.Intended)
	}
	if kind != "" {
		t[timeError].add(s.Done - s.Intended)
	}
}

// TestEveryTimeIsCounted sends random requests through windows and compares the
// totals and the log with plain sums.
func TestEveryTimeIsCounted(t *testing.T) {
	for round := range 30 {
		r := rand.New(rand.NewPCG(uint64(round), 1))
		steady := timebase.Span{From: 330 * time.Millisecond, To: time.Duration(1200+r.IntN(300)) * time.Millisecond}
		names := []string{"a", "b", "c"}[:1+round%3]
		c := testCollector(steady, nil, names...)
		var want, all [timeKinds]Timing
		var requests, inWindows int64
		var sink logged
		for at := 40 * time.Millisecond; at < 2*time.Second; at += time.Duration(r.IntN(3e6)) {
			s := randomSample(r, at, len(names))
			if Within(steady, s.Intended) {
				requests++
				addTimes(&want, &s)
			}
			addTimes(&all, &s)
			c.take(&s)
			if r.IntN(30) == 0 { // late, early, or several windows at once
				c.Edge(timebase.Window(at, testWindow), func(w *Window) { inWindows += w.Requests })
				flush(t, c, &sink, at)
			}
		}
		c.Edge(21, func(w *Window) { inWindows += w.Requests })
		for _, i := range c.log.last(2 * time.Second) {
			if err := c.log.write(&sink, i); err != nil {
				t.Fatal(err)
			}
		}
		s := c.Totals.Summary(steady.Len(), nil)
		if s.Requests != requests || inWindows != c.ended {
			t.Errorf("round %d: %d requests, want %d; %d in windows of %d", round, s.Requests, requests, inWindows, c.ended)
		}
		for kind, got := range []histogram.Quantiles{s.Latency, s.Service, s.FirstByte, s.Lag, s.ErrorLatency} {
			if got != want[kind].Quantiles() {
				t.Errorf("round %d: %s %+v, want %+v", round, loggedKinds[kind], got, want[kind].Quantiles())
			}
			var log Timing
			for _, times := range sink.times {
				log.merge(&times[kind])
			}
			log.Sum = all[kind].Sum
			if log.Quantiles() != all[kind].Quantiles() || log.Total() != all[kind].Total() {
				t.Errorf("round %d: the log has %s %+v, want %+v", round, loggedKinds[kind], log.Quantiles(), all[kind].Quantiles())
			}
		}
		if len(names) > 1 {
			if sum := s.Steps[0].Requests + s.Steps[len(names)-1].Requests; len(s.Steps) != len(names) ||
				sum >= requests && len(names) > 2 {
				t.Errorf("round %d: steps %+v of %d requests", round, s.Steps, requests)
			}
		} else if s.Steps != nil {
			t.Errorf("round %d: one request has steps", round)
		}
	}
}

func TestWindowsHaveTheirOwnTimes(t *testing.T) {
	// The measured span begins in the middle of window 1.
	steady := timebase.Span{From: 150 * time.Millisecond, To: time.Hour}
	c := testCollector(steady, nil, "a", "b")
	for i, ms := range []int{20, 120, 130, 160, 170, 180, 250} {
		done := time.Duration(ms) * time.Millisecond
		c.take(&Sample{Done: done, Intended: done - time.Duration(1+i)*time.Millisecond, Request: int32(i % 2)})
	}
	want := []struct {
		requests int64
		highest  time.Duration
	}{{1, 1 * time.Millisecond}, {5, 6 * time.Millisecond}, {1, 7 * time.Millisecond}, {0, 0}}
	c.Edge(4, func(w *Window) {
		if got := w.Latency.Quantiles(); w.Requests != want[w.Index].requests || got.Max != int64(want[w.Index].highest) {
			t.Errorf("window %d: %d requests, latency %+v, want %+v", w.Index, w.Requests, got, want[w.Index])
		}
	})
	if n := c.Totals.Requests; n != 4 {
		t.Errorf("%d requests of the measured span", n)
	}
}

func TestIntervalsAreCutAtTheMeasuredSpan(t *testing.T) {
	steady := timebase.Span{From: 1530 * time.Millisecond, To: 3760 * time.Millisecond}
	c := testCollector(steady, nil, "a")
	var sink logged
	for now := time.Duration(0); now < 5050*time.Millisecond; now += 10 * time.Millisecond {
		c.Edge(timebase.Window(now, testWindow), func(*Window) {})
		flush(t, c, &sink, now)
		c.take(&Sample{Done: now, Intended: now})
	}
	c.Edge(51, func(*Window) {})
	flush(t, c, &sink, 5050*time.Millisecond)
	for _, i := range c.log.last(5050 * time.Millisecond) {
		if err := c.log.write(&sink, i); err != nil {
			t.Fatal(err)
		}
	}
	var at time.Duration
	cuts := map[time.Duration]bool{}
	for _, s := range sink.spans {
		if s.From != at || s.Len() > testWindow {
			t.Errorf("spans %v do not join", sink.spans)
		}
		at = s.To
		cuts[at] = true
	}
	if !cuts[steady.From] || !cuts[steady.To] || !cuts[100*time.Millisecond] || at != 5050*time.Millisecond {
		t.Errorf("spans %v are not cut at %v", sink.spans, steady)
	}
}

func TestLateSamplesAndSkippedWindows(t *testing.T) {
	c := testCollector(timebase.Span{To: time.Hour}, nil, "a")
	f := &Feed{}
	f.ring.samples = make([]Sample, 16)
	c.Connect(f)
	for _, ms := range []int{450, 20, 150, 151} {
		f.ring.push(&Sample{Done: time.Duration(ms) * time.Millisecond})
	}
	count := map[int64]int64{}
	take := func(w *Window) { count[w.Index] = w.Requests }
	c.Edge(1, take)
	f.ring.push(&Sample{Done: 30 * time.Millisecond}) // its window is closed
	c.Edge(5, take)
	want := map[int64]int64{0: 1, 1: 3, 2: 0, 3: 0, 4: 1}
	if len(count) != len(want) {
		t.Errorf("windows %v, want %v", count, want)
	}
	for w, n := range want {
		if count[w] != n {
			t.Errorf("window %d has %d requests, want %d", w, count[w], n)
		}
	}
}

// TestStalledCollector has more windows waiting than are kept.
func TestStalledCollector(t *testing.T) {
	c := testCollector(timebase.Span{To: time.Hour}, nil, "a")
	for i := range 100 {
		done := time.Duration(i)*50*time.Millisecond + 1
		c.take(&Sample{Done: done, Intended: done, Sent: done})
	}
	if len(c.pending) > mostPending {
		t.Errorf("%d windows wait", len(c.pending))
	}
	var requests int64
	c.Edge(60, func(w *Window) { requests += w.Requests })
	if requests != 100 || c.Totals.Requests != 100 || c.Totals.Lag.Total() != 100 {
		t.Errorf("%d requests in windows, %d and %d in the totals", requests, c.Totals.Requests, c.Totals.Lag.Total())
	}
}

func TestChecksAreCounted(t *testing.T) {
	plan := &scenario.Plan{Requests: []scenario.Request{
		{Checks: []scenario.Check{{Name: "is JSON"}, {Name: "is small"}}}, {}, {Checks: []scenario.Check{{Name: "never asked"}}},
	}}
	c := testCollector(timebase.Span{From: time.Second, To: time.Hour}, plan, "a", "b", "c")
	for _, s := range []Sample{
		{Failed: 0}, {Failed: 1}, {Failed: 3},
		{Failed: 2, Kind: failure.Status.Index(), Status: 500}, // an answer nevertheless
		{Failed: 3, Kind: failure.Reset.Index()},               // none
		{Failed: 1 << 63}, {Failed: 3, Request: 1},
	} {
		s.Intended, s.Done = 2*time.Second, 3*time.Second
		c.take(&s)
		s.Intended = 0 // of the warm-up
		c.take(&s)
	}
	got := c.Totals.Summary(time.Hour, nil).Checks
	want := []record.CheckResult{
		{Request: "a", Name: "is JSON", Passed: 3, Failed: 2}, {Request: "a", Name: "is small", Passed: 3, Failed: 2},
		{Request: "c", Name: "never asked"},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

func TestStatusNames(t *testing.T) {
	c := testCollector(timebase.Span{To: time.Hour}, nil, "a")
	for _, status := range []uint16{0, 5, 5, 14} {
		c.take(&Sample{Status: status})
	}
	c.take(&Sample{Kind: failure.Reset.Index()}) // no answer, so no status
	named := c.Totals.Summary(time.Second, func(status int) string {
		return map[int]string{0: "OK", 5: "NOT_FOUND",
			14: "UNAVAILABLE"}[status]
	})
	if got := named.Status; len(got) != 3 || got["OK"] != 1 || got["NOT_FOUND"] != 2 || got["UNAVAILABLE"] != 1 {
		t.Errorf("%v", got)
	}
	if got := c.Totals.Summary(time.Second, nil).Status; got["5"] != 2 || got["0"] != 0 {
		t.Errorf("%v", got)
	}
}

// TestMemoryIsBounded collects an hour of windows.
func TestMemoryIsBounded(t *testing.T) {
	c := testCollector(timebase.Span{From: time.Second, To: 2 * time.Hour}, nil, "a", "b")
	r := rand.New(rand.NewPCG(1, 2))
	var sink discard
	window := func(i int) {
		now := time.Duration(i+1) * testWindow
		for range 5 {
			s := randomSample(r, now, 2)
			c.take(&s)
		}
		c.Edge(int64(i+1), func(w *Window) { _ = w.Latency.Quantiles() })
		flush(t, c, &sink, now)
	}
	windows := 36_000
	if raceDetector {
		windows = 9_000 // a window takes 25 times as long
	}
	const settled = 3600 // by now all histograms that are needed at once exist
	for i := range settled {
		window(i)
	}
	before := liveHeap()
	for i := settled; i < windows; i++ {
		window(i)
	}
	if grown := liveHeap() - before; grown > 256<<10 {
		t.Errorf("%d windows take %d KiB", windows-settled, grown>>10)
	}
	runtime.KeepAlive(c)
}

// discard is a sink that keeps nothing.
type discard struct{}

func (discard) Add(...series.Point) error { return nil }
func (discard) Counts(string, histogram.Kind, timebase.Span, *histogram.Counts) error {
	return nil
}
func (discard) Slow(...record.SlowRequest) error { return nil }

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkAccount takes samples through window, log and totals. A window of
// 10,000 is closed and written to a bundle as often as it occurs, which is part
// of the time; the last figures are the cost of the log.
func BenchmarkAccount(b *testing.B) {
	for _, steps := range []int{1, 5} {
		b.Run([]string{1: "one step", 5: "five steps"}[steps], func(b *testing.B) { account(b, steps, 10_000) })
	}
}

func account(b *testing.B, steps, each int) {
	w, err := record.Create(filepath.Join(b.TempDir(), "run"), record.Run{Window: testWindow})
	if err != nil {
		b.Fatal(err)
	}
	c := testCollector(timebase.Span{To: 1000 * time.Hour}, nil, []string{"a", "b", "c", "d", "e"}[:steps]...)
	r := rand.New(rand.NewPCG(1, 2))
	samples := make([]Sample, 1<<14)
	for i := range samples {
		lag := time.Duration(20_000 + r.ExpFloat64()*20_000)
		service := time.Duration(200_000 + r.ExpFloat64()*300_000)
		samples[i] = Sample{Intended: 1, Sent: 1 + lag, First: 1 + lag + service - 3000, Done: 1 + lag + service,
			Own: lag, Status: 200, Request: int32(r.IntN(steps)), ID: int64(i)}
	}
	b.ReportAllocs()
	now, n := time.Duration(1), 0
	for b.Loop() {
		s := samples[n%len(samples)]
		s.Intended, s.Sent, s.First, s.Done = s.Intended+now, s.Sent+now, s.First+now, s.Done+now
		c.take(&s)
		now += testWindow / time.Duration(each)
		if n++; n%each == 0 {
			c.Edge(timebase.Window(now, testWindow),
				func(w *Window) { _ = w.Latency.Quantiles(); _ = w.service.Quantiles(); _ = w.Lag.Quantiles() })
			flush(b, c, w, now)
		}
	}
	b.StopTimer()
	if info, err := os.Stat(filepath.Join(w.Dir(), "latency.hlog")); err == nil && n >= each {
		b.ReportMetric(float64(info.Size())/float64(n/each), "B/window")
	}
	if err := w.Close(record.Complete, ""); err != nil {
		b.Fatal(err)
	}
}

// TestLogIsStandard writes windows to a bundle and reads them with
// hdrhistogram-go's log reader: a line per window, step and kind, cut at the
// measured span's ends, with the same counts.
func TestLogIsStandard(t *testing.T) {
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(filepath.Join(t.TempDir(), "run"), record.Run{Window: testWindow, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	steady := timebase.Span{From: 250 * time.Millisecond, To: 1850 * time.Millisecond}
	c := testCollector(steady, nil, "a", "b c")
	r := rand.New(rand.NewPCG(8, 9))
	values := map[string]int64{}
	highest := map[string]time.Duration{}
	for at := testWindow; at < 2*time.Second; at += time.Millisecond {
		s := randomSample(r, at, 2)
		s.each(func(kind int, d time.Duration) {
			tag := []string{"a", "b_c"}[s.Request] + "." + string(loggedKinds[kind])
			values[tag]++
			highest[tag] = max(highest[tag], d)
		})
		c.take(&s)
		c.Edge(timebase.Window(at-50*time.Millisecond, testWindow), func(*Window) {})
		flush(t, c, w, at)
	}
	c.Edge(20, func(*Window) {})
	flush(t, c, w, 2*time.Second)
	if err := w.Close(record.Complete, ""); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(w.Dir(), "latency.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader := hdrhistogram.NewHistogramLogReader(f)
	read, top := map[string]int64{}, map[string]int64{}
	starts := map[int64]bool{}
	for {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		read[h.Tag()] += h.TotalCount()
		top[h.Tag()] = max(top[h.Tag()], h.Max())
		starts[h.StartTimeMs()] = true
		if length := h.EndTimeMs() - h.StartTimeMs(); length < 49 || length > 101 {
			t.Errorf("an interval of %d ms", length)
		}
	}
	if !maps.Equal(read, values) || len(values) != 10 {
		t.Errorf("the log holds %v, want %v", read, values)
	}
	for tag, d := range highest {
		if off := float64(top[tag])/float64(d) - 1; off < 0 || off > 0.001 {
			t.Errorf("%s: at most %d, want %d", tag, top[tag], d)
		}
	}
	if len(starts) != 22 { // windows 0 to 19, two of them cut
		t.Errorf("%d intervals", len(starts))
	}
}
