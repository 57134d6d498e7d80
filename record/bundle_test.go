package record

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const testWidth = 100 * time.Millisecond

func testRun(t testing.TB) Run {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	return Run{Redline: "test", Clock: clock, Window: testWidth, Scenario: []byte(`{"name":"x"}`), Host: HostInfo()}
}

func create(t testing.TB) *Writer {
	t.Helper()
	w, err := Create(filepath.Join(t.TempDir(), "bundle"), testRun(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(Aborted, "the test ended") })
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// spanOf is the span of windows [from, to).
func spanOf(from, to int64) timebase.Span {
	return timebase.Span{From: timebase.WindowSpan(from, testWidth).From, To: timebase.WindowSpan(to, testWidth).From}
}

// fillBundle writes a little of everything.
func fillBundle(t testing.TB, w *Writer) {
	t.Helper()
	requests := series.Series{Name: series.LoadRequests, Unit: "1"}
	p50 := series.Series{Name: series.LoadLatency, Labels: series.Labels("q", "p50"), Unit: "ns"}
	p99 := series.Series{Name: series.LoadLatency, Labels: series.Labels("q", "p99"), Unit: "ns"}
	for i := range int64(20) {
		must(t, w.Add(series.Point{Window: i, Series: requests, Value: float64(i)}, series.Point{Window: i, Series: p50, Value: 1e6}))
		if i%2 == 0 {
			must(t, w.Add(series.Point{Window: i, Series: p99, Value: 5e6}))
		}
		h := histogram.New()
		must(t, h.RecordValue(1e6+i))
		must(t, h.RecordValue(2e6))
		must(t, w.Histogram("query", histogram.Latency, timebase.WindowSpan(i, testWidth), h))
		must(t, w.Histogram("order", histogram.Latency, timebase.WindowSpan(i, testWidth), h))
		must(t, w.Histogram("order", histogram.Service, timebase.WindowSpan(i, testWidth), h))
	}
	must(t, w.Add(series.Point{Window: 3, Series: requests, Value: 100}, series.Point{Window: -1, Series: requests, Value: 1}))
	must(t, w.Slow(SlowRequest{Intended: 1, Done: 10, Request: "query", ID: 1}, SlowRequest{Intended: 1, Done: 100,
		Request: "order", ID: 2}))
	must(t, w.Profile(Profile{Type: "cpu", Span: timebase.Span{From: 123456789, To: 1123456789}, Data: []byte("cpu data")}))
	must(t, w.Profile(Profile{Type: "heap", Span: timebase.Span{From: 5, To: 5}, Data: []byte("heap data")}))
	must(t, w.Trace(Trace{Span: timebase.Span{From: -7, To: 1e9}, Data: []byte("trace data")}))
	must(t, w.Update(func(r *Run) { r.Steady = spanOf(5, 20); r.State = "nonsense" }))
	must(t, disk.WriteJSON(w.Dir(), SummaryFile, Summary{Schema: SummarySchema}))
}

func checkBundle(t *testing.T, r *Record) {
	t.Helper()
	if from, to := r.Windows(); from != -1 || to != 20 {
		t.Errorf("windows [%d, %d), want [-1, 20)", from, to)
	}
	if got := r.Series(series.LoadRequests, "", spanOf(2, 5)).Values; !reflect.DeepEqual(got, []float64{2, 103, 4}) {
		t.Errorf("requests of windows 2 to 4: %v", got)
	}
	p99 := r.Series(series.LoadLatency, "q=p99", spanOf(18, 22)).Values
	if len(p99) != 4 || p99[0] != 5e6 || !math.IsNaN(p99[1]) || !math.IsNaN(p99[3]) {
		t.Errorf("p99 of windows 18 to 21: %v", p99)
	}
	if got := r.Series("no.such", "", spanOf(0, 5)).Values; got != nil {
		t.Errorf("an absent series gives %v", got)
	}
	if got := r.Labels(series.LoadLatency); !reflect.DeepEqual(got, []string{"q=p50", "q=p99"}) {
		t.Errorf("labels %q", got)
	}
	if got := r.Names(); len(got) != 3 || got[2].Unit != "1" {
		t.Errorf("names %v", got)
	}
	for step, want := range map[string]int64{"": 20, "query": 10, "none": 0} {
		h, err := r.Histogram(step, histogram.Latency, spanOf(5, 10))
		must(t, err)
		if h.TotalCount() != want {
			t.Errorf("step %q has %d values, want %d", step, h.TotalCount(), want)
		}
	}
	var spans []timebase.Span
	must(t, r.Intervals(histogram.Service, func(step string, s timebase.Span, _ *histogram.Counts) bool {
		spans = append(spans, s)
		return step == "order" && len(spans) < 3
	}))
	if !reflect.DeepEqual(spans, []timebase.Span{spanOf(0, 1), spanOf(1, 2), spanOf(2, 3)}) {
		t.Errorf("intervals %v", spans)
	}
	slow, err := r.SlowRequests()
	must(t, err)
	if len(slow) != 2 || slow[0].ID != 2 {
		t.Errorf("slow requests %v", slow)
	}
	cpu := r.Profiles("cpu")
	if len(cpu) != 1 || cpu[0].Span != (timebase.Span{From: 123456789, To: 1123456789}) || len(r.Profiles("")) != 2 {
		t.Fatalf("profiles %v", r.Profiles(""))
	}
	if data, err := r.ReadProfile(cpu[0]); err != nil || string(data) != "cpu data" {
		t.Errorf("profile %q, %v", data, err)
	}
	traces := r.Traces()
	if len(traces) != 1 || traces[0].Span != (timebase.Span{From: -7, To: 1e9}) {
		t.Fatalf("traces %v", traces)
	}
	if data, err := r.ReadTrace(traces[0]); err != nil || string(data) != "trace data" {
		t.Errorf("trace %q, %v", data, err)
	}
	var s Summary
	must(t, r.ReadJSON(SummaryFile, &s))
	if err := r.ReadJSON(breakdown.File, &s); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent file gives %v", err)
	}
	if r.Run.Steady != spanOf(5, 20) || r.Run.Schema != RunSchema || r.Run.ID != "bundle" {
		t.Errorf("run %+v", r.Run)
	}
}

