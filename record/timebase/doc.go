// Package timebase is the one clock of a run: instants counted from the run's epoch on
// CLOCK_MONOTONIC, spans between them, and the windows of even width in which figures
// are recorded.
//
// It converts: wall clock, this process's time.Time and readings of CLOCK_MONOTONIC
// become run time. It refuses to hide how exact that is: a Clock carries the bound on
// its own error, and Align is the measured disagreement of another clock with it.
package timebase
