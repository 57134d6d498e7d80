package anatomy_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime/trace"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/record/breakdown"
)

// TestEdges traces the middle of a load. Every handler run that lies inside the trace
// with its request's end must be found; what the edges cut must not be.
func TestEdges(t *testing.T) {
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Millisecond)
		fmt.Fprintln(w, "done")
	}, nil)
	ctx, stop := context.WithCancel(context.Background())
	var loads sync.WaitGroup
	loads.Go(func() {
		closedLoop(t, 8, 1<<20, func(c *http.Client, i int) error {
			if ctx.Err() != nil {
				return errStop
			}
			return get(c, v.url())
		})
	})
	v.await(100)

	tracing.Lock()
	var buf bytes.Buffer
	before := v.witness.clock.Now()
	if err := trace.Start(&buf); err != nil {
		t.Fatal(err)
	}
	from := v.witness.clock.Now()
	v.await(v.witness.count() + 200)
	to := v.witness.clock.Now()
	trace.Stop()
	after := v.witness.clock.Now()
	tracing.Unlock()
	stop()
	loads.Wait()

	a, lines := v.dissect(buf.Bytes())
	found := map[int64][]breakdown.Timeline{}
	for _, l := range lines {
		if l.From < before || l.To > after {
			t.Errorf("a request from %v to %v lies outside the trace, which ran from %v to %v", l.From, l.To, before, after)
		}
		found[l.Goroutine] = append(found[l.Goroutine], l)
	}
	inside, missed := 0, 0
	for _, h := range v.witness.seen {
		next, ended := v.witness.after(h)
		if h.from < from || !ended || next > to {
			continue
		}
		inside++
		if !holds(found[h.goroutine], h, v.witness.clock.EpochError+time.Microsecond) {
			missed++
		}
	}
	// A connection's first request may have arrived before the trace began.
	if inside < 100 || missed > 8 {
		t.Errorf("missed %d of %d requests inside the trace", missed, inside)
	}
	// Eight connections at two edges cut sixteen requests at most.
	if a.Cut > 16 || a.Merged != 0 || a.Requests+a.Cut < inside {
		t.Errorf("%d requests, %d cut, %d merged; the server counted %d inside", a.Requests, a.Cut, a.Merged, inside)
	}
}

func holds(lines []breakdown.Timeline, h handled, slack time.Duration) bool {
	for _, l := range lines {
		if l.From <= h.from+slack && h.to-slack <= l.To {
			return true
		}
	}
	return false
}

// TestSeveralTraces analyzes one trace twice: counts double, means stay the same.
func TestSeveralTraces(t *testing.T) {
	data := readFixture(t, "go1.26.trace")
	one, err := analyze(bytes.NewReader(data), anatomy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	two, err := anatomy.Analyze([]anatomy.Input{{Trace: bytes.NewReader(data)}, {Trace: bytes.NewReader(data)}}, anatomy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if two.Requests != 2*one.Requests || two.MeanNS != one.MeanNS || two.Traced != 2*one.Traced || len(two.All) != len(one.All) {
		t.Errorf("the same trace twice: %d requests of mean %v in %d parts, once: %d, %v, %d",
			two.Requests, two.MeanNS, len(two.All), one.Requests, one.MeanNS, len(one.All))
	}
}

func TestBrokenTraces(t *testing.T) {
	whole := readFixture(t, "go1.26.trace")
	good := func() anatomy.Input { return anatomy.Input{Trace: bytes.NewReader(whole)} }
	bad := func(data []byte) anatomy.Input { return anatomy.Input{Trace: bytes.NewReader(data)} }
	tests := []struct {
		name     string
		inputs   []anatomy.Input
		options  anatomy.Options
		fails    bool
		requests int // at least
		warned   bool
	}{
		{name: "none", fails: true},
		{name: "empty", inputs: []anatomy.Input{bad(nil)}, fails: true},
		{name: "an HTML page", inputs: []anatomy.Input{bad([]byte("<html>404 page not found</html>"))}, fails: true},
		{name: "header alone", inputs: []anatomy.Input{bad(whole[:16])}, fails: true},
		{name: "one of two", inputs: []anatomy.Input{bad([]byte("nothing")), good()}, requests: 120, warned: true},
		{name: "bytes bounded", inputs: []anatomy.Input{good()}, options: anatomy.Options{MaxBytes: 1000}, fails: true},
		{name: "events bounded", inputs: []anatomy.Input{good()}, options: anatomy.Options{MaxEvents: 3000}, requests: 10, warned: true},
		{name: "garbage behind", inputs: []anatomy.Input{bad(append(whole[:len(whole):len(whole)], "garbage"...))}, requests: 120, warned: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, err := anatomy.Analyze(test.inputs, test.options)
			if test.fails {
				if err == nil {
					t.Fatalf("no error; %d requests, warnings %q", a.Requests, a.Warnings)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if a.Requests < test.requests || test.warned != (len(a.Warnings) > 0) {
				t.Errorf("%d requests, want at least %d; warnings %q", a.Requests, test.requests, a.Warnings)
			}
		})
	}
}
