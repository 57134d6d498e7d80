//go:build !race

package loadtest

// Race says that the race detector is on, under which a sync.Pool forgets at
// random, so that counts of allocations mean nothing.
const Race = false
