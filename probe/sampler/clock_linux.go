package sampler

import (
	"syscall"
	"unsafe"
)

const clockMonotonic = 1 // CLOCK_MONOTONIC of <linux/time.h>

// StartClock returns the clock. On Linux the runtime's monotonic clock is
// CLOCK_MONOTONIC itself, whose absolute value package time hides; a raw system
// call reveals it once, because the standard library has no function for it. The
// epoch is not needed here.
func StartClock(epochMonotonic, epochWall int64) Clock {
	c, ok := bracket(func() (int64, bool) {
		var ts syscall.Timespec
		_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
		return ts.Nano(), errno == 0
	})
	if !ok {
		return fromWall(epochMonotonic, epochWall)
	}
	return c
}
