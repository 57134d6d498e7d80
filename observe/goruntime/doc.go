// Package goruntime watches the Go runtime of the target through four
// sources: figures per window (Metrics), profiles over the steady span
// (Profiles), short execution traces within it (Traces), and the statements
// and calls that the hooks of redline's build count (Operations). A fifth,
// Collections, stands in for the first if the target has no probe and is a
// program that redline started: it reads the lines that the runtime prints about
// its collections.
//
// There are two ways in. A target that carries redline's probe writes its figures into
// shared memory, and serves profiles and traces on a Unix socket. A target that only
// imports net/http/pprof serves the latter over HTTP; it has no figures per window, and
// its mutex and block profiles hold the share that the target itself chose to sample. If
// both exist, the probe wins: the target itself dates its answers by the run's clock, and
// they can be ended early.
//
// It refuses to interpret its input beyond differences, and it never requests a
// goroutine profile as text (debug=2), which stops the world for milliseconds, nor a
// heap profile after a forced collection.
//
// The target may be replaced while it is watched, under another process id or the same: a
// new ring starts new counters, nothing is subtracted across two processes, and the
// windows in between stay empty and are reported as a gap.
//
// Input from the target is not trusted: sizes are bounded before and after
// decompression, profiles are parsed and checked before they are stored.
//
// Rejected: scraping figures from /debug/pprof or expvar each window (each
// costs the target a request and allocations), and a profile per window (the
// runtime delivers 100 samples a second: ten per window mean nothing).
package goruntime
