// Package session measures a knee: it has package run put steps of load on the target
// and observe it, package assess judge them, and keeps each as a line of a log, so
// that what was measured survives an interrupt and can be answered from again.
//
// A target that redline starts stays the same process from step to step, because what
// a step leaves behind (a queue, a cache, a leak) is part of the answer; it is launched
// anew once within the search, because a process keeps its luck for its life.
//
// It decides nothing: which rate comes next, and what all steps say, is package knee's.
package session
