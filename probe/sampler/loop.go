package sampler

import (
	"time"

	"github.com/redline-go/redline/probe/ring"
)

// Loop samples into a ring until it is stopped.
type Loop struct {
	Clock   Clock
	Epoch   int64         // CLOCK_MONOTONIC ns; samples are taken at Epoch + k*Window
	Window  time.Duration // above zero
	Sampler *Sampler
	Ring    *ring.Writer
	// Pause, if set, carries true to stop the samples, and their timer with them,
	// and false to resume.
	Pause <-chan bool
}

// Run samples until stop is closed or the memory is gone, and closes the ring.
// It never panics.
//
// It samples at each window's edge. If the target is so busy that an edge passes
// without a sample, that one is left out, not made up for.
func (l *Loop) Run(stop <-chan struct{}) {
	defer func() { _ = recover() }()
	defer l.Ring.Close()

	timer := time.NewTimer(l.untilEdge())
	defer timer.Stop()
	since := l.Clock.Now()
	for {
		select {
		case <-stop:
			return
		case pause := <-l.Pause:
			if pause && !l.rest(stop) {
				return
			}
			if !timer.Stop() {
				select { // drained as timers needed before Go 1.23
				case <-timer.C:
				default:
				}
			}
			since = l.Clock.Now()
			timer.Reset(l.untilEdge())
			continue
		case <-timer.C:
		}
		before, after := l.take()
		if l.Ring.Write(since, before, after, l.Sampler.reading()) != nil {
			return
		}
		since = before + (after-before)/2
		timer.Reset(l.untilEdge())
	}
}

// rest returns when samples are wanted again, or false when stop is closed.
func (l *Loop) rest(stop <-chan struct{}) bool {
	for {
		select {
		case <-stop:
			return false
		case pause := <-l.Pause:
			if !pause {
				return true
			}
		}
	}
}

// A reading takes some 10 us. One that took longer than wide was interrupted
// (the kernel ran another task, or the collector stopped the world) and its
// instant is uncertain by as much; it is taken again, at most tries times.
const (
	wide  = int64(200 * time.Microsecond)
	tries = 4
)

// take makes a reading and returns the instants just before and after it.
func (l *Loop) take() (before, after int64) {
	l.Sampler.pools.read(l.Sampler.values)
	l.Sampler.pools.names(l.Ring)
	for i := 0; i < tries; i++ {
		before = l.Clock.Now()
		l.Sampler.take()
		after = l.Clock.Now()
		if after-before < wide {
			break
		}
	}
	return before, after
}

// untilEdge returns the time to the next edge; never zero, so that a stopped
// clock cannot make the loop spin.
func (l *Loop) untilEdge() time.Duration {
	return edgeAfter(l.Clock.Now()-l.Epoch, l.Window)
}

// edgeAfter returns how long after elapsed (ns since the epoch) the next edge
// comes. An edge less than a quarter of a window away is skipped: the sample
// that was just taken came late and stands for it.
func edgeAfter(elapsed int64, window time.Duration) time.Duration {
	width := int64(window)
	past := elapsed % width
	if past < 0 {
		past += width
	}
	rest := width - past
	if rest < width/4 {
		rest += width
	}
	return time.Duration(rest)
}
