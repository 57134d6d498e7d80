// Package memory holds the analyzers of allocation and garbage collection: one
// site that allocates most, what makes the collector run (the program itself, a
// memory limit, a large heap, a small GOGC), assists that requests pay for, and a
// heap that only grows.
//
// What collection costs comes from the CPU profile and the execution trace.
// /cpu/classes/gc/* moves only once per cycle and is not used; assists are never
// taken from it.
//
// All that makes the collector run is judged by one analyzer that names one
// cause. Separate analyzers whose findings fold into each other were tried: with
// GOGC=5 a service collects all the time, assists, and allocates somewhere most,
// and which of the three promised most changed from run to run.
package memory

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers, in the order of judgement.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{Allocation, Collector, Leak}
}
