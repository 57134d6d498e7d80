package postgres

import (
	"os"
	"syscall"
)

// nobody is Linux's overflow user. PgBouncer refuses to run as root.
const nobody = 65534

// asNobody returns attributes of a process that runs without root's rights and
// dies with this one.
func asNobody() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return attr
}
