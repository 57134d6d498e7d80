// Package usage reads what the generator's own process consumes: CPU time, and where
// the kernel reports it, the time that its threads stood in a run queue.
package usage

import "time"

// Usage is the consumption of the generator's process so far.
type Usage struct {
	CPU   time.Duration // user and system
	Delay time.Duration // time its threads waited in a kernel run queue; see DelayKnown
	// Runs is how often its threads were put on a CPU, each time after a wait that Delay includes.
	Runs int64
	// DelayKnown is false if the kernel does not report Delay and Runs.
	DelayKnown bool
}
