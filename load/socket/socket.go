package socket

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix" // raw sockets
)

// ErrAgain means that the socket has nothing to read, or no room to write (EAGAIN).
const ErrAgain = unix.EAGAIN

// Connect starts a connection attempt, from the local address source if that is valid, and
// returns the socket at once. The socket becomes writable when the attempt ends; Connected
// returns the result.
func Connect(to netip.AddrPort, source netip.Addr) (fd int, err error) {
	family := unix.AF_INET
	if to.Addr().Unmap().Is6() {
		family = unix.AF_INET6
	}
	if fd, err = open(family); err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	if err := connect(fd, to, source); err != nil {
		_ = unix.Close(fd) // it never connected
		return -1, err
	}
	return fd, nil
}

func connect(fd int, to netip.AddrPort, source netip.Addr) error {
	// Small writes go out at once, as in every load generator.
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fmt.Errorf("TCP_NODELAY: %w", err)
	}
	if source.IsValid() {
		shareLocalPorts(fd)
		if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(source, 0))); err != nil {
			return fmt.Errorf("bind to %s: %w", source, err)
		}
	}
	if err := unix.Connect(fd, sockaddr(to)); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return fmt.Errorf("connect to %s: %w", to, err)
	}
	return nil
}

func sockaddr(p netip.AddrPort) unix.Sockaddr {
	addr := p.Addr().Unmap()
	if addr.Is4() {
		return &unix.SockaddrInet4{Port: int(p.Port()), Addr: addr.As4()}
	}
	return &unix.SockaddrInet6{Port: int(p.Port()), Addr: addr.As16()}
}

// Connected returns the error of a connection attempt; nil if it succeeded.
func Connected(fd int, to netip.AddrPort) error {
	errno, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	if err != nil {
		return fmt.Errorf("connect to %s: %w", to, err)
	}
	return nil
}

// Close closes a socket.
func Close(fd int) { _ = unix.Close(fd) } // nothing can be done about an error

// wait blocks the calling thread until fd is readable, or writable if write,
// for at most d milliseconds. It is for handshakes.
func wait(fd int, write bool, milliseconds int) error {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if write {
		p[0].Events = unix.POLLOUT
	}
	for {
		n, err := unix.Poll(p, milliseconds)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return fmt.Errorf("poll: %w", err)
		case n == 0:
			return unix.ETIMEDOUT
		default:
			return nil
		}
	}
}
