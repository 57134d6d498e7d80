//go:build linux

// Command bench measures redline as a load generator against its peers and
// against a floor, and checks each of the marks that the project has set.
//
// It starts every server itself (nginx with one worker, a gRPC echo, a server
// that stalls on schedule), pins it to one core and each generator to another,
// runs the generators in random order round after round, and compares medians.
// CPU time is the time that the kernel charges to the whole process of a generator from
// its start to its end: for all of them it includes start-up, accounting, observation
// and the writing of results.
//
//	make bench-load                                  # everything: some 25 minutes
//	make bench-load BENCH="-only http1 -rounds 3"
//	make bench-load BENCH="-o docs/load-bench.json"  # and docs/load-bench.md beside it
//
// Tools are taken from PATH (wrk, h2load, ab) or built once from pinned versions
// into the user's cache (k6, hey, fortio, ghz). One that is not available is skipped with
// a line that says so. Sections that are not run are kept as the file has them.
//
// It runs on Linux only: it pins cores and reads /proc.
package main
