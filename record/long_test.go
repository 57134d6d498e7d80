package record

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
)

// Series of a long run, one for each way of joining.
var (
	longAmount = series.Series{Name: series.LoadRequests, Unit: "1"}
	longRare   = series.Series{Name: series.LoadErrors, Labels: "kind=timeout", Unit: "1"}
	longGauge  = series.Series{Name: series.LoadInFlight, Unit: "1"}
	longMedian = series.Series{Name: series.LoadLatency, Labels: "q=p50", Unit: "ns"}
	longTail   = series.Series{Name: series.LoadLatency, Labels: "q=p99", Unit: "ns"}
	longMost   = series.Series{Name: series.SocketsAcceptQueue, Labels: "listen=:80", Unit: "1"}
	longTotal  = series.Series{Name: "/gc/heap/allocs:bytes", Unit: "bytes"}
)

// rare says whether a window holds the series that most do not.
func rare(w int64) bool { return w%37 == 5 }

// longWindow is what a window of the run holds.
func longWindow(w int64) []series.Point {
	points := []series.Point{
		{Window: w, Series: longAmount, Value: float64(100 + w%7)}, {Window: w, Series: longGauge, Value: float64(w)},
		{Window: w, Series: longMedian, Value: 1e6}, {Window: w, Series: longTail, Value: float64(2e6 + w%100)},
		{Window: w, Series: longMost, Value: float64(w % 100)}, {Window: w, Series: longTotal, Value: 4096},
	}
	if rare(w) {
		points = append(points, series.Point{Window: w, Series: longRare, Value: 3})
	}
	return points
}

// logged is how many windows there are to one interval of the latency log: encoding one
// for each window would take most of the time of these tests.
const logged = 5

// writeLong writes windows [from, to) of a long run. Some points come late, and one
// counter comes in two parts, as sources deliver them.
func writeLong(t testing.TB, w *Writer, from, to int64) {
	t.Helper()
	var c histogram.Counts
	for i := from; i < to; i++ {
		points := longWindow(i)
		points[0].Value -= 40
		must(t, w.Add(points...))
		if late := i - 25; late >= 0 { // 2.5 s
			must(t, w.Add(series.Point{Window: late, Series: longAmount, Value: 40}))
		}
		if i%logged == 0 {
			c.Reset()
			c.Add(1e6 + i)
			must(t, w.Counts("q", histogram.Latency, timebase.WindowSpan(i, testWidth), &c))
			must(t, w.Counts("other", histogram.Service, timebase.WindowSpan(i, testWidth), &c))
		}
	}
	for i := to - 25; i < to; i++ {
		must(t, w.Add(series.Point{Window: i, Series: longAmount, Value: 40}))
	}
}

// expectLong compares what a record holds of windows [from, to) with what was written.
func expectLong(t *testing.T, r *Record, from, to int64) {
	t.Helper()
	var amount, errors float64
	var seldom int
	for i := from; i < to; i++ {
		amount += float64(100 + i%7)
		if rare(i) {
			errors, seldom = errors+3, seldom+1
		}
	}
	line := r.Series(series.LoadRequests, "", spanOf(from, to))
	if sum, present := line.Sum(); sum != amount || present != int(to-from) {
		t.Errorf("requests %v in %d windows, want %v in %d", sum, present, amount, to-from)
	}
	if sum, present := r.Series(series.LoadErrors, longRare.Labels, spanOf(from, to)).Sum(); sum != errors || present != seldom {
		t.Errorf("errors %v in %d windows, want %v in %d", sum, present, errors, seldom)
	}
	if sum, present := r.Series(longTotal.Name, "", spanOf(from, to)).Sum(); sum != 4096*float64(to-from) || present != int(to-from) {
		t.Errorf("allocated %v in %d windows", sum, present)
	}
	h, err := r.Histogram("q", histogram.Latency, spanOf(from, to))
	must(t, err)
	if want := (to+logged-1)/logged - (from+logged-1)/logged; h.TotalCount() != want {
		t.Errorf("%d requests in the latency log, want %d", h.TotalCount(), want)
	}
}

