// Package session measures the input of verify: the blocks of two sides, launch by
// launch, until a look decides or the time is up.
//
// A Session takes two Sides (a plan each, and the binary that was built for it),
// the Rules of the decision and a Measurer; a Launcher is the Measurer that puts
// the plan's load on real processes, by turns where both can be up at once
// (Alternator). An Against measures one side alone, to be compared with a stored
// baseline or to become one. Both give a verify.Result. Times are durations of the
// wall clock; values of a block are in the unit of their metric (ns of CPU,
// requests per second, bytes).
//
// A Log keeps each pair on disk as it is measured, under a kernel lock, so that an
// interrupted session loses only the pair in progress.
//
// A side that does not start, does not serve or exits, and a generator that cannot
// keep up, make the result invalid; they are not errors. Errors are the context's
// end, and failures to write or resume the log.
package session
