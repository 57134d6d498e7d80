//go:build linux || darwin

package auto

import "syscall"

// running reports whether a process exists: one that we may not signal (EPERM)
// does.
func running(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
