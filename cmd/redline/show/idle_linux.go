package show

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// yieldCPU gives this process the CPU that nobody else wants. Both policies are of a thread, and a new thread
// has those of the one that made it; what is not permitted is left as it is.
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
