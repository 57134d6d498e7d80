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
)

// TestFullDisk fills the disk in mid-run: every write says so, what was
// written opens, and Close reports.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, 256<<10)
	w, err := Create(filepath.Join(disk, "bundle"), testRun(t))
	must(t, err)
	s := Series{Name: "a", Unit: "1"}
	for i := range int64(5) {
		must(t, w.Add(Point{i, s, 1}))
	}
	w.onTimer() // on disk
	// A file takes the rest of the room.
	filler, err := os.Create(filepath.Join(disk, "filler"))
	must(t, err)
	defer filler.Close()
	for _, err = filler.Write(make([]byte, 512<<10)); err == nil; {
		_, err = filler.Write(make([]byte, 4096))
	}
	if err := w.Profile(Profile{Type: "cpu", Span: windows(0, 1), Data: make([]byte, 64<<10)}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("profile: %v", err)
	}
	var full error
	for i := int64(0); full == nil && i < 100_000; i++ {
		full = w.Add(Point{i, Series{Name: fmt.Sprint("s", i%1000), Unit: "1"}, 1})
	}
	if !errors.Is(full, syscall.ENOSPC) {
		t.Errorf("add: %v", full)
	}
	if err := w.Close(Complete, ""); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("close: %v", err)
	}
	r, err := Open(w.Dir())
	must(t, err)
	sum, present := Sum(r.Series("a", "", windows(0, 5)).Values)
	if sum != 5 || present != 5 {
		t.Errorf("%v in %d windows are left of 5", sum, present)
	}
	if left, _ := filepath.Glob(filepath.Join(w.Dir(), "*", ".*")); len(left) > 0 {
		t.Errorf("torn files stay: %v", left)
	}
}

// TestAppendTakesBackTornEntries writes until the disk is full and again when
// there is room: the file holds whole entries only.
func TestAppendTakesBackTornEntries(t *testing.T) {
	disk := smallDisk(t, 64<<10)
	filler := filepath.Join(disk, "filler")
	must(t, os.WriteFile(filler, make([]byte, 32<<10), 0o644))
	a, err := createAppend(filepath.Join(disk, "log"))
	must(t, err)
	defer a.close()
	entry := make([]byte, 1000)
	entry[999] = '\n'
	written := 0
	for err == nil {
		if err = a.append(entry); err == nil {
			written++
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	must(t, os.Remove(filler))
	// Shorter than what was torn, which it must not leave behind itself.
	must(t, a.append([]byte("\n")))
	info, err := os.Stat(a.path)
	must(t, err)
	if want := int64(written)*1000 + 1; info.Size() != want {
		t.Errorf("%d bytes, want %d: %d entries and a byte", info.Size(), want, written)
	}
}

// TestConcurrentWriters calls every method at once and loses nothing.
func TestConcurrentWriters(t *testing.T) {
	w := create(t)
	const each, writers = 200, 4
	var wg sync.WaitGroup
	for g := range writers {
		wg.Go(func() {
			for i := range int64(each) {
				if err := w.Add(Point{i, Series{Name: "shared", Unit: "1"}, 1}, Point{i, Series{Name: fmt.Sprint("own", g), Unit: "1"}, 1}); err != nil {
					t.Error(err)
				}
				h := NewHistogram()
				h.RecordValue(i + 1)
				if err := w.Histogram("q", Latency, WindowSpan(i, testWidth), h); err != nil {
					t.Error(err)
				}
				if i%50 == 0 {
					at := time.Duration(i*writers + int64(g))
					if err := errors.Join(w.Slow(SlowRequest{ID: i}), w.Trace(Trace{Span: Span{at, at + 1}, Data: []byte("x")}),
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
	if sum, _ := Sum(r.Series("shared", "", windows(0, each)).Values); sum != each*writers {
		t.Errorf("shared is %v", sum)
	}
	h, err := r.Histogram("q", Latency, windows(0, each))
	must(t, err)
	if h.TotalCount() != each*writers || len(r.Traces()) != 16 || len(r.Run.Warnings) != 16 || r.Run.State != Complete {
		t.Errorf("%d values, %d traces, %d warnings, %s", h.TotalCount(), len(r.Traces()), len(r.Run.Warnings), r.Run.State)
	}
}

func TestWriterRefuses(t *testing.T) {
	w := create(t)
	s := Span{0, 10}
	must(t, w.Profile(Profile{Type: "cpu", Span: s}))
	for name, err := range map[string]error{
		"same span":    w.Profile(Profile{Type: "cpu", Span: s}),
		"path as type": w.Profile(Profile{Type: "../x", Span: s}),
		"backwards":    w.Trace(Trace{Span: Span{10, 0}}),
		"two units":    w.Add(Point{0, Series{Name: "a", Unit: "ns"}, 1}, Point{0, Series{Name: "a", Unit: "1"}, 1}),
		"no name":      w.Add(Point{}),
		"far window":   w.Add(Point{1 << 40, Series{Name: "a", Unit: "ns"}, 1}),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	must(t, w.Trace(Trace{Span: s}))
}
