package run

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// threadCPU runs f on a thread of its own and returns the CPU time that the
// thread used: what a source costs, but for goroutines that it starts itself.
func threadCPU(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	f()
	return threadTime() - before
}

func threadTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
