//go:build unix

package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// errUnread reports bytes that nobody has asked for: the answer to an earlier request,
// or a farewell of the peer.
var errUnread = errors.New("pool: the idle connection has unread data")

// SocketAlive is a Check for plain sockets: it peeks at the socket without waiting, and
// reports one that the peer has closed or that holds unread data. It does not see a peer
// that has vanished without closing, and is not for TLS, where unread data may be the
// protocol's own. A connection that is no socket passes unchecked.
func SocketAlive[C net.Conn](_ context.Context, conn C) error {
	sock, ok := any(conn).(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sock.SyscallConn()
	if err != nil {
		return fmt.Errorf("pool: %w", err)
	}
	var verdict error
	err = raw.Control(func(fd uintptr) {
		verdict = peek(int(fd))
	})
	if err != nil {
		return fmt.Errorf("pool: %w", err)
	}
	return verdict
}

// peek looks at one byte; recv(2) with MSG_PEEK and MSG_DONTWAIT.
func peek(fd int) error {
	var one [1]byte
	for {
		n, _, err := syscall.Recvfrom(fd, one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN || err == syscall.EWOULDBLOCK:
			return nil
		case err != nil:
			return fmt.Errorf("pool: %w", err)
		case n == 0:
			return fmt.Errorf("pool: the peer closed the idle connection: %w", io.EOF)
		default:
			return errUnread
		}
	}
}
