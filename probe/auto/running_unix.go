//go:build linux || darwin

package auto

import "syscall"

// running reports whether a process exists. One that may not be signalled
// does.
func running(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
