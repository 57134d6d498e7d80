// Package flame turns call stacks into what the page draws as flame graphs: profiles, the
// anatomy of requests, and the difference of two runs.
//
// All graphs of a page are one Set, with one table of names and frames. A graph is a tree in
// preorder with one or more columns of values over it (bytes and objects; median and tail;
// one run and the other), each node's own value alone: totals are sums, and the page adds
// them up. Nothing is folded into an "other": what a graph cannot hold (see maxNodes) is
// counted at its caller under a name that says so.
//
// Numbers are small on purpose, because they are inlined as gzipped JSON: a node says by how
// many levels it lies above the one before it, and a frame is counted backwards from the
// next new one. Designs tried and rejected: one array per stack (five times the size), and
// functions without lines (a profile downloaded from the page could then not be listed by
// source).
package flame
