//go:build !linux

package gobench

import "syscall"

// groupAttributes puts a launch into a process group of its own.
func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
