package socket

import (
	"unsafe"

	"golang.org/x/sys/unix" // raw sockets
)

func open(family int) (int, error) {
	return unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
}

// shareLocalPorts leaves the choice of a bound socket's port to connect, which
// knows the other end and so may use a port once per destination (ip(7),
// IP_BIND_ADDRESS_NO_PORT).
func shareLocalPorts(fd int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1) // an optimisation
}

// Read reads bytes that have arrived; 0 is the end of the stream. b must not be empty.
// The error is ErrAgain when nothing has.
// RawSyscall6, because the call never blocks (MSG_DONTWAIT): Go's scheduler need not know
// of it.
func Read(fd int, b []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])),
			uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, ErrAgain
		default:
			return 0, errno
		}
	}
}

// Write writes as much as there is room for. b must not be empty. The error is
// ErrAgain when there is none.
func Write(fd int, b []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, ErrAgain
		default:
			return 0, errno
		}
	}
}
