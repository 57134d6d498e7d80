//go:build linux

// Command bench measures the cost of watching: each of redline's sources alone,
// and all of them together, on the lab's order gateway under a closed loop.
//
// One gateway and one PostgreSQL run all the time, and sources are attached to
// them and detached again. Short blocks of load follow each other, every other
// one blind, with the observed ones in random order between them, so that each
// is compared with the mean of the blind blocks just before and after it: a
// linear drift of the machine over three blocks cancels out. A blind block has the
// probe in the gateway too, paused, and the same record being written.
//
// Three figures are compared, as the ratio of observed to blind: requests per
// second, the gateway's CPU per request, and the CPU of the whole host per
// request. The second is the least noisy, but excludes what redline itself
// uses; the third includes everything. The estimate over the rounds is that of
// Hodges and Lehmann with the signed-rank interval at 95 %. Next to them is
// the CPU that each source took of redline's own process.
//
//	make bench-observe                                 # everything: some 12 minutes
//	make bench-observe BENCH="-only probe,events -rounds 6"
//	make bench-observe BENCH="-only instrument"        # the hooks of an instrumented build
//	make bench-observe BENCH="-add -rounds 1 -o docs/observe-bench.json"
//
// A trial whose two blind blocks differ by more than 10 % is left out, because
// something else used the machine then.
//
// With -add the rounds join those that the file holds of the same machine and
// settings, so that many short calls make one measurement; each has its own
// gateway, so the interval includes the differences between processes.
//
// Rejected: redline's own --measure-overhead for each source. It restarts the
// target for each block, and two processes of one binary differ by more
// than most sources cost.
//
// It runs on Linux only, as most sources do.
package main
