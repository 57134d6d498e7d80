//go:build !linux

package guard

import "syscall"

// endWithParent does nothing: there is no parent-death signal here.
func endWithParent(*syscall.SysProcAttr, syscall.Signal) {}
