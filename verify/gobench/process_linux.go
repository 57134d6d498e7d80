package gobench

import "syscall"

// groupAttributes puts a launch into a process group of its own, and lets the
// kernel end it when redline dies without a chance to.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
