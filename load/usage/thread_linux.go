package usage

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadCPU returns the CPU time that a thread of this process has used, by its
// own clock: the id of a thread's CPU clock holds the complement of the thread's
// id above the bits CPUCLOCK_PERTHREAD and CPUCLOCK_SCHED
// (include/linux/posix-timers.h).
func ThreadCPU(thread int) (used time.Duration, ok bool) {
	var ts unix.Timespec
	if thread == 0 || unix.ClockGettime(int32(^thread<<3|4|2), &ts) != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}
