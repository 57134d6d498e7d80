package load

import "time"

// Drainer is implemented by wires that carry messages which nothing answers
// (scenario.Request.NoReply). Those end when they were sent, an instant
// that a wire cannot see.
type Drainer interface {
	// Drained is called when the kernel has all that was appended to out so far.
	// It adds the exchanges that this completes, with Done set to now.
	Drained(now time.Duration, ended []*Exchange) []*Exchange
}
