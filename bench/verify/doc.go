//go:build linux

// Command verify measures how often package verify is right: sessions of known
// outcome on the lab's order gateway, each as `redline ab` would run it.
//
// Sides are the gateway as it is and the gateway with some useless work added to
// every request. The work is a fixed number of rounds of arithmetic, and not a
// time: it takes longer on a slow machine, as real code does. How many rounds
// make 5 % is measured first, under the same load: pairs of launches without and
// with many rounds show what a round costs.
//
//	aa      the gateway with itself: nothing may be called a regression
//	slow5   side b takes 5 % more CPU per request
//	slow10  side b takes 10 % more
//	fast5   side a is the one that takes 5 % more: never a regression
//
// The recorded sessions with a slow side are judged once more with the sides exchanged.
//
// The part noise records pairs of identical sides for two and a half minutes, turn by turn, and takes
// their noise apart. From all recordings further sessions are simulated, on which the whole of
// session.Session decides: of pairs that are drawn by the components of variance, and of the recorded
// pairs, in runs of consecutive ones, so that what holds on from one pair to the next stays in, each
// pair with its sides exchanged or not.
//
// Last, two runs of 100,000 windows each are compared as `redline compare` does.
//
//	make bench-verify                                 # everything: some two hours
//	make bench-verify BENCH="-sessions 2 -o /tmp/verify.json"
//	make bench-verify BENCH="-add"                    # goes on where one was stopped
//	make bench-verify BENCH="-add -only noise,simulate"
//
// Sessions of all kinds take turns, and the file is written after each, so that a
// bench that is stopped has some of all.
package main
