package anatomy_test

import (
	"context"
	"maps"
	"net/http"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
)

// TestOperationsLabelWaits: what lies between an operation's begin and end belongs to it,
// although all of them wait at one line; and the operations that a request begins are
// counted.
func TestOperationsLabelWaits(t *testing.T) {
	ctx := context.Background()
	wait := func(begin, end string) {
		trace.Log(ctx, operation.Log, begin)
		time.Sleep(time.Millisecond)
		trace.Log(ctx, operation.Log, end)
	}
	v := serve(t, func(http.ResponseWriter, *http.Request) {
		for range 3 {
			wait("b 1 7 1", "e 7 1")
		}
		wait("b 2 9 2", "e 9 2")
		trace.Log(ctx, operation.Log, "b 2 5 2") // works, and within it calls another
		for until := time.Now().Add(500 * time.Microsecond); time.Now().Before(until); {
		}
		wait("b 2 9 2", "e 9 2")
		trace.Log(ctx, operation.Log, "e 5 2")
		trace.Log(ctx, operation.Log, "b 2 99999999 2")
		trace.Log(ctx, operation.Log, "b 1 8 "+strings.Repeat("9", 100))
	}, nil)
	a, _ := v.dissect(v.capture(twenty(t, v.url())))
	times := map[int]float64{}
	for _, p := range a.All {
		if p.State == breakdown.StateSleep {
			times[p.Operation] += p.Times
		}
	}
	if times[7] != 3 || times[9] != 2 {
		t.Errorf("waits by operation, per request: %v", times)
	}
	if len(a.Operations) != 3 || a.Operations[0].Operation != 7 || a.Operations[0].Mean != 3 ||
		a.Operations[0].Max != 3 || a.Operations[1].Mean != 2 {
		t.Fatalf("operations per request: %+v", a.Operations)
	}
	three, two, one := a.Operations[0], a.Operations[1], a.Operations[2]
	if least := int64(time.Millisecond); three.WaitingNS < 3*least || two.WaitingNS < 2*least || one.WaitingNS >= two.WaitingNS {
		t.Errorf("time waited within operations: %+v", a.Operations)
	}
	if one.RunningNS+one.QueuedNS < int64(500*time.Microsecond) {
		t.Errorf("time on a CPU within an operation: %+v", one)
	}
}

// deep calls wait below more frames than a trace records.
//
//go:noinline
func deep(layers int, wait func()) {
	if layers == 0 {
		wait()
		return
	}
	deep(layers-1, wait)
}

// TestCutWaitsKeepTheirOperation: of a wait below many layers, the trace shows neither who began it nor in which goroutine. The
// operations that it lies within keep the waits of different callers apart.
func TestCutWaitsKeepTheirOperation(t *testing.T) {
	ctx := context.Background()
	wait := func(begin, end string) func() {
		return func() {
			trace.Log(ctx, operation.Log, begin)
			time.Sleep(2 * time.Millisecond)
			trace.Log(ctx, operation.Log, end)
		}
	}
	v := serve(t, func(http.ResponseWriter, *http.Request) {
		done := make(chan struct{})
		go func() {
			deep(200, wait("b 1 7 1", "e 7 1"))
			deep(200, wait("b 2 9 2", "e 9 2"))
			deep(2, wait("b 3 5 3", "e 5 3"))
			close(done)
		}()
		<-done
	}, nil)
	a, _ := v.dissect(v.capture(twenty(t, v.url())))
	type within struct {
		cut       bool
		operation int
	}
	times := map[within]float64{}
	for _, p := range a.All {
		for _, c := range p.Behind {
			if l := c.Links[len(c.Links)-1]; l.State == breakdown.StateSleep {
				times[within{l.Cut, l.Operation}] += l.Times
			}
		}
	}
	want := map[within]float64{{true, 7}: 1, {true, 9}: 1, {false, 0}: 1}
	if !maps.Equal(times, want) {
		t.Errorf("sleeps per request: %v, want %v", times, want)
	}
}

// twenty returns what requests an address twenty times, one after another.
func twenty(t *testing.T, address string) func() {
	return func() {
		closedLoop(t, 1, 20, func(c *http.Client, _ int) error {
			resp, err := c.Get(address)
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		})
	}
}
