//go:build !linux

package port

import "net"

// reserve writes a port into the address that was free a moment ago.
func reserve(address *net.TCPAddr) error {
	l, err := net.ListenTCP("tcp", address)
	if err != nil {
		return err
	}
	address.Port = l.Addr().(*net.TCPAddr).Port
	return l.Close()
}