const minute = int64(time.Minute / testWidth)

// TestLongRun writes an hour and a half: amounts and counts over a span are what they
// would be at full resolution, the rest follows the rule of its series, and the bundle is
// small.
func TestLongRun(t *testing.T) {
	t.Parallel() // most of it waits for the disk
	const length = 90 * minute
	w := create(t)
	steady := spanOf(43, length-10) // begins where windows would be joined, but for Pin
	w.Pin(steady.From)
	writeLong(t, w, 0, length)
	must(t, w.Update(func(r *Run) { r.Steady = steady }))
	must(t, w.Close(Complete, ""))
	if left, err := os.Stat(filepath.Join(w.Dir(), partsDir)); err == nil {
		t.Errorf("%s is left", left.Name())
	}
	r, err := Open(w.Dir())
	must(t, err)
	expectLong(t, r, 0, length)
	expectLong(t, r, 43, length-10)
	expectLong(t, r, length-5*minute, length) // at full resolution
	if from, to := r.Windows(); from != 0 || to != length {
		t.Errorf("windows [%d, %d)", from, to)
	}
	want := []windows.Resolution{{Span: spanOf(minute, 30*minute), Width: 10 * time.Second},
		{Span: spanOf(30*minute, 75*minute), Width: time.Second}}
	if got := r.Thinned(); fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(r.Run.Resolution) != fmt.Sprint(want) {
		t.Errorf("resolutions %v in the windows, %v in run.json, want %v", got, r.Run.Resolution, want)
	}
	if text := r.ThinnedText(); !strings.Contains(text, "0:01:00 to 0:30:00 is kept at a resolution of 10s") {
		t.Errorf("text %q", text)
	}
	if r.windows.Size() > 90_000 {
		t.Errorf("%d values are left", r.windows.Size())
	}
	checkRules(t, r)
}

// checkRules looks at one value of 10 s, of 1 s, and at full resolution.
func checkRules(t *testing.T, r *Record) {
	t.Helper()
	for _, c := range []struct {
		first, factor int64
	}{{7200, 100}, {40 * minute, 10}, {80 * minute, 1}} {
		s := spanOf(c.first, c.first+c.factor)
		last := c.first + c.factor - 1
		for _, of := range []struct {
			series series.Series
			want   float64
		}{
			{longGauge, float64(last)}, {longMedian, 1e6}, {longTail, 2e6 + float64(last%100)},
			{longMost, float64(last % 100)}, {longTotal, 4096 * float64(c.factor)},
		} {
			l := r.Series(of.series.Name, of.series.Labels, s)
			if len(l.Values) != 1 || l.Values[0] != of.want || l.Width != time.Duration(c.factor)*testWidth || l.From != s.From {
				t.Errorf("%s of window %d: %v of %v from %v, want %v", of.series.Name, c.first, l.Values, l.Width, l.From, of.want)
			}
		}
	}
	// A line over several resolutions has one width, the coarsest.
	l := r.Series(series.LoadRequests, "", spanOf(20*minute, 85*minute))
	if l.Width != 10*time.Second || len(l.Values) != 65*6 {
		t.Fatalf("%d values of %v", len(l.Values), l.Width)
	}
	for i, rate := range l.PerSecond() {
		if math.Abs(rate-1030) > 5 {
			t.Errorf("at %v %v requests per second", l.Span(i).From, rate)
		}
	}
	// A span within one wide window gets that window.
	if l := r.Series(series.LoadRequests, "", spanOf(7203, 7204)); len(l.Values) != 1 || math.IsNaN(l.Values[0]) ||
		l.Width != 10*time.Second {
		t.Errorf("within a wide window %v of %v", l.Values, l.Width)
	}
}

