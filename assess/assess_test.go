package assess

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// killedBundle writes a bundle with three seconds of load, one second of it
// warm-up, and copies it while the writer still has it open: what a SIGKILL
// leaves.
func killedBundle(t *testing.T) string {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(t.TempDir(), "open")
	w, err := record.Create(open, record.Run{
		Clock: clock, Window: timebase.DefaultWindow,
		Scenario: []byte(`{"load":{"connections":8,"warmup_ns":1000000000},"thresholds":[
			{"expr":"p99 < 1s","metric":"p99","op":"<","limit":1e9},
			{"expr":"errors < 1%","metric":"errors","op":"<","limit":0.01}]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(30) {
		at := series.Point{Window: 5 + i, Series: series.Series{Name: series.LoadRequests, Unit: "1"}, Value: 100}
		failed := series.Point{Window: 5 + i, Series: series.Series{Name: series.LoadErrors, Labels: "kind=timeout", Unit: "1"}, Value: 2}
		if err := w.Add(at, failed); err != nil {
			t.Fatal(err)
		}
	}
	h := histogram.New()
	for range 1000 {
		h.RecordValue(int64(20 * time.Millisecond))
	}
	// 1,000/s of 1 ms are one request in progress, on 8 connections: only the windows of
	// a run without a summary say that the generator did not keep up.
	quick := histogram.New()
	for range 1000 {
		quick.RecordValue(int64(time.Millisecond))
	}
	for s := range 3 {
		from := 500*time.Millisecond + time.Duration(s)*time.Second
		for kind, h := range map[histogram.Kind]*hdrhistogram.Histogram{histogram.Latency: h, histogram.Service: quick} {
			if err := w.Histogram("get", kind, timebase.Span{From: from, To: from + time.Second}, h); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The writer flushes on its own timer; closing flushes too, but writes the
	// final files, which a killed run does not have.
	dir := filepath.Join(t.TempDir(), "killed")
	awaitWindows(t, open, 30)
	if err := os.CopyFS(dir, os.DirFS(open)); err != nil {
		t.Fatal(err)
	}
	w.Close(record.Complete, "")
	return dir
}

// awaitWindows polls until the journal holds so many windows.
func awaitWindows(t *testing.T, dir string, n int64) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		rec, err := record.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if from, to := rec.Windows(); to-from == n {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the journal was never flushed")
		}
	}
}

func TestKilledRunIsJudgedOnWhatItHolds(t *testing.T) {
	dir := killedBundle(t)
	_, s, err := Bundle(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.State != record.Aborted || !strings.Contains(strings.Join(s.Warnings, "\n"), "killed") {
		t.Errorf("state %s, warnings %q", s.State, s.Warnings)
	}
	// Two of the three seconds are after the warm-up.
	l := s.Load
	if l.Requests != 2000 || l.Errors != 40 || l.ErrorKinds["timeout"] != 40 || l.Duration != int64(2*time.Second) || l.Rate != 980 {
		t.Errorf("load = %+v", l)
	}
	if p50 := time.Duration(l.Latency.P50); p50 < 19*time.Millisecond || p50 > 21*time.Millisecond {
		t.Errorf("p50 = %v, want 20ms", p50)
	}
	if len(s.Thresholds) != 2 || !s.Thresholds[0].OK || s.Thresholds[1].OK {
		t.Errorf("thresholds = %+v: p99 holds, errors (2 %%) do not", s.Thresholds)
	}
	if s.Generator.Verdict() != record.ValidityUnknown || s.Generator.Valid {
		t.Errorf("generator = %+v: nobody judged it", s.Generator)
	}
	if s.Load.Model != "closed" || s.Load.Connections != 8 {
		t.Errorf("model %s, %d connections", s.Load.Model, s.Load.Connections)
	}
	_, again, err := Bundle(dir)
	if len(s.Findings) != 1 || s.Findings[0].Cause != "generator-saturated" || !reflect.DeepEqual(again.Findings, s.Findings) {
		t.Errorf("found %+v, and judging again %+v", s.Findings, again.Findings)
	}
	if err != nil || again.Load.Requests != l.Requests || len(again.Warnings) != len(s.Warnings) {
		t.Errorf("judging again: %v, %d requests, warnings %q against %q", err, again.Load.Requests, again.Warnings, s.Warnings)
	}
}

// TestUnreadablePlanFailsItsThresholds: whether there were any is unknown then.
func TestUnreadablePlanFailsItsThresholds(t *testing.T) {
	rec := &record.Record{}
	s := &record.Summary{Load: record.LoadSummary{Requests: 100, Rate: 10}}
	for _, plan := range []string{`{"thresholds":[{"expr":"rate > 1/s","metric":"rate","op":">","limit":"1"}]}`, `{"load":7}`, `{`} {
		rec.Run.Scenario = []byte(plan)
		if got := thresholds(rec, s); len(got) != 1 || got[0].OK {
			t.Errorf("%s: %+v", plan, got)
		}
	}
	rec.Run.Scenario = nil
	if got := thresholds(rec, s); len(got) != 0 {
		t.Errorf("no plan: %+v", got)
	}
}

func TestThresholdsOnNothingFail(t *testing.T) {
	s := &record.Summary{}
	for _, name := range []string{"p99", "rate", "errors", "mean"} {
		if v, ok := metric(s, name); ok {
			t.Errorf("%s = %v without a request", name, v)
		}
	}
	s.Load.Requests, s.Load.Errors = 10, 10
	if _, ok := metric(s, "p50"); ok {
		t.Error("a latency of successes where there is none")
	}
	if v, ok := metric(s, "errors"); !ok || v != 1 {
		t.Errorf("errors = %v, %v", v, ok)
	}
}

// TestThresholdsOnBoundsFail: a percentile of at least 4 s meets no upper limit, however
// high.
func TestThresholdsOnBoundsFail(t *testing.T) {
	rec := &record.Record{}
	rec.Run.Scenario = []byte(`{"thresholds":[
		{"expr":"p50 < 1s","metric":"p50","op":"<","limit":1e9},
		{"expr":"p95 < 60s","metric":"p95","op":"<","limit":6e10},
		{"expr":"p99 <= 60s","metric":"p99","op":"<=","limit":6e10},
		{"expr":"max < 60s","metric":"max","op":"<","limit":6e10},
		{"expr":"mean < 60s","metric":"mean","op":"<","limit":6e10},
		{"expr":"p99 > 1s","metric":"p99","op":">","limit":1e9},
		{"expr":"p99 > 60s","metric":"p99","op":">","limit":6e10},
		{"expr":"rate > 1/s","metric":"rate","op":">","limit":1}]}`)
	s := &record.Summary{Load: record.LoadSummary{Requests: 100, Rate: 10, InFlight: 7,
		Latency: histogram.Quantiles{Mean: 3e8, P50: 1e6, P90: 2e6, P95: 4e9, P99: 4e9, P999: 5e9, Max: 6e9, Unfinished: 7, AtLeast: 95}}}
	want := []struct{ ok, bound bool }{{true, false}, {false, true}, {false, true}, {false, true},
		{false, true}, {true, true}, {false, true}, {true, false}}
	got := thresholds(rec, s)
	if len(got) != len(want) {
		t.Fatalf("%d thresholds: %+v", len(got), got)
	}
	for i, w := range want {
		if got[i].OK != w.ok || got[i].AtLeast != w.bound || got[i].Value == nil {
			t.Errorf("%s: %+v, want %+v", got[i].Expr, got[i], w)
		}
	}
}
