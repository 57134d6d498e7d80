// Package wait holds the analyzers of what requests wait for inside the service, by
// the anatomy of requests: locks, channels, semaphores, sleeps, the scheduler,
// system calls.
//
// A wait counts when it takes a large part of the mean request, or explains most of
// what the slowest requests take longer than the median. While CPUs are saturated
// only a wait that serialises requests is named, because every other queue is then
// the CPUs' own; see evidence.Set.Waited.
//
// The place that waits is seldom the place to change. Each analyzer follows the
// wait to what ended it: the holder of a lock, the consumer of a channel, the
// request in flight; and names what that one did meanwhile.
package wait

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers, in the order of judgement.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{Lock, Channel, Flight, Sleep, Syscall, Child, Sched, Spawn, Leak}
}
