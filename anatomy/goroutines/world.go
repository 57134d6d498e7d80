package goroutines

import (
	"sort"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
)

// World knows when the world was stopped. Stops are in order and do not overlap.
type World struct {
	stops  []worldStop
	called bool // the program called for one of them
	open   bool
	since  trace.Time
	by     interned.Stack
}

type stop struct{ From, To trace.Time }

// worldStop is a stop of the world, and the stack of the program's call for it; 0 if the runtime did it for itself.
type worldStop struct {
	stop
	By interned.Stack
}

// Begin stops the world at t, unless it is stopped. by is the program's call for it; 0 without one.
func (w *World) Begin(t trace.Time, by interned.Stack) {
	if !w.open {
		w.open, w.since, w.by = true, t, by
		w.called = w.called || by != 0
	}
}

// End starts the world at t.
func (w *World) End(t trace.Time) {
	if w.open && t > w.since {
		w.stops = append(w.stops, worldStop{stop{w.since, t}, w.by})
	}
	w.open = false
}

// split divides the time in which a goroutine was ready but did not run into that of the
// stopped world and the rest, and pushes both in order. Within an assist, which takes as long as
// the collector does, only stops that the program calls for count.
func (w *World) split(s Segment, push func(Segment)) {
	first := len(w.stops)
	for first > 0 && w.stops[first-1].To > s.From {
		first--
	}
	overlay := func(st worldStop) {
		from, to := max(st.From, s.From), min(st.To, s.To)
		if to <= from || st.By == 0 && s.State == interned.Assist {
			return
		}
		if from > s.From {
			push(Segment{From: s.From, To: from, State: s.State})
		}
		state := interned.Stopped
		if st.By != 0 {
			state = interned.StoppedByCall
		}
		push(Segment{From: from, To: to, Stack: st.By, State: state})
		s.From = to
	}
	for _, st := range w.stops[first:] {
		overlay(st)
	}
	if w.open {
		overlay(worldStop{stop{w.since, s.To}, w.by})
	}
	if s.To > s.From {
		push(s)
	}
}

// calls returns the parts of the stops between two instants that the program called for, the latest first.
func (w *World) calls(from, to trace.Time) (list []worldStop) {
	if !w.called {
		return nil
	}
	add := func(s worldStop) {
		if s.From, s.To = max(s.From, from), min(s.To, to); s.By != 0 && s.From < s.To {
			list = append(list, s)
		}
	}
	if w.open {
		add(worldStop{stop{w.since, to}, w.by})
	}
	after := sort.Search(len(w.stops), func(i int) bool { return w.stops[i].From >= to })
	for i := after - 1; i >= 0 && w.stops[i].To > from; i-- {
		add(w.stops[i])
	}
	return list
}
