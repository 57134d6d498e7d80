//go:build !linux

package sampler

// StartClock returns the clock, from the wall clock: the standard library
// gives no way to CLOCK_MONOTONIC here.
func StartClock(epochMonotonic, epochWall int64) Clock {
	return fromWall(epochMonotonic, epochWall)
}
