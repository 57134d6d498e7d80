// Package load drives requests at their intended times and measures them. It
// owns pacing, histograms per window, and the generator's judgement of itself;
// protocols live in folders of their own behind the Client interface.
//
// In an open loop a request is due at its intended time whether or not earlier
// ones returned, and its latency counts from then; in a closed loop each
// connection sends its next request when the last one ended.
package load

import (
	"context"
	"errors"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
)

// Config is what Run needs. All fields but OnWindow are required.
type Config struct {
	Plan  *scenario.Plan
	Clock record.Clock
	// Dial opens one connection of the plan's protocol (http1.New(...)).
	Dial Dialer
	// Record takes windows, histograms and slow requests.
	Record *record.Writer
	// OnWindow, if set, is called after each window with what ended in it and
	// must not block: the live view hangs on it.
	OnWindow func(Progress)
}

// Run drives the plan: warm-up, then the measured span, then the grace time.
// When ctx ends first it stops at once and returns what was measured with
// ctx's error. The summary speaks of the steady span only.
func Run(ctx context.Context, c Config) (*Result, error) {
	return nil, errors.New("load: not built yet")
}

// Result is what a run of load measured.
type Result struct {
	Steady    record.Span
	Load      record.LoadSummary
	Generator record.Generator
	Warnings  []string
}

// Dialer makes connections; see package http1.
type Dialer interface{}

// Progress is one window as the live view shows it.
type Progress struct {
	Window      int64
	Warmup      bool
	Done, Total float64 // seconds of load, and in all
	Rate        float64 // successes per second in this window
	Latency     record.Quantiles
	Errors      int64 // since the start of the measured span
	Requests    int64
	InFlight    int64
	LagP99      int64   // ns
	CPU         float64 // generator's CPUs in use
}
