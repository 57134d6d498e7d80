package account

import (
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// Feed is a loop's output to the reporter while it runs: ended requests
// through the ring, and counters so far. Only the loop writes it, except for the
// ring's head.
type Feed struct {
	ring  ring
	Ended Split // requests recorded; only the loop may touch it until it ends

	begun   atomic.Int64 // requests
	unsent  atomic.Int64 // requests that ended before they were sent
	dials   atomic.Int64
	open    atomic.Int64 // connections now
	Taken   atomic.Int64 // tickets of an open loop
	Thread  atomic.Int64 // the loop's thread, for its CPU time; 0 before it runs
	Longest atomic.Int64 // service time of an answered request, ns
}

// NewFeed makes a feed with an empty ring.
func NewFeed() *Feed { return &Feed{ring: ring{samples: make([]Sample, ringLength)}} }

// Push hands an ended request to the reporter. It returns false if the ring is full;
// Collector.Empty drains it.
func (f *Feed) Push(s *Sample) bool { return f.ring.push(s) }

// Tally holds a loop's counters between two publications: requests begun, unsent and
// sent again; connections opened, opened again and open now; tickets taken; and the longest service time of an
// answered request, in ns.
type Tally struct{ Begun, Unsent, Dials, Reconnects, Resent, Open, Taken, Longest int64 }

// Publish stores the counters where they changed: a store that others see costs
// as much as parsing an answer.
func (f *Feed) Publish(now, last *Tally) {
	if *now == *last {
		return
	}
	f.begun.Store(now.Begun)
	f.unsent.Store(now.Unsent)
	f.dials.Store(now.Dials)
	f.open.Store(now.Open)
	f.Taken.Store(now.Taken)
	f.Longest.Store(now.Longest)
	*last = *now
}

// Split counts the requests whose intended times are within the measured span, and the
// others.
type Split struct{ Steady, Other int64 }

// Add counts a request by its intended time.
func (c *Split) Add(steady timebase.Span, intended time.Duration) {
	if Within(steady, intended) {
		c.Steady++
	} else {
		c.Other++
	}
}

// Within reports whether a time lies in a span, the end excluded.
func Within(s timebase.Span, t time.Duration) bool { return t >= s.From && t < s.To }

// Clamp32 bounds a size to the range of a sample: 4 GiB.
func Clamp32(n int64) uint32 { return uint32(min(max(n, 0), 1<<32-1)) }
