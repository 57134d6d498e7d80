package goroutines

import (
	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
)

// World knows when the world was stopped. Stops are in order and do not overlap.
type World struct {
	stops []stop
	open  bool
	since trace.Time
}

type stop struct{ From, To trace.Time }

// Begin stops the world at t, unless it is stopped.
func (w *World) Begin(t trace.Time) {
	if !w.open {
		w.open, w.since = true, t
	}
}

// End starts the world at t.
func (w *World) End(t trace.Time) {
	if w.open && t > w.since {
		w.stops = append(w.stops, stop{w.since, t})
	}
	w.open = false
}

// split divides the time in which a goroutine was ready but did not run into that of the
// stopped world and the rest, and pushes both in order.
func (w *World) split(s Segment, push func(Segment)) {
	first := len(w.stops)
	for first > 0 && w.stops[first-1].To > s.From {
		first--
	}
	overlay := func(st stop) {
		from, to := max(st.From, s.From), min(st.To, s.To)
		if to <= from {
			return
		}
		if from > s.From {
			push(Segment{From: s.From, To: from, State: s.State})
		}
		push(Segment{From: from, To: to, State: interned.Stopped})
		s.From = to
	}
	for _, st := range w.stops[first:] {
		overlay(st)
	}
	if w.open {
		overlay(stop{w.since, s.To})
	}
	if s.To > s.From {
		push(s)
	}
}
