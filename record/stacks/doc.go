// Package stacks reads the pprof profiles of a bundle as call stacks with one value
// each: a run's parts merged over the span that is judged, inlined calls expanded,
// the wrappers of redline's own build taken out.
//
// It takes an opened record and gives values in the profile's own unit (ns of CPU or
// delay, bytes, objects), and shares of 0 to 1 where it says so. A run without a
// profile of the type, and one that does not parse, is an error; memory is bounded
// whatever the files hold. The meaning of stacks is not its business: that is
// diagnose/callstack's.
package stacks
