package waitgain

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/findings"
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

// InTime returns how far the windows bear out a wait that explains a tail: they must be slow ones, or lead them. This separates a
// tail that the wait causes from one that it is merely part of. Medium where they say nothing: no series, or too few slow windows.
func InTime(p *diagnose.Pass, kind callstack.Wait) findings.Confidence {
	name, labels := seriesOf(kind)
	if name == "" {
		return findings.Medium
	}
	c := p.Coincide(name, labels)
	switch few := c.Slow < leastSlow || float64(c.Slow) > mostSlow*float64(c.Windows); {
	case few:
		return findings.Medium
	case c.Chance < chance:
		return findings.High
	case c.InSlow <= c.Elsewhere: // false where one of them has no value
		return findings.Low
	}
	return findings.Medium
}
