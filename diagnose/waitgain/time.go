package waitgain

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastSlow windows must be slow, and at most mostSlow of all, for their order
	// to mean anything: one slow window has one neighbour, and if most windows
	// contain a slow request the tail has no time of its own.
	leastSlow = 3
	mostSlow  = 0.5
	// chance is the probability, by shuffling windows, below which a series
	// coincides with the slow ones. A wait whose series is no higher there than
	// elsewhere does not make them slow.
	chance = 0.05
)

// timing is what the order of the windows says about a wait that explains a tail.
type timing int

const (
	untold    timing = iota // no series, or too few slow windows
	coincides               // its series is high where requests are slow
	apart                   // its series is no higher there
)

// series names the per-window figure of the service that a kind of wait moves.
func seriesOf(kind callstack.Wait) (name, labels string) {
	switch kind {
	case callstack.LockWait, callstack.ReadLockWait:
		return "/sync/mutex/wait/total:seconds", ""
	case callstack.Queued:
		return "/sched/latencies:seconds", series.Labels("q", "p99")
	case callstack.PoolWait:
		return series.PoolWaitTime, ""
	case callstack.SyncWait:
		return series.FsyncTime, ""
	}
	return "", ""
}

// inTime compares a wait with time: its windows must be slow ones, or lead them.
// This separates a tail that the wait causes from one that it is merely part of.
func inTime(p *diagnose.Pass, kind callstack.Wait) timing {
	name, labels := seriesOf(kind)
	if name == "" {
		return untold
	}
	c := p.Coincide(name, labels)
	if c.Slow < leastSlow || float64(c.Slow) > mostSlow*float64(c.Windows) {
		return untold
	}
	switch {
	case c.Chance < chance:
		return coincides
	case !(c.InSlow > c.Elsewhere):
		return apart
	}
	return untold
}