func TestCompleteBundle(t *testing.T) {
	w := create(t)
	fillBundle(t, w)
	must(t, w.Close(Complete, ""))
	r, err := Open(w.Dir())
	must(t, err)
	checkBundle(t, r)
	if r.Run.State != Complete || r.Run.Why != "" {
		t.Errorf("state %s, %q", r.Run.State, r.Run.Why)
	}
	if _, err := os.Stat(filepath.Join(w.Dir(), journalFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the journal is still there: %v", err)
	}
	leftovers, _ := filepath.Glob(filepath.Join(w.Dir(), ".*"))
	if len(leftovers) > 0 {
		t.Errorf("temporary files stay: %v", leftovers)
	}
	if err := w.Add(series.Point{}); !errors.Is(err, ErrClosed) {
		t.Errorf("add after close: %v", err)
	}
}

// TestKilledBundle copies the directory while the run continues, as it would
// look after SIGKILL.
func TestKilledBundle(t *testing.T) {
	w := create(t)
	fillBundle(t, w)
	// What the timer does twice a second.
	w.onTimer()
	dir := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(dir, os.DirFS(w.Dir())))
	r, err := Open(dir)
	must(t, err)
	checkBundle(t, r)
	if r.Run.State != Aborted || !strings.Contains(r.Run.Why, "killed") {
		t.Errorf("state %s, %q", r.Run.State, r.Run.Why)
	}
}

// TestTornAtAnyByte cuts journal, histogram log and slow requests at every
// length: each must open, with no point that was not written.
func TestTornAtAnyByte(t *testing.T) {
	w := create(t)
	s := series.Series{Name: "a", Labels: "x=y", Unit: "1"}
	for i := range int64(4) {
		must(t, w.Add(series.Point{Window: i, Series: s, Value: 7},
			series.Point{Window: i, Series: series.Series{Name: fmt.Sprint("s", i), Unit: "1"}, Value: 7}))
		must(t, func() error { w.onTimer(); return w.failed }())
	}
	h := histogram.New()
	must(t, h.RecordValue(1000))
	must(t, w.Histogram("q", histogram.Latency, spanOf(0, 1), h))
	must(t, w.Histogram("q", histogram.Latency, spanOf(1, 2), h))
	must(t, w.Slow(SlowRequest{ID: 1}, SlowRequest{ID: 2}))
	dir := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(dir, os.DirFS(w.Dir())))
	for _, file := range []string{journalFile, hlogFile, slowFile} {
		path := filepath.Join(dir, file)
		whole, err := os.ReadFile(path)
		must(t, err)
		for n := len(whole); n >= 0; n-- {
			must(t, os.WriteFile(path, whole[:n], 0o644))
			r, err := Open(dir)
			if err != nil {
				t.Fatalf("%s cut at %d: %v", file, n, err)
			}
			for _, name := range r.Names() {
				for _, v := range r.Series(name.Name, name.Labels, spanOf(0, 4)).Values {
					if v == v && v != 7 {
						t.Fatalf("%s cut at %d: %s holds %v", file, n, name.Name, v)
					}
				}
			}
			if _, err := r.Histogram("", histogram.Latency, spanOf(0, 4)); err != nil {
				t.Fatalf("%s cut at %d: %v", file, n, err)
			}
			if _, err := r.SlowRequests(); err != nil {
				t.Fatalf("%s cut at %d: %v", file, n, err)
			}
		}
		must(t, os.WriteFile(path, whole, 0o644))
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o644))
	if _, err := Create(dir, testRun(t)); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a directory that is not empty: %v", err)
	}
	if _, err := Create(filepath.Join(dir, "x", "y"), testRun(t)); err == nil {
		t.Error("a directory under a file was created")
	}
	if _, err := Create(filepath.Join(dir, "z"), Run{}); err == nil || !strings.Contains(err.Error(), "window") {
		t.Errorf("no window: %v", err)
	}
}
