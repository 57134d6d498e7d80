package goruntime

import (
	"bytes"
	"fmt"
	"os"
)

// processIdentity returns a mark that distinguishes a process of this host from one that
// has its id later: when it started, and where its stack begins, which execve(2)
// chooses anew while the start stays. It is "" for an unknown process, or on a system
// without /proc. Fields 22 and 28 of /proc/PID/stat, proc(5).
func processIdentity(pid int) string {
	if pid <= 0 {
		return ""
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field, a name in parentheses, may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const start, stack = 22 - 3, 28 - 3
	if len(fields) <= stack {
		return ""
	}
	return string(fields[start]) + " " + string(fields[stack])
}
