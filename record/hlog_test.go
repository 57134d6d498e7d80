package record

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/timebase"
)

// TestHlogIsStandard reads the log with hdrhistogram-go's log reader.
func TestHlogIsStandard(t *testing.T) {
	w := create(t)
	fillBundle(t, w)
	f, err := os.Open(filepath.Join(w.Dir(), hlogFile))
	must(t, err)
	defer f.Close()
	r := hdrhistogram.NewHistogramLogReader(f)
	counts := map[string]int{}
	for {
		h, err := r.NextIntervalHistogram()
		must(t, err)
		if h == nil {
			break
		}
		counts[h.Tag()]++
		// Absolute times: the base is the run's epoch.
		if at := time.UnixMilli(h.StartTimeMs()).Sub(w.run.Clock.EpochWall); at < -time.Millisecond || at > 3*time.Second {
			t.Fatalf("an interval starts at %v", at)
		}
		if length := h.EndTimeMs() - h.StartTimeMs(); length < 99 || length > 101 {
			t.Fatalf("an interval of %d ms", length)
		}
	}
	if want := map[string]int{"query.latency": 20, "order.latency": 20, "order.service": 20}; !reflect.DeepEqual(counts, want) {
		t.Errorf("intervals %v", counts)
	}
}

// TestHlogIsStreamed reads a log with a million short lines, none of which is wanted.
func TestHlogIsStreamed(t *testing.T) {
	dir := finished(t)
	f, err := os.OpenFile(filepath.Join(dir, hlogFile), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	block := strings.Repeat("Tag=q.lag,1.0,0.1,1.0,x\n", 1<<14)
	for range 64 { // 25 MB
		_, err := f.WriteString(block)
		must(t, err)
	}
	must(t, f.Close())
	r, err := Open(dir)
	must(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h, err := r.Histogram("", histogram.Latency, spanOf(0, 20))
	must(t, err)
	runtime.ReadMemStats(&after)
	// A line costs two short strings at most, for a moment; an earlier index of all lines
	// took 120 bytes for each, all the time.
	if live := int64(after.HeapAlloc) - int64(before.HeapAlloc); live > 30<<20 || h.TotalCount() != 80 {
		t.Errorf("%d MB are held after reading, %d values", live>>20, h.TotalCount())
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 60 {
		t.Errorf("reading allocated %d MB", took)
	}
}

func TestCountsDoNotAllocate(t *testing.T) {
	w := create(t)
	var c, sum histogram.Counts
	sum.Add(1)
	c.Add(1)
	must(t, w.Counts("q", histogram.Latency, timebase.Span{From: 0, To: testWidth}, &c))
	if n := testing.AllocsPerRun(100, func() {
		c.Reset()
		for v := int64(1e5); v < 1e6; v += 1e4 {
			c.Add(v)
		}
		sum.Merge(&c)
		_ = c.Quantiles()
		if err := w.Counts("q", histogram.Latency, timebase.Span{From: 0, To: testWidth}, &c); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations per window", n)
	}
}
