package anatomy

import "golang.org/x/exp/trace"

// world knows when the world was stopped. Stops are in order and do not overlap.
type world struct {
	stops []stop
	open  bool
	since trace.Time
}

type stop struct{ from, to trace.Time }

func (w *world) begin(t trace.Time) {
	if !w.open {
		w.open, w.since = true, t
	}
}

func (w *world) end(t trace.Time) {
	if w.open && t > w.since {
		w.stops = append(w.stops, stop{w.since, t})
	}
	w.open = false
}

// split divides the time that a goroutine was ready and did not run into what
// the stopped world took and the rest, and pushes both in order.
func (w *world) split(s segment, push func(segment)) {
	first := len(w.stops)
	for first > 0 && w.stops[first-1].to > s.from {
		first--
	}
	overlay := func(st stop) {
		from, to := max(st.from, s.from), min(st.to, s.to)
		if to <= from {
			return
		}
		if from > s.from {
			push(segment{from: s.from, to: from, state: s.state})
		}
		push(segment{from: from, to: to, state: stopped})
		s.from = to
	}
	for _, st := range w.stops[first:] {
		overlay(st)
	}
	if w.open {
		overlay(stop{w.since, s.to})
	}
	if s.to > s.from {
		push(s)
	}
}