// TestShortRunIsNotThinned asserts that a run of a quarter of an hour stays as it was.
func TestShortRunIsNotThinned(t *testing.T) {
	t.Parallel()
	w := create(t)
	writeLong(t, w, 0, 15*minute)
	must(t, w.Close(Complete, ""))
	r, err := Open(w.Dir())
	must(t, err)
	expectLong(t, r, 0, 15*minute)
	if r.Thinned() != nil || r.Run.Resolution != nil || r.ThinnedText() != "" {
		t.Errorf("thinned: %v", r.Thinned())
	}
	if l := r.Series(series.LoadInFlight, "", spanOf(10, 13)); fmt.Sprint(l.Values) != "[10 11 12]" || l.Width != testWidth {
		t.Errorf("%v of %v", l.Values, l.Width)
	}
	n := 0
	must(t, r.Intervals(histogram.Latency, func(string, timebase.Span, *histogram.Counts) bool { n++; return true }))
	if n != int(15*minute/logged) {
		t.Errorf("%d intervals", n)
	}
}

// TestKilledLongRun kills the run after every twentieth step of the thinning, and within
// it: when the joined file has its name and the others are not gone yet.
func TestKilledLongRun(t *testing.T) {
	t.Parallel()
	const length = 71 * minute
	w := handled(t)
	writeLong(t, w, 0, length)
	w.onTimer()
	must(t, w.failed)
	look := func(dir, when string) {
		t.Helper()
		r, err := Open(dir)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if r.Run.State != Aborted {
			t.Errorf("%s: state %s", when, r.Run.State)
		}
		expectLong(t, r, 0, length)
		if t.Failed() {
			t.Fatal(when)
		}
	}
	look(w.Dir(), "before any step")
	steps := 0
	for _, step := range []func() (bool, error){w.joinJournal, w.joinHistograms} {
		for did := true; did; steps++ {
			before := filepath.Join(t.TempDir(), "before")
			if steps%20 == 0 {
				must(t, os.CopyFS(before, os.DirFS(w.Dir())))
			}
			var err error
			did, err = step()
			must(t, err)
			if steps%20 != 0 {
				continue
			}
			look(w.Dir(), fmt.Sprint("after step ", steps))
			// Both the old files and the new ones.
			err = os.CopyFS(filepath.Join(before, partsDir), os.DirFS(filepath.Join(w.Dir(), partsDir)))
			if err != nil && !errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
			merge(t, filepath.Join(w.Dir(), partsDir), filepath.Join(before, partsDir))
			look(before, fmt.Sprint("within step ", steps))
		}
	}
	if steps < 60 {
		t.Errorf("%d steps", steps)
	}
	r, err := Open(w.Dir())
	must(t, err)
	if got := r.Thinned(); len(got) != 2 {
		t.Errorf("a killed run is not thinned: %v", got)
	}
}

// merge copies the files of one folder into another, over those of the same name.
func merge(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	must(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(to, e.Name()), data, 0o644))
	}
}

// TestKilledWhileClosing opens a bundle whose log is whole and whose parts are still
// there.
func TestKilledWhileClosing(t *testing.T) {
	w := create(t)
	writeLong(t, w, 0, 3*minute)
	w.onTimer()
	parts := filepath.Join(t.TempDir(), "parts")
	must(t, os.CopyFS(parts, os.DirFS(filepath.Join(w.Dir(), partsDir))))
	must(t, w.Close(Complete, ""))
	must(t, os.Mkdir(filepath.Join(w.Dir(), partsDir), 0o755))
	merge(t, parts, filepath.Join(w.Dir(), partsDir))
	r, err := Open(w.Dir())
	must(t, err)
	expectLong(t, r, 0, 3*minute)
}

// TestWrongWindowAgesNothing adds one value far in the future.
func TestWrongWindowAgesNothing(t *testing.T) {
	w := create(t)
	writeLong(t, w, 0, 2*minute)
	must(t, w.Add(series.Point{Window: 1 << 30, Series: series.Series{Name: "wrong", Unit: "1"}, Value: 1}))
	writeLong(t, w, 2*minute, 6*minute)
	must(t, w.Close(Complete, ""))
	r, err := Open(w.Dir())
	must(t, err)
	if got := r.Thinned(); got != nil {
		t.Errorf("thinned: %v", got)
	}
	if sum, _ := r.Series(longTotal.Name, "", spanOf(0, 6*minute)).Sum(); sum != 4096*6*float64(minute) {
		t.Errorf("allocated %v", sum)
	}
}
