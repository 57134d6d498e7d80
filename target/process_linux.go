package target

import "syscall"

// groupAttributes puts the target in a process group of its own and lets the
// kernel end it when redline dies without a chance to (SIGKILL, OOM).
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
