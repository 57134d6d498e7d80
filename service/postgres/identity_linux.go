package postgres

import (
	"os"
	"syscall"
)

// nobodyID is Linux's overflow user, which owns nothing.
const nobodyID = 65534

// unprivilegedID is root's id inside the user namespace; any number
// but 0 will do.
const unprivilegedID = 1000

// identities lists the users as whom the server can run, best first. Whether user
// namespaces are permitted is only known by trying.
func identities() []identity {
	if os.Geteuid() != 0 {
		return []identity{{name: "this user", uid: -1, gid: -1, attr: &syscall.SysProcAttr{}}}
	}
	return []identity{
		{
			name: "root in a user namespace", uid: -1, gid: -1,
			attr: &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: unprivilegedID, HostID: 0, Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: unprivilegedID, HostID: 0, Size: 1}},
			},
		},
		{
			name: "nobody", uid: nobodyID, gid: nobodyID,
			attr: &syscall.SysProcAttr{
				Credential: &syscall.Credential{Uid: nobodyID, Gid: nobodyID},
			},
		},
	}
}
