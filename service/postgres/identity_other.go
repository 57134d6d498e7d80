//go:build !linux

package postgres

import (
	"os"
	"syscall"
)

// nobodyID is the user that owns nothing on the BSDs and macOS.
const nobodyID = 65534

// identities lists the users as whom the server can run. The guardian ends a server that
// root runs as nobody like any other.
func identities() []identity {
	if os.Geteuid() != 0 {
		return []identity{{name: "this user", uid: -1, gid: -1, attr: &syscall.SysProcAttr{}}}
	}
	return []identity{{
		name: "nobody", uid: nobodyID, gid: nobodyID,
		attr: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodyID, Gid: nobodyID}},
	}}
}
