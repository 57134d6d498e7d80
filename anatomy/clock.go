package anatomy

import (
	"slices"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/record/timebase"
)

// traceClock moves instants of one trace to run time, by the clock snapshots
// that each generation of the trace carries since Go 1.25.
type traceClock struct {
	run       timebase.Clock
	span      timebase.Span // what the trace's taker says, for traces without snapshot
	first     trace.Time
	snapshots []snapshot
	errors    []time.Duration
}

type snapshot struct {
	at     trace.Time
	offset int64 // CLOCK_MONOTONIC minus trace time, ns
}

// add takes a snapshot. Two snapshots of one trace would agree on the offset if
// the trace's clock were perfect; what they differ by bounds the error of an
// instant between them.
func (c *traceClock) add(s *trace.ClockSnapshot) {
	if s == nil {
		return
	}
	next := snapshot{s.Trace, int64(s.Mono) - int64(s.Trace)}
	if n := len(c.snapshots); n > 0 {
		if c.snapshots[n-1] == next {
			return
		}
		c.errors = append(c.errors, time.Duration(next.offset-c.snapshots[n-1].offset).Abs())
	}
	c.snapshots = append(c.snapshots, next)
}

// at returns t in run time, by the last snapshot before it.
func (c *traceClock) at(t trace.Time) time.Duration {
	if len(c.snapshots) == 0 {
		return c.span.From + t.Sub(c.first)
	}
	best := c.snapshots[0]
	for _, s := range c.snapshots[1:] {
		if s.at <= t {
			best = s
		}
	}
	return c.run.FromMonotonic(int64(t) + best.offset)
}

// alignment sums the disagreements up; zero without any, which is also what a
// trace of a single generation gives.
func alignment(errors []time.Duration) timebase.Align {
	if len(errors) == 0 {
		return timebase.Align{}
	}
	slices.Sort(errors)
	rank := func(p int) time.Duration { return errors[(len(errors)*p+99)/100-1] }
	return timebase.Align{P50: rank(50), P99: rank(99)}
}
