// Package part defines one part of the fault bench: one promise of redline,
// attacked on purpose as often as requested, and the count of how often it broke.
//
// A part lives in a package of its own below bench/faults, so that a sample of it
// can run in `make test` as well.
package part

import (
	"context"
	"io"
	"time"
)

// Part is one promise and how it is tried.
type Part struct {
	Name string // on the command line: "kills"
	Doc  string // one sentence for -h and for docs/reliability.md
	// Asked is the number of trials of the full bench.
	Asked int
	// Numbered means that seed and number determine a trial, so that one can be repeated.
	Numbered bool
	// Run makes o.Trials trials. An error means that the part could not be tried;
	// a broken promise is a failure in the Result.
	Run func(ctx context.Context, o Options) (Result, error)
}

// Options are the same for every part.
type Options struct {
	Redline string    // path of redline's binary
	Scratch string    // an empty folder for the part, removed after it
	Trials  int       // how many; at least 1
	First   int       // number of the first trial, for a part that is Numbered
	Seed    uint64    // of everything random: the same seed makes the same trials
	Log     io.Writer // progress, for people
}

// Result is what a part counted.
type Result struct {
	Part     string        `json:"part"`
	Asked    int           `json:"asked"`
	Tried    int           `json:"tried"`
	Failures []string      `json:"failures"` // one line each, enough to try it again; empty is what is asked
	Figures  []Figure      `json:"figures"`
	Took     time.Duration `json:"took_ns"`
	// Revision and Seed belong to the run that made these figures: parts may be run
	// one by one.
	Revision string `json:"revision"`
	Seed     uint64 `json:"seed"`
}

// Figure is a further count of a part: "bundles that opened", "100 of 100".
type Figure struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
