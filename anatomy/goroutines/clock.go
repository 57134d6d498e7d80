package goroutines

import (
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/record/timebase"
)

// Clock converts instants of one trace to run time, by the clock snapshots that each
// generation of the trace carries since Go 1.25.
type Clock struct {
	Run       timebase.Clock
	Span      timebase.Span // as recorded by whoever took the trace, for traces without snapshots
	First     trace.Time
	Snapshots []snapshot
	Errors    []time.Duration
}

type snapshot struct {
	at     trace.Time
	offset int64 // CLOCK_MONOTONIC minus trace time, ns
}

const (
	// traceUnit is what the runtime divides its clock by before it writes an event, in ns:
	// no instant is known better.
	traceUnit = 64
	// longestRead bounds how long a runtime may be interrupted between the two readings of a
	// snapshot. An unrelated counter that lies as near by chance is out of the question.
	longestRead = int64(10 * time.Second)
)

// Add takes a snapshot. If the trace clock were perfect, all snapshots would have the same
// offset; the difference between two bounds the error of an instant between them.
//
// Except on systems with a coarse clock the trace clock is CLOCK_MONOTONIC itself, read once
// more after Mono (runtime.traceSyncBatch). A thread that loses its CPU in between makes the
// second reading late by as long, and would move the whole trace by it.
func (c *Clock) Add(s *trace.ClockSnapshot) {
	if s == nil {
		return
	}
	next := snapshot{s.Trace, int64(s.Mono) - int64(s.Trace)}
	if late := -next.offset; -traceUnit <= late && late < longestRead {
		next.offset = 0
	}
	if n := len(c.Snapshots); n > 0 {
		if c.Snapshots[n-1] == next {
			return
		}
		c.Errors = append(c.Errors, max(traceUnit, time.Duration(next.offset-c.Snapshots[n-1].offset).Abs()))
	}
	c.Snapshots = append(c.Snapshots, next)
}

// At returns t in run time, by the last snapshot before it.
func (c *Clock) At(t trace.Time) time.Duration {
	if len(c.Snapshots) == 0 {
		return c.Span.From + t.Sub(c.First)
	}
	best := c.Snapshots[0]
	for _, s := range c.Snapshots[1:] {
		if s.at <= t {
			best = s
		}
	}
	return c.Run.FromMonotonic(int64(t) + best.offset)
}
