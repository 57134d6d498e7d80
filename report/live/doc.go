// Package live shows a run while it goes on: a view that redraws itself on a
// terminal, and plain lines everywhere else.
//
// It is fed with events and never asks for anything; an event costs its sender
// a mutex and nothing more, so the load may send one from its window loop. The
// view reads no keys: the terminal stays in its ordinary mode, so that Ctrl-C is
// the signal it always is, and reaches the caller's context even if the view
// hangs.
//
// Designs tried and rejected: the alternate screen (the run's output is gone
// when it ends), and reading keys (raw mode turns Ctrl-C into a key, and a
// killed process leaves the terminal raw).
package live

import (
	"time"
)

// Event is the state of a run at one instant. Zero values are shown as absent.
type Event struct {
	// Phase is the run's present step: building, starting, warm-up, measuring,
	// analysing. A change of phase is printed even where nothing else is.
	Phase string
	// Done and Total are the load's time so far and in all, warm-up included.
	// Total of zero means that the phase has no known end.
	Done, Total time.Duration
	// Rate is successes per second in the last window.
	Rate float64
	// Percentiles of latency in the last window that held a request.
	P50, P90, P99, Max time.Duration
	// Errors and Requests count since the start of the measured span.
	Errors, Requests int64
	InFlight         int64
	// LagP99 is the generator's schedule lag.
	LagP99 time.Duration
	// GeneratorCPU is the number of CPUs that the generator uses.
	GeneratorCPU float64
	// Unhealthy says why the generator is at its limit; empty while it is not.
	Unhealthy string
	// Message is printed once, above the view, and then forgotten.
	Message string
}

// View shows events. Event may be called concurrently and does not block;
// Close draws pending lines, restores the terminal and may be called twice.
type View interface {
	Event(Event)
	Close()
}

// Options says how the view looks. The zero value has neither colour nor title.
type Options struct {
	// Title stands in the first line, usually the URL under load.
	Title string
	// Color is the caller's decision: NO_COLOR unset and TERM not dumb.
	Color bool
}
