package anatomy_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/record/breakdown"
)

// generations returns where each generation of a Go 1.26 trace ends: just after the
// one-byte event that says so. Batches are a type byte, four varints (generation, thread,
// time, size) and size bytes.
func generations(t testing.TB, data []byte) (ends []int) {
	t.Helper()
	const header, batch, end = 16, 1, 52
	for at := header; at < len(data); {
		switch data[at] {
		case end:
			at++
			ends = append(ends, at)
		case batch:
			at++
			var size uint64
			for range 4 {
				v, n := binary.Uvarint(data[at:])
				size, at = v, at+n
			}
			at += int(size)
		default:
			t.Fatalf("byte %d begins no batch", at)
		}
	}
	return ends
}

// TestLostGenerations cuts generations out of a trace. What comes before the gap counts,
// and the gap is reported.
func TestLostGenerations(t *testing.T) {
	data := readFixture(t, "go1.26-generations.trace")
	ends := generations(t, data)
	if len(ends) < 4 {
		t.Fatalf("the fixture has %d generations", len(ends))
	}
	last := 0
	for i := range len(ends) - 1 {
		cut := append(bytes.Clone(data[:ends[i]]), data[ends[i+1]:]...)
		a, err := analyze(bytes.NewReader(cut), anatomy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		whole := i+1 == len(ends)-1 // nothing follows the gap
		if a.Requests < last || a.Requests > 120 || a.Requests == 120 && !whole || (len(a.Warnings) > 0) == whole {
			t.Errorf("without generation %d: %d requests, %d cut, after %d with less; %q", i+1, a.Requests, a.Cut, last, a.Warnings)
		}
		last = a.Requests
	}
}

// TestCutMidEvent cuts a trace off at many offsets.
func TestCutMidEvent(t *testing.T) {
	data := readFixture(t, "go1.26-generations.trace")
	for n := 0; n < len(data); n += 977 {
		var lines []breakdown.Timeline
		a, err := analyze(bytes.NewReader(data[:n]), anatomy.Options{Each: func(l breakdown.Timeline) { lines = append(lines, l) }})
		if err != nil {
			continue
		}
		checkShape(t, a, lines)
		if len(a.Warnings) == 0 {
			t.Errorf("%d of %d bytes: no warning", n, len(data))
		}
	}
}

// endless is a generation that never ends: a trace's header, then one batch again
// and again.
type endless struct {
	header, batch []byte
	read          int64
}

func (r *endless) Read(p []byte) (int, error) {
	n := 0
	if at := r.read - int64(len(r.header)); at < 0 {
		n = copy(p, r.header[r.read:])
	} else {
		n = copy(p, r.batch[at%int64(len(r.batch)):])
	}
	r.read += int64(n)
	return n, nil
}

// TestEndlessTrace feeds traces that never end: what is read of them stays within its
// bounds, and so does the memory that this takes, even where each batch is all but empty.
func TestEndlessTrace(t *testing.T) {
	header := readFixture(t, "go1.26.trace")[:16]
	const bound = 8 << 20
	for name, test := range map[string]struct {
		batch []byte
		most  int64
	}{
		"large batches": {append([]byte{1, 1, 0, 0, 0xe8, 0x07}, bytes.Repeat([]byte{25}, 1000)...), bound},
		"small batches": {[]byte{1, 1, 0, 0, 1, 25}, 1 << 19},
	} {
		t.Run(name, func(t *testing.T) {
			r := &endless{header: header, batch: test.batch}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a, err := analyze(r, anatomy.Options{MaxBytes: bound})
			runtime.ReadMemStats(&after)
			if err == nil && len(a.Warnings) == 0 {
				t.Error("no warning")
			}
			if r.read < test.most/2 || r.read > test.most+1 {
				t.Errorf("read %d bytes of at most %d", r.read, test.most)
			}
			if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 40*bound {
				t.Errorf("%d bytes allocated for %d", grown, bound)
			}
		})
	}
}

// TestBatchesAreCounted reads a trace byte by byte, and from a reader that returns io.EOF
// together with the last bytes.
func TestBatchesAreCounted(t *testing.T) {
	data := readFixture(t, "go1.26-generations.trace")
	whole, err := analyze(bytes.NewReader(data), anatomy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []io.Reader{iotest.OneByteReader(bytes.NewReader(data)), iotest.DataErrReader(bytes.NewReader(data))} {
		a, err := analyze(r, anatomy.Options{})
		if err != nil || a.Requests != whole.Requests || len(a.Warnings) != 0 {
			t.Errorf("%d requests of %d, %v", a.Requests, whole.Requests, err)
		}
	}
}
