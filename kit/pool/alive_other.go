//go:build !unix

package pool

import (
	"context"
	"net"
)

// SocketAlive is a Check for plain sockets. On this system it passes all.
func SocketAlive[C net.Conn](context.Context, C) error { return nil }
