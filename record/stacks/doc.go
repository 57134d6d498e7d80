// Package stacks reads the pprof profiles of a bundle as call stacks with one value
// each: a run's parts are merged over Record.Judged, inlined calls expanded, and the
// wrappers of redline's own build removed.
//
// It takes an opened record and returns values in the profile's own unit (ns of CPU or
// delay, bytes, objects), or shares of 0 to 1 where stated. A missing profile and one
// that does not parse are errors; memory is bounded whatever the files hold. What
// stacks mean is known to diagnose/callstack.
package stacks
