package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// TestFullDisk fills the disk in mid-run: every write fails and says so, what was written
// before can be opened, and Close reports the error.
func TestFullDisk(t *testing.T) {
	small := smallDisk(t, 256<<10)
	w, err := Create(filepath.Join(small, "bundle"), testRun(t))
	must(t, err)
	s := series.Series{Name: "a", Unit: "1"}
	for i := range int64(5) {
		must(t, w.Add(series.Point{Window: i, Series: s, Value: 1}))
	}
	w.onTimer() // now they are on disk
	// Another file takes the rest of the room.
	filler, err := os.Create(filepath.Join(small, "filler"))
	must(t, err)
	defer filler.Close()
	for _, err = filler.Write(make([]byte, 512<<10)); err == nil; {
		_, err = filler.Write(make([]byte, 4096))
	}
	if err := w.Profile(Profile{Type: "cpu", Span: spanOf(0, 1), Data: make([]byte, 64<<10)}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("profile: %v", err)
	}
	var full error
	for i := int64(0); full == nil && i < 100_000; i++ {
		full = w.Add(series.Point{Window: i, Series: series.Series{Name: fmt.Sprint("s", i%1000), Unit: "1"}, Value: 1})
	}
	if !errors.Is(full, syscall.ENOSPC) {
		t.Errorf("add: %v", full)
	}
	if err := w.Close(Complete, ""); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("close: %v", err)
	}
	r, err := Open(w.Dir())
	must(t, err)
	sum, present := series.Sum(r.Series("a", "", spanOf(0, 5)).Values)
	if sum != 5 || present != 5 {
		t.Errorf("%v in %d windows are left of 5", sum, present)
	}
	if left, _ := filepath.Glob(filepath.Join(w.Dir(), "*", ".*")); len(left) > 0 {
		t.Errorf("torn files stay: %v", left)
	}
}

// TestConcurrentWriters writes from several goroutines at once and loses nothing.
func TestConcurrentWriters(t *testing.T) {
	w := create(t)
	const each, writers = 200, 4
	var wg sync.WaitGroup
	for g := range writers {
		wg.Go(func() {
			for i := range int64(each) {
				if err := w.Add(series.Point{Window: i, Series: series.Series{Name: "shared", Unit: "1"}, Value: 1},
					series.Point{Window: i, Series: series.Series{Name: fmt.Sprint("own", g), Unit: "1"}, Value: 1}); err != nil {
					t.Error(err)
				}
				h := histogram.New()
				h.RecordValue(i + 1)
				if err := w.Histogram("q", histogram.Latency, timebase.WindowSpan(i, testWidth), h); err != nil {
					t.Error(err)
				}
				if i%50 == 0 {
					at := time.Duration(i*writers + int64(g))
					if err := errors.Join(w.Slow(SlowRequest{ID: i}),
						w.Trace(Trace{Span: timebase.Span{From: at, To: at + 1}, Data: []byte("x")}),
						w.Update(func(r *Run) { r.Warnings = append(r.Warnings, "w") })); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	must(t, w.Close(Complete, ""))
	must(t, w.Close(Aborted, "twice"))
	r, err := Open(w.Dir())
	must(t, err)
	if sum, _ := series.Sum(r.Series("shared", "", spanOf(0, each)).Values); sum != each*writers {
		t.Errorf("shared is %v", sum)
	}
	h, err := r.Histogram("q", histogram.Latency, spanOf(0, each))
	must(t, err)
	if h.TotalCount() != each*writers || len(r.Traces()) != 16 || len(r.Run.Warnings) != 16 || r.Run.State != Complete {
		t.Errorf("%d values, %d traces, %d warnings, %s", h.TotalCount(), len(r.Traces()), len(r.Run.Warnings), r.Run.State)
	}
}

func TestWriterRefuses(t *testing.T) {
	w := create(t)
	s := timebase.Span{From: 0, To: 10}
	must(t, w.Profile(Profile{Type: "cpu", Span: s}))
	for name, err := range map[string]error{
		"same span":    w.Profile(Profile{Type: "cpu", Span: s}),
		"path as type": w.Profile(Profile{Type: "../x", Span: s}),
		"backwards":    w.Trace(Trace{Span: timebase.Span{From: 10, To: 0}}),
		"two units": w.Add(series.Point{Window: 0, Series: series.Series{Name: "a", Unit: "ns"}, Value: 1},
			series.Point{Window: 0, Series: series.Series{Name: "a", Unit: "1"}, Value: 1}),
		"no name":    w.Add(series.Point{}),
		"far window": w.Add(series.Point{Window: 1 << 40, Series: series.Series{Name: "a", Unit: "ns"}, Value: 1}),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	must(t, w.Trace(Trace{Span: s}))
}

// TestAppendTakesBackTornEntries writes until the disk is full, and again when there is
// room: the file holds only whole entries.
func TestAppendTakesBackTornEntries(t *testing.T) {
	small := smallDisk(t, 64<<10)
	filler := filepath.Join(small, "filler")
	must(t, os.WriteFile(filler, make([]byte, 32<<10), 0o644))
	a, err := disk.NewAppender(filepath.Join(small, "log"))
	must(t, err)
	defer a.Close()
	entry := make([]byte, 1000)
	entry[999] = '\n'
	written := 0
	for err == nil {
		if err = a.Append(entry); err == nil {
			written++
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	must(t, os.Remove(filler))
	// Shorter than the torn entry, none of which may remain after it.
	must(t, a.Append([]byte("\n")))
	info, err := os.Stat(a.Path)
	must(t, err)
	if want := int64(written)*1000 + 1; info.Size() != want {
		t.Errorf("%d bytes, want %d: %d entries and a byte", info.Size(), want, written)
	}
}
