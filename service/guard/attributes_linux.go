package guard

import "syscall"

// endWithParent has the kernel end a command if its parent dies without a chance to do
// so itself (SIGKILL, OOM).
func endWithParent(attr *syscall.SysProcAttr, s syscall.Signal) { attr.Pdeathsig = s }
