// Package session measures a knee: package run puts steps of load on the target and
// observes it, package assess assesses them, and each is kept as a line of a log, so
// that the measurements survive an interrupt and the answer can be computed again.
//
// A target that redline starts stays the same process from step to step, because what a
// step leaves behind (a queue, a cache, a leak) is part of the answer; it is relaunched
// once within the search, because a process keeps its luck for its life.
//
// It decides nothing: package knee chooses the next rate and derives the answer.
package session
