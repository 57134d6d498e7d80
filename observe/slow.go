package observe

import (
	"slices"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// A window is slow if its p99 is above slowFactor times the median of the windows
// before it, and at least slowLeast above the median: a service of 100 us that
// takes 400 for a moment does not matter.
const (
	slowFactor = 4
	slowLeast  = time.Millisecond
	slowMemory = 100 // windows that the median is taken over
	slowEnough = 20  // windows before the first decision
)

// Slow announces windows with a high p99, as measured by the load, so that sources can look
// closer at once. It decides which windows are slow; sources decide how to react.
//
// One goroutine feeds it, one source reads C.
type Slow struct {
	// C carries the spans of slow windows. It buffers one and drops further ones until that
	// is read, so Window never blocks.
	C     <-chan timebase.Span
	c     chan timebase.Span
	width time.Duration
	p99   []time.Duration // of the last windows that were not slow, a ring
	next  int
}

// NewSlow returns one for windows of a width; zero means timebase.DefaultWindow.
func NewSlow(width time.Duration) *Slow {
	if width <= 0 {
		width = timebase.DefaultWindow
	}
	c := make(chan timebase.Span, 1)
	return &Slow{C: c, c: c, width: width}
}

// Window takes the p99 of a window that closed, and reports whether it was slow. Windows in
// which no request ended (p99 0 or below) are skipped: their requests are late in a later
// one. Do not pass warm-up windows.
func (s *Slow) Window(window int64, p99 time.Duration) bool {
	if p99 <= 0 {
		return false
	}
	if len(s.p99) >= slowEnough {
		sorted := slices.Sorted(slices.Values(s.p99))
		median := sorted[len(sorted)/2]
		if p99 > slowFactor*median && p99-median >= slowLeast {
			select {
			case s.c <- timebase.WindowSpan(window, s.width):
			default:
			}
			return true
		}
	}
	if len(s.p99) < slowMemory {
		s.p99 = append(s.p99, p99)
	} else {
		s.p99[s.next] = p99
		s.next = (s.next + 1) % slowMemory
	}
	return false
}
