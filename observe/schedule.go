package observe

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/timebase"
)

// Every calls f at each window edge of the clock until ctx is done, and then
// returns nil; an error of f ends it and is returned. It is Edges.Each without
// the count of missed edges.
func Every(ctx context.Context, clock timebase.Clock, width time.Duration, f func(edge time.Duration) error) error {
	return (&Edges{Clock: clock, Width: width}).Each(ctx, f)
}

// Edges is the schedule of a source: the edges between windows, multiples of
// Width since the clock's epoch. All sources of a run sample on the same edges,
// so that their windows cover the same stretches of time.
//
// An edge that passes while f still runs, or while the host does not schedule redline, is
// skipped and counted, never made up for: two readings in quick succession would add
// nothing, and would come just when the host has no CPU to spare. A reading's date is that
// of its Bracket, not of its edge.
type Edges struct {
	Clock timebase.Clock
	Width time.Duration // zero means timebase.DefaultWindow

	missed atomic.Int64
}

// Missed returns how many edges were skipped so far.
func (e *Edges) Missed() int64 { return e.missed.Load() }

// Skipped says that edges passed without a reading, for record.SourceHealth.
func Skipped(missed int64) string {
	return notation.Counted(missed, "window was", "windows were") + " skipped because redline got no CPU"
}

// Each calls f with the run time of each edge until ctx is done, and then
// returns nil; an error of f ends it and is returned. The first edge is the
// first one after the call.
func (e *Edges) Each(ctx context.Context, f func(edge time.Duration) error) error {
	width := e.Width
	if width <= 0 {
		width = timebase.DefaultWindow
	}
	// One timer, set anew to an absolute edge each time: a ticker of the same
	// period would keep whatever phase it was started with.
	edge := nextEdge(e.Clock.Now(), width)
	timer := time.NewTimer(edge - e.Clock.Now())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return nil // both were ready and the timer won
		}
		if late := lastEdge(e.Clock.Now(), width); late > edge {
			e.missed.Add(int64((late - edge) / width))
			edge = late
		}
		if err := f(edge); err != nil {
			return err
		}
		now := e.Clock.Now()
		next := nextEdge(now, width)
		e.missed.Add(int64((next-edge)/width) - 1)
		edge = next
		timer.Reset(edge - now)
	}
}

// Ended returns the window that ends at edge: the one whose gauges a reading
// taken at that edge shows.
func Ended(edge, width time.Duration) int64 { return timebase.Window(edge, width) - 1 }

// nextEdge returns the first edge after t.
func nextEdge(t, width time.Duration) time.Duration {
	return time.Duration(timebase.Window(t, width)+1) * width
}

// lastEdge returns the last edge at or before t.
func lastEdge(t, width time.Duration) time.Duration {
	return time.Duration(timebase.Window(t, width)) * width
}
