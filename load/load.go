// Package load drives requests at their intended times and measures them. It owns the
// event loops; separate packages compute when requests are due, what became of them and
// whether the figures are the target's (pace, account, validity), and each protocol has
// its own folder behind Protocol and Wire.
//
// In an open loop a request is due at its intended time whether or not earlier
// ones returned, and its latency counts from then; in a closed loop each
// connection sends its next request when the last one ended.
//
// # Counting
//
// A request belongs to the measured (steady) span when its intended time does. Requests
// of the warm-up are left out of the totals, and those of the span that end in the grace
// time are in. Every request of the span is a success, a failure, or unfinished at the
// end of the grace time (sent and not answered, or due and never sent); Run checks that
// these add up, and returns an error with the figures when they do not. Only the rate
// counts requests by when they ended: successes that ended within the span, divided by
// its length, because an overloaded target would otherwise get credit for answers that
// came afterwards.
//
// Latency holds successes and timeouts, a timeout at the time it took: leaving out the
// slowest requests would flatter the tail. Unfinished requests count as at least as old
// as they were (histogram.Counts.Censored). So do service time and first byte. The times
// of failures, including timeouts, are kept separately.
//
// # How it drives
//
// An event loop per core (loop.go) owns raw sockets, waits for them and for the next due
// time in one call, and handles everything that follows from an event before it takes the
// next. A lane (lane.go) carries one request at a time; lanes of one connection are its
// streams. What goes over a connection is a Wire (wire.go), a state machine without a
// socket, one package per protocol.
//
// # How samples travel
//
// A loop writes each ended request into a ring of its own, without a lock. At
// every window's edge one goroutine empties the rings into histograms and
// series; a loop whose ring is full empties it itself. Memory is thus bounded
// whatever the duration.
//
// Designs tried and rejected: a goroutine per connection on package net (a
// wake-up, two poller calls and a timer per request: 0.8 times wrk per CPU
// second, where the loop reaches 1.1); time.Sleep for pacing (the runtime's
// poller waits in whole milliseconds on Linux: 0.8 ms late at the median);
// handing tickets to connections round-robin (it opens every connection that the
// cap allows, and the idle ones then run into the target's keep-alive timeout); one
// write for everything that a batch of events leads to (requests then leave up to a
// batch later than their recorded time of sending).
package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redline-go/redline/load/account"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// Config configures Run. Plan, Clock, Protocol and Record are required.
type Config struct {
	Plan  *scenario.Plan
	Clock timebase.Clock
	// Protocol is the protocol of the plan's requests, made for this plan (http1.New).
	Protocol Protocol
	// Record takes windows, histograms and slow requests.
	Record account.Sink
	// Start is the run time at which the first request is due; see Steady. A time in the
	// past, such as zero, means at once.
	Start time.Duration
	// Window is the width of a window; zero means timebase.DefaultWindow.
	Window time.Duration
	// Seed seeds everything random: Poisson arrivals, the order of the mix, rows.
	Seed uint64
	// Trace makes some requests, at most 50 per second, carry W3C trace context and
	// their number, if the protocol is Traced. It is the first half of their trace ids,
	// and must be new for each run. Zero sends none.
	Trace uint64
	// OnWindow, if set, is called after each window with the requests that ended in it, for
	// the live view. It must not block.
	OnWindow func(Progress)
}

// Steady returns the planned measured span of a run of l that starts at start.
func Steady(l scenario.Load, start time.Duration) timebase.Span {
	l = l.WithDefaults()
	return timebase.Span{From: start + l.Warmup, To: start + l.Warmup + l.Duration}
}

// Run drives the plan: warm-up, then the measured span, then the grace time. When ctx ends
// first it stops at once and returns the measurements so far with ctx's error. The summary
// covers the steady span only. Failed requests are figures, not errors; an error with a nil
// Result means that no load was sent.
func Run(ctx context.Context, c Config) (*Result, error) {
	if c.Plan == nil || len(c.Plan.Requests) == 0 {
		return nil, errors.New("load: the plan has no request")
	}
	if c.Protocol == nil || c.Record == nil {
		return nil, errors.New("load: Protocol and Record are required")
	}
	if c.Window <= 0 {
		c.Window = timebase.DefaultWindow
	}
	plan := c.Plan.Load.WithDefaults()
	if plan.Duration <= 0 || plan.Warmup < 0 {
		return nil, fmt.Errorf("load: a duration of %v after a warm-up of %v cannot be driven", plan.Duration, plan.Warmup)
	}
	r, err := newRun(ctx, c, plan)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return r.drive()
}

// Result holds the measurements of a run of load.
type Result struct {
	Steady    timebase.Span      // the measured span in run time; shorter than planned if it was cut
	Load      record.LoadSummary // of that span
	Generator record.Generator   // its validity, and what it consumed
	Warnings  []string           // sentences for a reader of the figures; they do not void the run
}

// Progress is one window as the live view shows it.
type Progress struct {
	Window      int64               // its number; see timebase.Window
	Warmup      bool                // it begins before the measured span
	Done, Total float64             // seconds of load so far, and planned
	Rate        float64             // successes per second in this window
	Latency     histogram.Quantiles // of this window; zero when nothing ended in it
	Errors      int64               // since the start of the measured span
	Requests    int64               // since then, too
	InFlight    int64               // now; sent or waiting for a connection
	LagP99      int64               // ns
	CPU         float64             // generator's CPUs in use; NaN where it is not known
}
