// Package live shows a run in progress: a view that redraws itself on a
// terminal, and plain lines everywhere else.
//
// It is fed with events and figures and never asks for anything; feeding it costs its
// sender a mutex and a few additions, so the load may do it from its window loop. The view
// is drawn by a goroutine of its own, four times a second at most.
//
// It reads no keys itself: the caller hands them in and owns the terminal's mode. That mode
// must leave Ctrl-C the signal that it always is, so that it reaches the caller's context even
// if the view hangs.
//
// Designs tried and rejected: the alternate screen (the run's output is gone
// when it ends), and raw mode (it turns Ctrl-C into a key).
package live

import (
	"time"

	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
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
	// Message is printed once, above the view, and then forgotten.
	Message string
	// Statement is one of the database whose text became known.
	Statement Statement
	// SoFar is a new judgement of what is recorded so far; nil keeps the last one.
	SoFar *SoFar
}

// Statement is the text of a database's statement, by its query id.
type Statement struct{ QueryID, Text string }

// SoFar is the first finding of a run in progress, in words.
type SoFar struct {
	At                  time.Duration // of the load, up to which it was judged; 0 means up to now
	Title, Place, Worth string        // Title is empty while nothing was found
}

// View shows events. Event may be called concurrently and does not block;
// Close draws pending lines, restores the terminal and may be called twice.
type View interface {
	Event(Event)
	// Feed takes the figures that are recorded; nil where the view shows none of them.
	Feed() Feed
	Close()
}

// Feed takes figures as they are recorded. Its methods may be called concurrently, do not block
// and keep nothing that they are handed.
type Feed interface {
	Add(points []series.Point)
	// Latency takes the latencies of a part of the measured span.
	Latency(*histogram.Counts)
}

// Options says how the view looks. The zero value has neither colour, title nor keys.
type Options struct {
	// Title stands in the first line, usually the URL under load.
	Title string
	// Color is the caller's decision: NO_COLOR unset and TERM not dumb.
	Color bool
	// Keys are those that somebody presses; nil shows no keys. The channel is the caller's and need not
	// be closed.
	Keys <-chan byte
	// Stop ends the load early; nil leaves the key out. It must not block.
	Stop func()
	// Left is called once when the view gave the terminal back, at the latest by Close; nil for none.
	Left func()
}
