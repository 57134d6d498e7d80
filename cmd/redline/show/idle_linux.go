package show

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// yieldCPU makes this process use only idle CPU. Both policies are per thread, and a new thread inherits those
// of its creator; what is not permitted stays as it is.
func yieldCPU() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		_ = unix.Setpriority(unix.PRIO_PROCESS, id, 19)
		_ = unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
	}
}
