package loadtest

import (
	"net"

	"golang.org/x/sys/unix" // ioctl: whether the peer has everything; TCP_CORK
)

// cork holds back bytes written to c until it is closed, or 200 ms.
func cork(c *net.TCPConn) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_CORK, 1) // without it a request may fail
		})
	}
}

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
