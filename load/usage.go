package load

import "time"

// usage is the consumption of the generator's process so far.
type usage struct {
	cpu   time.Duration // user and system
	delay time.Duration // its threads stood in a kernel run queue; see delayKnown
	// delayKnown is false where the kernel does not report it.
	delayKnown bool
}
