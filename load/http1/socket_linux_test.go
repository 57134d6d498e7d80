package http1

import (
	"net"

	"golang.org/x/sys/unix"
)

// awaitSent returns once the peer's kernel has all that was written to c.
func awaitSent(c *net.TCPConn) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	for pending := 1; pending > 0; {
		raw.Control(func(fd uintptr) {
			if pending, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err != nil {
				pending = 0
			}
		})
	}
}
