package goruntime

import (
	"bytes"
	"context"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/timebase"
)

const (
	// flightLeast is the shortest steady span in which a window can be called slow.
	flightLeast = 3 * time.Second
	// flightPause is how long after a slow window others are ignored: one
	// cause makes many.
	flightPause = 5 * time.Second
	// flightStale is how old a slow window may be: later, the kept trace begins
	// after it.
	flightStale = 800 * time.Millisecond
)

// flights reads the target's flight recorder when a window was slow.
type flights struct {
	options Options
	subject observe.Subject
	client  flier
	take    func(context.Context, time.Duration) (capture, bool) // a plain trace
	store   func(capture)
	say     func(format string, args ...any)
}

// run records from the steady span's begin to its end. It returns early if
// the target makes too many events or has no recorder.
func (f *flights) run(ctx context.Context) {
	clock := f.subject.Clock
	if f.subject.Measured().Len() < flightLeast || !sleepUntil(ctx, clock, f.subject.Measured().From) {
		return
	}
	slice, ok := f.take(ctx, traceSlice)
	if !ok {
		return
	}
	if rate := float64(len(slice.data)) / slice.span.Len().Seconds(); rate > float64(f.options.FlightRate) {
		f.say("flight recorder: off, because %s/s of events would slow the target too much", notation.Size(rate))
		return
	}
	if err := f.client.fly(ctx, f.options.FlightLength, f.options.FlightBytes); err != nil {
		if ctx.Err() == nil {
			f.say("flight recorder: %v", err)
		}
		return
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		// A target that has ended records no more, and the probe stops by itself
		// when redline is gone.
		_ = f.client.land(ctx)
	}()
	f.watch(ctx)
}

// watch waits for slow windows until the steady span ends.
func (f *flights) watch(ctx context.Context) {
	clock := f.subject.Clock
	ctx, cancel := context.WithDeadline(ctx, clock.Time(f.subject.Measured().To))
	defer cancel()
	next := f.subject.Measured().From
	for taken := 0; taken < f.options.Flights; {
		var slow timebase.Span
		select {
		case <-ctx.Done():
			return
		case slow = <-f.subject.Slow:
		}
		if slow.From < next || clock.Now()-slow.To > flightStale {
			continue
		}
		next = slow.To + flightPause
		taken++
		// Also when the steady span ends meanwhile: the kept trace is delivered.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), overhang)
		sent := clock.Now()
		c, err := f.client.dump(ctx)
		cancel()
		switch {
		case err != nil:
			f.say("flight recorder: %v", err)
			continue
		case !bytes.HasPrefix(c.data, traceMagic):
			f.say("flight recorder: the answer is not an execution trace")
			continue
		}
		f.store(dateFlight(c, timebase.Span{From: sent - f.options.FlightLength - flightStretch, To: clock.Now()}, clock))
	}
}

// flightStretch is how much more than requested a recorder may keep: the
// generation of a trace, of about a second, in which the kept stretch begins.
const flightStretch = 10 * time.Second

// dateFlight dates the recorder's trace by the trace's own first reading of
// the clock, as dateTrace does; its end is when it was requested.
func dateFlight(c capture, bracket timebase.Span, clock timebase.Clock) capture {
	from, ok := traceBegin(c.data, clock)
	if ok && from >= bracket.From && from < c.span.To {
		c.span.From, c.err = from, clock.EpochError
	}
	return c
}
