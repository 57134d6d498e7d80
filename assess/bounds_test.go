package assess

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// TestManyTraces has traces that claim 10 GB in all. They are opened one at a time,
// and those left out are reported.
func TestManyTraces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bundle")
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(dir, record.Run{Clock: clock, Window: timebase.DefaultWindow, Scenario: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		at := time.Duration(i) * time.Second
		if err := w.Trace(record.Trace{Span: timebase.Span{From: at, To: at + 1}, Data: []byte("go 1.25 trace\x00\x00\x00")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(record.Complete, ""); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "traces", "*"))
	if err != nil || len(files) != 40 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if err := os.Truncate(f, record.MaxTrace); err != nil { // a file with a hole
			t.Fatal(err)
		}
	}
	before := allocated()
	_, summary, err := Bundle(dir)
	if err != nil {
		t.Fatal(err)
	}
	if took := allocated() - before; took > 100<<20 { // less than half of one trace
		t.Errorf("judging allocated %d MB", took>>20)
	}
	text := strings.Join(summary.Warnings, "\n")
	if !strings.Contains(text, "38 of 40 execution traces left out") || !strings.Contains(text, "no anatomy") {
		t.Errorf("warnings: %s", text)
	}
}

// TestThinningIsReported: the summary and run.json of a long run name its resolutions.
func TestThinningIsReported(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bundle")
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(dir, record.Run{Clock: clock, Window: timebase.DefaultWindow, Scenario: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(80 * 600) {
		if err := w.Add(series.Point{Window: i, Series: series.Series{Name: series.LoadRequests, Unit: "1"}, Value: 100}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Update(func(r *record.Run) { r.Steady = timebase.Span{To: 80 * time.Minute} }); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(record.Complete, ""); err != nil {
		t.Fatal(err)
	}
	_, summary, err := Bundle(dir)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(summary.Warnings, "\n"); !strings.Contains(text,
		"0:00:00 to 0:20:00 is kept at a resolution of 10s, 0:20:00 to 1:05:00 is kept at a resolution of 1s") {
		t.Errorf("warnings: %s", text)
	}
	run, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil || !bytes.Contains(run, []byte(`"width_ns": 10000000000`)) {
		t.Errorf("run.json does not say so: %v", err)
	}
}

// allocated returns how many bytes this process has allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
