//go:build darwin || freebsd

package socket

import "golang.org/x/sys/unix" // raw sockets

func open(family int) (int, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM, unix.IPPROTO_TCP)
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(fd)
	if err = unix.SetNonblock(fd, true); err == nil {
		// If the peer is gone, the write returns an error instead of raising a signal.
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_NOSIGPIPE, 1)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func shareLocalPorts(int) {}

// Read reads bytes that have arrived; 0 is the end of the stream. b must not be empty.
// The error is ErrAgain when nothing has.
func Read(fd int, b []byte) (int, error) {
	for {
		n, err := unix.Read(fd, b)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// Write writes as much as there is room for. b must not be empty. The error is
// ErrAgain when there is none.
func Write(fd int, b []byte) (int, error) {
	for {
		n, err := unix.Write(fd, b)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}
