package guard

import "syscall"

// endWithParent lets the kernel end a command when its parent dies without a
// chance to (SIGKILL, OOM).
func endWithParent(attr *syscall.SysProcAttr, s syscall.Signal) { attr.Pdeathsig = s }
