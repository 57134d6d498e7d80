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

// Add takes a snapshot. If the trace clock were perfect, all snapshots would have the same
// offset; the difference between two bounds the error of an instant between them.
func (c *Clock) Add(s *trace.ClockSnapshot) {
	if s == nil {
		return
	}
	next := snapshot{s.Trace, int64(s.Mono) - int64(s.Trace)}
	if n := len(c.Snapshots); n > 0 {
		if c.Snapshots[n-1] == next {
			return
		}
		c.Errors = append(c.Errors, time.Duration(next.offset-c.Snapshots[n-1].offset).Abs())
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
