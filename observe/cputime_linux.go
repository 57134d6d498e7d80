package observe

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix" // CPU clocks of other processes
)

// CPUTime returns the CPU time that a process of this host has used, ended
// threads included, from its CPU clock; the clock's id is made from the pid as
// clock_getcpuclockid(3) does. It needs no privilege. It counts in ns, but of a
// thread that is on a CPU only up to its last scheduler tick (1 to 4 ms ago).
// The error wraps unix.ESRCH if there is no such process.
func CPUTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of linux/posix-timers.h
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &ts); err != nil {
		if errors.Is(err, unix.EINVAL) { // the kernel's error for a pid that no longer exists
			err = unix.ESRCH
		}
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}
