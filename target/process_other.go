//go:build !linux

package target

import "syscall"

// groupAttributes puts the target in a process group of its own. There is no
// parent-death signal here: a redline that is killed leaves the target running.
func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
