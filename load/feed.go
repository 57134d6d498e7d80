package load

import (
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// feed is a loop's output to the reporter while it runs: ended requests
// through the ring, and counters so far. The loop alone writes it, but for the
// ring's head.
type feed struct {
	ring  ring
	ended counts // requests recorded, by where their intended time falls; the loop's own until it is over

	begun      atomic.Int64 // requests begun
	unsent     atomic.Int64 // of these, those that ended before they were sent
	dials      atomic.Int64
	reconnects atomic.Int64
	open       atomic.Int64 // connections now
	taken      atomic.Int64 // tickets of an open loop
	thread     atomic.Int64 // the loop's thread, for its CPU time; 0 before it runs
}

// tally holds the counters between two publications.
type tally struct{ begun, unsent, dials, reconnects, resent, open, taken int64 }

// publish stores the counters where they changed: a store that others see costs
// as much as parsing an answer.
func (f *feed) publish(now, last *tally) {
	if *now == *last {
		return
	}
	f.begun.Store(now.begun)
	f.unsent.Store(now.unsent)
	f.dials.Store(now.dials)
	f.reconnects.Store(now.reconnects)
	f.open.Store(now.open)
	f.taken.Store(now.taken)
	*last = *now
}

// counts are requests of the measured span and outside of it.
type counts struct{ steady, other int64 }

func (c *counts) add(steady timebase.Span, intended time.Duration) {
	if within(steady, intended) {
		c.steady++
	} else {
		c.other++
	}
}

func within(s timebase.Span, t time.Duration) bool { return t >= s.From && t < s.To }

// clamp32 bounds a size to the range of a sample: 4 GiB.
func clamp32(n int64) uint32 { return uint32(min(max(n, 0), 1<<32-1)) }
