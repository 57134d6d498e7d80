//go:build !linux

package control

import "net"

// welcome returns what reports whether the other end of a connection may ask.
// The standard library does not say here who that is: the permissions of the
// directory, which redline makes for its user alone, keep others out.
func welcome(string) func(net.Conn) bool { return func(net.Conn) bool { return true } }
