package anatomy_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/redline-go/redline/anatomy"
)

// crafted is a trace of one generation that a hostile hand wrote.
type crafted struct{ bytes.Buffer }

// The numbers of a trace's events and states, from
// golang.org/x/exp/trace/internal/tracev2.
const (
	stacks, stack, stringTable, stringEntry, cpuSamples, cpuSample = 2, 3, 4, 5, 6, 7
	frequency, procStatus, goStatus, taskBegin                     = 8, 13, 25, 40
	syncBatch, clockSnapshot, endOfGeneration                      = 50, 51, 52
	procRunning, procIdle, goRunning, goWaiting                    = 1, 2, 2, 4
)

func newCrafted() *crafted {
	c := &crafted{}
	c.WriteString("go 1.26 trace\x00\x00\x00")
	c.batch(0, []uint64{syncBatch, frequency, 1e9, clockSnapshot, 1, 1, 1, 1})
	return c
}

// batch writes a batch of a thread with these numbers in it.
func (c *crafted) batch(thread uint64, numbers []uint64) {
	var body []byte
	for _, n := range numbers {
		body = binary.AppendUvarint(body, n)
	}
	c.WriteByte(1)
	for _, n := range []uint64{1, thread, 1, uint64(len(body))} {
		c.Write(binary.AppendUvarint(nil, n))
	}
	c.Write(body)
}

// many writes n entries, in batches of each entries that start with begin, and ends the
// generation.
func (c *crafted) many(n, each int, thread uint64, begin []uint64, entry func(i int) []uint64) *crafted {
	for i := 0; i < n; i += each {
		numbers := append([]uint64{}, begin...)
		for j := i; j < min(i+each, n); j++ {
			numbers = append(numbers, entry(j)...)
		}
		c.batch(thread, numbers)
	}
	c.WriteByte(endOfGeneration)
	return c
}

// TestCrowdedTrace: what the reader and the tracker keep of a trace is bounded by limits
// of their own, not by the memory there is.
func TestCrowdedTrace(t *testing.T) {
	const none = math.MaxUint64
	old := append([]byte("go 1.21 trace\x00\x00\x00"), bytes.Repeat([]byte{2}, 9<<20)...)
	for name, test := range map[string]struct {
		trace io.Reader
		want  string
	}{
		"names": {newCrafted().many(80_000, 500, none, []uint64{stringTable}, func(i int) []uint64 {
			return append([]uint64{stringEntry, uint64(i + 1), 120}, make([]uint64, 120)...)
		}), "stacks and names"},
		"stacks": {newCrafted().many(80_000, 100, none, []uint64{stacks}, func(i int) []uint64 {
			return append([]uint64{stack, uint64(i + 1), 64}, make([]uint64, 4*64)...)
		}), "stacks and names"},
		"samples": {newCrafted().many(300_000, 1000, none, []uint64{cpuSamples}, func(i int) []uint64 {
			return []uint64{cpuSample, none, none, none, 0, 0}
		}), "stacks and names"},
		"goroutines": {newCrafted().many(510_000, 3000, 1, nil, func(i int) []uint64 {
			return []uint64{goStatus, 1, uint64(i + 1), none, goWaiting}
		}), "500000 goroutines"},
		"processors": {newCrafted().many(210_000, 8000, 1, nil, func(i int) []uint64 {
			return []uint64{procStatus, 1, uint64(i), procIdle}
		}), "200000 processors"},
		"tasks": {newCrafted().many(210_000, 5000, 1, nil, func(i int) []uint64 {
			if i == 0 {
				return []uint64{procStatus, 1, 0, procRunning, goStatus, 1, 1, 1, goRunning}
			}
			return []uint64{taskBegin, 1, uint64(i), 0, 0, 0}
		}), "200000 tasks"},
		"before Go 1.22": {bytes.NewReader(old), "behind its first 8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := analyze(test.trace, anatomy.Options{})
			said := ""
			if err != nil {
				said = err.Error()
			} else {
				said = strings.Join(a.Warnings, "\n")
			}
			if !strings.Contains(said, test.want) {
				t.Errorf("it says %q, want %q in it", said, test.want)
			}
		})
	}
}

// TestTracesShareABudget: many traces share one budget of events; none is read after it is
// spent, and all are closed.
func TestTracesShareABudget(t *testing.T) {
	data := readFixture(t, "go1.26.trace")
	var inputs []anatomy.Input
	var files []*closable
	for range 5 {
		files = append(files, &closable{Reader: bytes.NewReader(data)})
		inputs = append(inputs, anatomy.Input{Trace: files[len(files)-1]})
	}
	whole, err := analyze(bytes.NewReader(data), anatomy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := anatomy.Analyze(inputs, anatomy.Options{MaxEventsInAll: 9000})
	if err != nil || a.Requests >= 3*whole.Requests || !strings.Contains(strings.Join(a.Warnings, "\n"), "left out") {
		t.Errorf("%d requests of %d each, %v, %q", a.Requests, whole.Requests, err, a.Warnings)
	}
	for i, f := range files {
		if read := f.Len() < len(data); !f.closed || i == 0 && !read || i == 4 && read {
			t.Errorf("trace %d: read %v, closed %v", i, read, f.closed)
		}
	}
}

type closable struct {
	*bytes.Reader
	closed bool
}

func (c *closable) Close() error { c.closed = true; return nil }
