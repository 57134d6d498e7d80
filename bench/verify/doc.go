//go:build linux

// Command verify measures how often package verify is right: sessions of known
// outcome on the lab's order gateway, each as `redline ab` would run it.
//
// Sides are a service as it is and the same service with some useless work added to
// every request. The work is a fixed number of rounds of arithmetic, and not a
// time: it takes longer on a slow machine, as real code does. How many rounds
// make 5 % is measured first, under the same load: pairs of launches without and
// with many rounds show what a round costs.
//
//	aa      both sides the same: nothing may be called a regression, and nearly all pass
//	slow5   side b takes 5 % more CPU per request
//	slow3   side b takes 3 % more
//	slow10  side b takes 10 % more
//	fast5   side a takes 5 % more: never a regression
//
// The service is the lab's order gateway, or one of the two of command plain (-service hello, -service json).
//
// The recorded sessions with a slow side are decided once more with the sides exchanged.
//
// The part noise records pairs of identical sides for two and a half minutes, turn by turn, and
// splits their noise into its components. From all recordings further sessions are simulated, which
// the whole of session.Session decides: with pairs drawn by the components of variance, and with the
// recorded pairs, in runs of consecutive ones, so that correlation between neighbouring pairs stays
// in, each pair with its sides exchanged or not.
//
// The part fixed records such pairs once more, both sides with one thing held fixed that might cause the noise: the address
// space, huge pages, the CPU, the heap at which a collection begins, PostgreSQL's plans. The bench's binary fixes it for its
// own process, and then becomes the service.
//
// Last, two runs of 100,000 windows each are compared as `redline compare` does.
//
//	make bench-verify                                 # everything of the gateway: some five hours
//	make bench-verify BENCH="-add -service json -only aa,slow5"
//	make bench-verify BENCH="-sessions 2 -o /tmp/verify.json"
//	make bench-verify BENCH="-add"                    # continues one that was stopped
//	make bench-verify BENCH="-add -only noise,fixed,simulate"
//
// Sessions of all kinds take turns, and the file is written after each, so that a
// bench that is stopped has some of each kind.
package main
