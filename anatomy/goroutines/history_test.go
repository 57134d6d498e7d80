package goroutines

import (
	"testing"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
)

// TestHistoryForgets fills a history beyond its bound, and one for which there is
// no room.
func TestHistoryForgets(t *testing.T) {
	all := NewSet()
	var h history
	for i := range 10 * maxPast {
		h.add(past{from: trace.Time(i), state: interned.State(i % 2)}, all)
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
