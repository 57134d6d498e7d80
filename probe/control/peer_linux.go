package control

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// welcome returns a function that reports whether the other end of a connection to
// the socket at path may send requests: the target's own user may, root, and the
// owner of the directory, which redline made. The kernel noted the user at the
// connect (SO_PEERCRED, unix(7)).
//
// The permissions of the directory and the socket ensure the same, but a tool or a
// umask may open them to others.
func welcome(path string) func(net.Conn) bool {
	owner := -1
	if info, err := os.Stat(filepath.Dir(path)); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			owner = int(st.Uid)
		}
	}
	return func(c net.Conn) bool {
		u, ok := c.(*net.UnixConn)
		if !ok {
			return false
		}
		raw, err := u.SyscallConn()
		if err != nil {
			return false
		}
		var peer *syscall.Ucred
		ask := func(fd uintptr) {
			peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		}
		if failed := raw.Control(ask); failed != nil || err != nil {
			return false
		}
		uid := int(peer.Uid)
		return uid == 0 || uid == os.Geteuid() || uid == os.Getuid() || uid == owner
	}
}
