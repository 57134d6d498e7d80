// Package port chooses addresses for servers that redline starts: the second side of a
// service, redline's own database, a test's.
package port

import (
	"fmt"
	"net"
)

// Reserve returns host:port of an address of this host without a listener. On Linux the
// kernel gives the port to nobody else while this process lives, neither to a listener on
// port 0 nor to an outgoing connection; a server that asks for this very port gets it.
// Elsewhere the port was free a moment ago.
func Reserve(host string) (string, error) {
	address, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	if err := reserve(address); err != nil {
		return "", fmt.Errorf("find a free port of %s: %w", address.IP, err)
	}
	return address.String(), nil
}
