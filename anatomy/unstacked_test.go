package anatomy

import (
	"testing"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/bands"
	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/site"
)

// TestWithoutStacks follows goroutines without a single stack in the trace: no request
// can be recognised, and no wait named.
func TestWithoutStacks(t *testing.T) {
	all := bands.New(site.NewOwnership(), bands.Options{})
	tr := newTracker(all, &goroutines.Clock{})
	at := trace.Time(1)
	move := func(by, id trace.GoID, from, to trace.GoState, reason string) {
		st := trace.MakeGoStateTransition(id, from, to)
		st.Reason = reason
		ev, err := trace.MakeEvent(trace.EventConfig[trace.StateTransition]{
			Time: at, Kind: trace.EventStateTransition, Goroutine: by, Proc: 0, Thread: 0, Stack: trace.NoStack, Details: st,
		})
		if err != nil {
			t.Fatal(err)
		}
		tr.event(ev)
		at += 1000
	}
	move(trace.NoGoroutine, 1, trace.GoUndetermined, trace.GoWaiting, "")
	move(trace.NoGoroutine, 2, trace.GoUndetermined, trace.GoRunning, "")
	move(2, 3, trace.GoNotExist, trace.GoRunnable, "")
	move(2, 1, trace.GoWaiting, trace.GoRunnable, "")
	move(1, 1, trace.GoRunnable, trace.GoRunning, "")
	for range 1000 {
		move(1, 1, trace.GoRunning, trace.GoWaiting, "chan receive")
		move(2, 1, trace.GoWaiting, trace.GoRunnable, "")
		move(1, 1, trace.GoRunnable, trace.GoRunning, "")
		move(1, 1, trace.GoRunning, trace.GoSyscall, "")
		move(1, 1, trace.GoSyscall, trace.GoRunning, "")
	}
	move(1, 1, trace.GoRunning, trace.GoNotExist, "")
	move(9, 8, trace.GoRunning, trace.GoWaiting, "sync") // goroutines that the trace has not introduced
	tr.close()
	if out := all.Anatomy(); out.Requests != 0 || out.Cut != 0 || len(out.Warnings) != 1 {
		t.Errorf("%d requests, %d cut, warnings %q", out.Requests, out.Cut, out.Warnings)
	}
}
