//go:build !linux

package loadtest

import (
	"net"
	"time"
)

// awaitSent gives the peer's kernel the time to take the bytes written to c,
// where it cannot be asked.
func awaitSent(*net.TCPConn) { time.Sleep(20 * time.Millisecond) }

// cork is for Linux; elsewhere a request may come between an answer and the end.
func cork(*net.TCPConn) {}
