package goroutines

import (
	"testing"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
)

// TestHistoryForgets fills histories beyond their bounds: where there is much room, where
// there is little, and where there is none.
func TestHistoryForgets(t *testing.T) {
	all := NewSet()
	for _, test := range []struct{ room, kept int }{{maxPastAll, morePast}, {maxPastAll / 2, maxPast}} {
		all.room = test.room
		var h history
		last := 3*test.kept - 1
		for i := range last + 1 {
			h.add(past{from: trace.Time(i), state: interned.State(i % 2)}, all)
		}
		if h.n != test.kept || int(h.at(0).from) != last+1-test.kept || int(h.at(h.n-1).from) != last {
			t.Errorf("with room for %d: %d stretches from %d to %d", test.room, h.n, h.at(0).from, h.at(h.n-1).from)
		}
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
	all := NewSet()
	for i := range 3 * maxDead {
		g := all.Add(trace.GoID(i), 0)
		g.past.add(past{}, all)
		all.Bury(g)
	}
	if n := len(all.ByID); n != maxDead {
		t.Errorf("%d goroutines are remembered, want %d", n, maxDead)
	}
	if used := maxPastAll - all.room; used > 8*(maxDead+1) {
		t.Errorf("their histories hold %d entries", used)
	}
}
