// Package memory holds the analyzers of allocation and garbage collection: one site
// that allocates most, what makes the collector run (the program itself, a memory
// limit, a large heap, a small GOGC), assists in requests, and a heap that only
// grows.
//
// The cost of collection comes from the CPU profile and the execution trace, not
// from /cpu/classes/gc/*, which changes only once per cycle.
//
// One analyzer judges all that makes the collector run, and names one cause.
// Separate analyzers whose findings fold into each other were tried: with GOGC=5 a
// service collects all the time, assists, and allocates most at some site, and
// which of the three promised most changed from run to run.
package memory

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers in the order in which they run.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{Allocation, Collector, Leak}
}
