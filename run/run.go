// Package run conducts one run: target up, sources open, load driven, record
// closed. Once it has created the bundle it leaves one whatever happens, and it
// ends its processes.
//
// It does not judge: package assess makes anatomy and findings from the bundle,
// here or on another machine.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario"
)

// settle is the pause between readiness and the first request, in which the
// sources take their first samples.
const settle = 500 * time.Millisecond

// settleLate is the same for sources that took longer than that to open: they begin meanwhile.
const settleLate = 100 * time.Millisecond

// parting is how long an interrupted run's target is kept for the sources' last readings: with the time that its polite end may
// take (guard.Grace), it is gone within the three seconds that docs/safety.md promises.
const parting = 300 * time.Millisecond

// settleCounters is the same when only counters are read, which open at once. A
// comparison pays it with every launch.
const settleCounters = 150 * time.Millisecond

// Options describes a run. Plan, Dir and Version are required.
type Options struct {
	Plan *scenario.Plan
	Dir  string // of the bundle; must be absent or empty
	// Reservation is Dir as it was reserved earlier; nil reserves it for this run.
	Reservation *disk.Reservation
	Version     string // of redline
	// Binary is the target, built earlier; empty builds it anew.
	Binary string
	// Blind opens no source and leaves the target's probe asleep; overhead is
	// measured against such a run.
	Blind bool
	// Counters opens only the sources that cost the target next to nothing: its
	// runtime's and its process's counters. Comparisons use it.
	Counters bool
	// Clock of the run; zero starts one. Runs that take turns share one.
	Clock timebase.Clock
	// Await, if set, is called once the target is ready and returns when the load
	// is to start, on the clock; the time until then is for opening the sources.
	// Runs that take turns synchronise in it. Zero means as without Await. An error ends the run.
	Await func(context.Context) (start time.Duration, err error)
	// Output takes the target's standard output and error; nil discards them.
	Output io.Writer
	// Hide takes secrets out of all that the run writes and prints; nil makes one
	// of the plan and the environment.
	Hide *redact.Redactor
	// OnEvent, if set, receives the run's progress. It must not block.
	OnEvent func(Event)
	// Follow, if set, receives what is recorded, for the live page and the terminal's view.
	Follow Follower
}

// Event is one step or window of a run as it goes.
type Event struct {
	Phase   string         // "building ./cmd/svc", "warm-up", "measuring"; empty: unchanged
	Load    *load.Progress // set once per window while load is driven
	Warning string
	// Traced is the span of a recorded execution trace, and Statement one whose text became
	// known; both only if there is a follower.
	Traced    timebase.Span
	Statement Statement
}

// ErrStopped is the cause of a context that ends a run early because the user asked for it, by a key or on
// the live page. It is a context.Canceled as well, so that the measurements are kept.
var ErrStopped error = stopped{}

type stopped struct{}

func (stopped) Error() string        { return "stopped early by the user" }
func (stopped) Is(target error) bool { return target == context.Canceled }

// Ended is a target that ended by itself in the middle of a run.
type Ended struct{ Exit record.Exit }

func (e *Ended) Error() string {
	text := fmt.Sprintf("the target ended %.1f s into the run: %s", e.Exit.At.Seconds(), e.Exit.Status)
	for _, line := range e.Exit.Stderr {
		text += "\n  | " + line
	}
	return text
}

// Run conducts a run and returns when its bundle is closed. When the error is
// not nil there may still be a bundle: Dir holds one from when the target was
// ready, with state aborted and the reason. A context that ends is an orderly
// end: the measurements are kept.
func Run(ctx context.Context, o Options) error {
	// Before anything is started: a result that cannot be kept is an error.
	if o.Reservation == nil {
		reservation, err := disk.Reserve(o.Dir)
		if err != nil {
			return err
		}
		defer reservation.Release()
	}
	clock, err := o.Clock, error(nil)
	if clock == (timebase.Clock{}) {
		if clock, err = timebase.Start(); err != nil {
			return err
		}
	}
	if o.Hide == nil {
		o.Hide = o.Plan.Redactor(os.Environ())
	}
	var output io.Writer // an interface that stays nil without a view
	if o.Output != nil {
		lines := o.Hide.Writer(o.Output)
		defer lines.Flush()
		output = lines
	}
	// Before anything is started: a plan that cannot be driven is an input error.
	speaks, err := newProtocol(ctx, o.Plan, false)
	if err != nil {
		return err
	}
	if err := staysHere(ctx, o.Plan); err != nil {
		return err
	}
	c := &conductor{Options: o, clock: clock, protocol: speaks, slow: observe.NewSlow(timebase.DefaultWindow)}
	if err := c.openExporters(); err != nil {
		return err
	}
	defer c.exporters.Abandon() // does nothing after an orderly end
	svc, err := c.startTarget(ctx, output)
	if err != nil {
		return err
	}
	defer svc.End()
	c.target = svc
	if err := c.ready(ctx); err != nil {
		return err
	}
	c.bundle, err = record.Create(o.Dir, c.opening())
	if err != nil {
		return err
	}
	c.bundle.Hide(o.Hide)
	err = c.conduct(ctx)
	return errors.Join(err, c.closeBundle(err))
}

// closeBundle closes the bundle of a run that ended with err.
func (c *conductor) closeBundle(err error) error {
	if err != nil {
		return c.bundle.Close(record.Aborted, reason(err))
	}
	return c.bundle.Close(record.Complete, "")
}

// ready returns once the load may begin: the target's schema is known, and all that Await waits for is ready.
func (c *conductor) ready(ctx context.Context) (err error) {
	if why := c.target.Unguarded(); why != "" {
		c.event(Event{Warning: why + ": the target's child processes may survive if redline is killed"})
	}
	for _, why := range c.target.Info().NotInstrumented {
		c.event(Event{Warning: why})
	}
	if why := c.target.Info().ProbeElsewhere; why != "" {
		c.event(Event{Warning: why})
	}
	if c.protocol == nil {
		c.event(Event{Phase: "asking the target for its schema"})
		if c.protocol, err = newProtocol(ctx, c.Plan, true); err != nil {
			return err
		}
	}
	if c.Await != nil {
		c.start, err = c.Await(ctx)
	}
	return err
}

// reason is the first line of why a run was aborted, for run.json.
func reason(err error) string {
	var ended *Ended
	switch {
	case errors.As(err, &ended):
		return fmt.Sprintf("the target ended %.1f s into the run: %s", ended.Exit.At.Seconds(), ended.Exit.Status)
	case errors.Is(err, ErrStopped):
		return ErrStopped.Error()
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return err.Error()
}
