// Package wait holds the analyzers of what requests wait for inside the service, by
// the anatomy of requests: locks, channels, semaphores, sleeps, the scheduler,
// system calls.
//
// A wait counts if it takes a large part of the mean request, or explains most of
// the extra time of the slowest requests. While CPUs are saturated only a wait that
// serialises requests is named, because every other queue is then a queue for the
// CPUs; see evidence.Set.Waited.
//
// The place that waits is seldom the place to change. Each analyzer follows the
// wait to the goroutine that ended it (the holder of a lock, the consumer of a
// channel, the request in flight) and names what that one did in that time.
package wait

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers in the order in which they run.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{Lock, Channel, Flight, Sleep, Stops, Syscall, Child, Sched, Spawn, Leak}
}
