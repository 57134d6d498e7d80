// Package micro holds the lab's experiments that need one process and no load: each is
// a Go benchmark with the name of its experiment, whose work is chosen by the side that
// runs it. The catalogue, what is claimed and the verdict are in redline's experiment
// package; `redline lab run` builds and pairs these benchmarks.
//
// Next to each benchmark is a test that its sides give the same answers, or that the
// literal form of a claim fails where it is not safe.
package micro

import "os"

// Variable names the side of an experiment that a process runs: Baseline or Tuned.
// Empty is Baseline.
const Variable = "REDLINE_LAB_SIDE"

// Sides of an experiment.
const (
	Baseline = "baseline" // as the report found it
	Tuned    = "tuned"    // as the report would have it, in a form that is sound
)

// Of returns the work of this process's side.
func Of[T any](baseline, tuned T) T {
	if os.Getenv(Variable) == Tuned {
		return tuned
	}
	return baseline
}
