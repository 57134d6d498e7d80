//go:build !linux

package postgres

import (
	"os"
	"syscall"
)

// nobody is the user that owns nothing. PgBouncer refuses to run as root.
const nobody = 65534

// asNobody returns attributes of a process that runs without root's rights.
func asNobody() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return attr
}
