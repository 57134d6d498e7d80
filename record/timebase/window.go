package timebase

import "time"

// Span is a half-open interval of run time, [From, To).
type Span struct {
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`
}

// Len returns the span's length.
func (s Span) Len() time.Duration { return s.To - s.From }

// Window returns the index of the window of the given width that holds t.
// Windows are aligned to the epoch; times before it have negative indices.
func Window(t, width time.Duration) int64 {
	w := int64(t / width)
	if t%width < 0 {
		w--
	}
	return w
}

// WindowSpan returns the span of window w.
func WindowSpan(w int64, width time.Duration) Span {
	return Span{From: time.Duration(w) * width, To: time.Duration(w+1) * width}
}

// Split divides an amount that accrued evenly over s among the windows that s
// touches and calls add once for each, in order. That is how a counter read at uneven
// instants is assigned to even windows: the sum of the parts is the amount.
// An empty span puts the whole amount in the window of s.From.
func Split(s Span, width time.Duration, amount float64, add func(window int64, part float64)) {
	if s.To <= s.From {
		add(Window(s.From, width), amount)
		return
	}
	first, last := Window(s.From, width), Window(s.To-1, width)
	for w := first; w <= last; w++ {
		ws := WindowSpan(w, width)
		overlap := min(s.To, ws.To) - max(s.From, ws.From)
		add(w, amount*float64(overlap)/float64(s.Len()))
	}
}
