// Package wait holds the analyzers of what requests wait for inside the service
// and at services it calls, from the anatomy of requests: locks, channels,
// semaphores, sleeps, the scheduler, system calls, downstream calls.
//
// A wait counts when it takes a large part of the mean request, or explains most
// of what the tail takes longer than the median. While CPUs are saturated only a
// wait that serialises requests is named, since every other queue is then the
// CPUs' own; see diagnose.Pass.WaitGain.
package wait
