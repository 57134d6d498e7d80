package anatomy

import (
	"testing"

	"golang.org/x/exp/trace"
)

// TestWithoutStacks follows goroutines of whose stacks the trace holds nothing:
// no request can be told, and no wait named.
func TestWithoutStacks(t *testing.T) {
	all := newCollector(Options{}.withDefaults())
	tr := newTracker(all, &traceClock{})
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
	move(9, 8, trace.GoRunning, trace.GoWaiting, "sync") // of whom nothing was said
	tr.close()
	if out := all.anatomy(); out.Requests != 0 || out.Cut != 0 || len(out.Warnings) != 1 {
		t.Errorf("%d requests, %d cut, warnings %q", out.Requests, out.Cut, out.Warnings)
	}
}

// TestHistoryForgets fills a history beyond its bound, and one for which there is
// no room.
func TestHistoryForgets(t *testing.T) {
	all := newGoroutines()
	var h history
	for i := range 10 * maxPast {
		h.add(past{from: trace.Time(i), state: stateID(i % 2)}, all)
	}
	if h.n != maxPast || h.at(0).from != 9*maxPast || h.at(h.n-1).from != 10*maxPast-1 {
		t.Errorf("%d stretches from %d to %d", h.n, h.at(0).from, h.at(h.n-1).from)
	}
	all.room = 0
	var none history
	none.add(past{}, all)
	if none.n != 0 {
		t.Error("a history grew without room")
	}
}

// TestForgottenGoroutines ends more goroutines than are remembered.
func TestForgottenGoroutines(t *testing.T) {
	all := newGoroutines()
	for i := range 3 * maxDead {
		g := all.add(trace.GoID(i), 0)
		g.past.add(past{}, all)
		all.bury(g)
	}
	if n := len(all.byID); n != maxDead {
		t.Errorf("%d goroutines are remembered, want %d", n, maxDead)
	}
	if used := maxPastAll - all.room; used > 8*(maxDead+1) {
		t.Errorf("their histories hold %d entries", used)
	}
}
