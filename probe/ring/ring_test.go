package ring

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

var columns = []Column{
	{Name: "/sched/goroutines:goroutines", Kind: Gauge, Unit: One},
	{Name: "/sched/latencies:seconds", Labels: "q=p99", Kind: Gauge, Unit: Nanoseconds},
	{Name: "/gc/heap/allocs:bytes", Kind: Cumulative, Unit: Bytes},
}

var header = Header{
	PID: 4711, EpochMonotonic: 1e12, Window: 100 * time.Millisecond, StartMonotonic: 1e12 + 5,
	ClockError: 40, GOMAXPROCS: 2, NumCPU: 8, GoVersion: "go1.26.8", Note: "control socket: no",
}

func create(t *testing.T, slots int) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ring")
	w, err := Create(path, header, columns, slots)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, path
}

func open(t *testing.T, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// put writes sample i, whose figures all tell its index.
func put(t *testing.T, w *Writer, i int) {
	t.Helper()
	at := int64(i+1) * 1000
	if err := w.Write(at-1000, at, at+10, []float64{float64(i), float64(2 * i), float64(3 * i)}); err != nil {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	w, path := create(t, 8)
	r := open(t, path)
	if r.Header != header || !reflect.DeepEqual(r.Columns, columns) {
		t.Errorf("header %+v, columns %+v", r.Header, r.Columns)
	}
	var s Sample
	if ok, err := r.Next(&s); ok || err != nil {
		t.Errorf("an empty ring gives a sample: %t, %v", ok, err)
	}
	for i := range 30 {
		put(t, w, i)
		ok, err := r.Next(&s)
		if !ok || err != nil {
			t.Fatalf("sample %d: %t, %v", i, ok, err)
		}
		want := Sample{uint64(i), int64(i) * 1000, int64(i+1) * 1000, int64(i+1)*1000 + 10,
			[]float64{float64(i), float64(2 * i), float64(3 * i)}}
		if !reflect.DeepEqual(s, want) {
			t.Fatalf("sample %d is %+v", i, s)
		}
	}
	if r.Lost() != 0 || r.Ended() {
		t.Errorf("lost %d, ended %t", r.Lost(), r.Ended())
	}
	if w.Close() != nil || !r.Ended() {
		t.Error("the end is not seen")
	}
	if w.Write(1, 2, 3, make([]float64, 3)) == nil {
		t.Error("a closed ring takes samples")
	}
}

func TestReaderThatFallsBehindCountsWhatItLost(t *testing.T) {
	w, path := create(t, 8)
	r := open(t, path)
	for i := range 20 {
		put(t, w, i)
	}
	var got []uint64
	var s Sample
	for {
		ok, err := r.Next(&s)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		got = append(got, s.Index)
	}
	if want := []uint64{13, 14, 15, 16, 17, 18, 19}; !reflect.DeepEqual(got, want) || r.Lost() != 13 {
		t.Errorf("read %v and lost %d, want %v and 13", got, r.Lost(), want)
	}
}

// TestConcurrentReaderSeesWholeSamples races a reader against a writer that
// wraps a small ring all the time.
func TestConcurrentReaderSeesWholeSamples(t *testing.T) {
	const samples = 20000
	w, path := create(t, 4)
	r := open(t, path)
	var writing sync.WaitGroup
	writing.Add(1)
	go func() {
		defer writing.Done()
		for i := range samples {
			put(t, w, i)
		}
		w.Close()
	}()
	var seen, last uint64
	var s Sample
	for {
		ended := r.Ended() // before Next: what was written until then is read
		ok, err := r.Next(&s)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			if ended {
				break
			}
			continue
		}
		i := float64(s.Index)
		if seen > 0 && s.Index <= last || !reflect.DeepEqual(s.Values, []float64{i, 2 * i, 3 * i}) || s.Before != int64(s.Index+1)*1000 {
			t.Fatalf("after %d: %+v", last, s)
		}
		seen, last = seen+1, s.Index
	}
	writing.Wait()
	if seen+r.Lost() != samples {
		t.Errorf("%d seen and %d lost of %d", seen, r.Lost(), samples)
	}
}

func TestNewRingTakesTheOldOnesPlace(t *testing.T) {
	w, path := create(t, 8)
	put(t, w, 0)
	r := open(t, path)
	if !r.Same(path) {
		t.Error("the ring is not its own")
	}
	again, err := Create(path, header, columns, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if r.Same(path) {
		t.Error("the new ring is not noticed")
	}
	var s Sample
	if ok, err := r.Next(&s); !ok || err != nil {
		t.Errorf("the old ring lost its sample: %t, %v", ok, err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTruncationIsAnError(t *testing.T) {
	w, path := create(t, 8)
	w.Close()
	r := open(t, path)
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	var s Sample
	// 100 bytes still hold the count of samples, none.
	if ok, _ := r.Next(&s); ok {
		t.Error("a sample comes out of nothing")
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(&s); err == nil {
		t.Error("no error on an empty file")
	}
}

func TestCreateRefuses(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), 256))
	path := filepath.Join(t.TempDir(), "ring")
	for name, columns := range map[string][]Column{
		"no columns":       nil,
		"too many columns": make([]Column, MaxColumns+1),
		"no name":          {{}},
		"long name":        {{Name: long}},
	} {
		if _, err := Create(path, header, columns, 8); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Create(filepath.Join(path, "none", "ring"), header, columns, 8); err == nil {
		t.Error("no error in a directory that does not exist")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestForeignFiles(t *testing.T) {
	w, path := create(t, 4)
	put(t, w, 0)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(at int, b ...byte) []byte {
		bad := bytes.Clone(good)
		copy(bad[at:], b)
		return bad
	}
	for name, data := range map[string][]byte{
		"empty":           nil,
		"header cut":      good[:headerSize-1],
		"table cut":       good[:headerSize+3],
		"magic":           spoil(atMagic, 0),
		"version":         spoil(atVersion, 9),
		"no columns":      spoil(atColumns, 0),
		"many columns":    spoil(atColumns, 0xff, 0xff, 0xff, 0xff),
		"huge table":      spoil(atTableSize, 0xff, 0xff, 0xff, 0xff),
		"tiny slots":      spoil(atSlotSize, 8),
		"huge slots":      spoil(atSlotSize, 0xff, 0xff, 0xff, 0xf8),
		"no slots":        spoil(atSlots, 0, 0, 0, 0),
		"slots in header": spoil(atSlotsAt, 8, 0, 0, 0),
		"names in header": spoil(atNamesAt, 8, 0, 0, 0),
		"names far away":  spoil(atNamesAt, 0xf8, 0xff, 0xff, 0xff),
		"name unknown":    spoil(headerSize+2, MaxNames+1),
		"name too long":   spoil(headerSize+3, 255),
		"control in name": spoil(headerSize+5, '\n'),
	} {
		if _, err := NewReader(bytes.NewReader(data)); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewReader(bytes.NewReader(spoil(atVersion, 1))); err == nil ||
		!strings.Contains(err.Error(), "layout is version 1 and this redline reads version 2 (build") {
		t.Errorf("a ring of version 1 is refused with %v", err)
	}
	damaged := bytes.Clone(good)
	damaged[len(damaged)-3*(slotHeader+8*len(columns))-1] ^= 1 // in the values of slot 0
	r, err := NewReader(bytes.NewReader(damaged))
	if err != nil {
		t.Fatal(err)
	}
	var s Sample
	if ok, err := r.Next(&s); ok || err != nil || r.Lost() != 1 {
		t.Errorf("a damaged slot: %t, %v, lost %d", ok, err, r.Lost())
	}
}

func FuzzReader(f *testing.F) {
	path := filepath.Join(f.TempDir(), "ring")
	w, err := Create(path, header, columns, 4)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 6 {
		if err := w.Write(1, 2, 3, []float64{float64(i), 0, 0}); err != nil {
			f.Fatal(err)
		}
	}
	w.Close()
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:300])
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		r, err := NewReader(bytes.NewReader(data))
		if err != nil {
			return
		}
		var s Sample
		for n := 0; ; n++ {
			ok, err := r.Next(&s)
			if !ok || err != nil {
				break
			}
			if n > MaxSlots {
				t.Fatal("more samples than slots")
			}
			if len(s.Values) != len(r.Columns) || s.Middle() < s.Before || s.Middle() > s.After {
				t.Fatalf("%+v", s)
			}
		}
		for _, c := range r.Columns {
			if name, _ := r.Name(c.Named - 1); len(name) > MaxNameText {
				t.Fatalf("name %q", name)
			}
		}
		_ = fmt.Sprint(r.Header, r.Columns, r.Ended(), r.Lost())
	})
}

func TestWriteAllocatesNothing(t *testing.T) {
	w, _ := create(t, 8)
	values := make([]float64, 3)
	if n := testing.AllocsPerRun(100, func() { _ = w.Write(1, 2, 3, values) }); n != 0 {
		t.Errorf("%v allocations per sample", n)
	}
}
