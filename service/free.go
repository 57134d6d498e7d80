package service

import "net"

// FreeAddress returns host:port of an address of this host that had no listener
// a moment ago. Somebody else may take it before it is used.
func FreeAddress(host string) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
