// Package ladder is the pure part of a ladder: a service taken up step by step, each
// state compared with the one below it.
//
// It says in which turns two states share the load (Turns), which block of which side a
// request or a window's CPU belongs to (Collector), what the pairs of blocks say
// (Compare), whether each variant gave the same answers (Same) and kept each order
// (Account), and how the whole is written down (Result). It starts nothing: package demo
// runs the services and hands over what it measured.
//
// The verdicts are those of package verify with one look at a fixed number of pairs. A
// ladder in its quick form has one launch of each state per comparison and pairs turns
// within it; its full form pairs launches. A single launch of identical binaries was
// seen to differ by 3 % (package verify), so a quick gain below that is not distinguished from
// noise whatever its interval says.
package ladder
