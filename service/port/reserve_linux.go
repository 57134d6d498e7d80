package port

import (
	"net"

	"golang.org/x/sys/unix"
)

// reserve binds a socket to a port of the kernel's choice, writes that into the address
// and keeps the socket. Because it never listens and allows reuse, a server that binds
// exactly this port with SO_REUSEADDR, as Go and nearly all servers do, may listen on it.
func reserve(address *net.TCPAddr) error {
	family, name := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Addr: [16]byte(address.IP.To16())})
	if ip := address.IP.To4(); ip != nil {
		family, name = unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte(ip)}
	}
	socket, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := bind(socket, name, address); err != nil {
		unix.Close(socket)
		return err
	}
	return nil
}

func bind(socket int, name unix.Sockaddr, address *net.TCPAddr) error {
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return err
	}
	if err := unix.Bind(socket, name); err != nil {
		return err
	}
	bound, err := unix.Getsockname(socket)
	if err != nil {
		return err
	}
	switch bound := bound.(type) {
	case *unix.SockaddrInet4:
		address.Port = bound.Port
	case *unix.SockaddrInet6:
		address.Port = bound.Port
	}
	return nil
}
