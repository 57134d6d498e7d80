// Package wait holds the analyzers of what requests wait for inside the service,
// from the anatomy of requests: locks, channels, semaphores, sleeps, the
// scheduler, system calls.
//
// A wait counts when it takes a large part of the mean request, or explains most
// of what the tail takes longer than the median. While CPUs are saturated only a
// wait that serialises requests is named, since every other queue is then the
// CPUs' own; see diagnose.Pass.Waited.
package wait

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers, in the order of judgement.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{Lock, Channel, Flight, Sleep, Syscall, Child, Sched, Spawn, Leak}
}
