package loadtest

import (
	"net"

	"golang.org/x/sys/unix" // ioctl: whether the peer has everything
)

// awaitSent returns once the peer's kernel has all that was written to c.
func awaitSent(c *net.TCPConn) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	for left := 1; left > 0; {
		if raw.Control(func(fd uintptr) {
			if left, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err != nil {
				left = 0
			}
		}) != nil {
			return
		}
	}
}
