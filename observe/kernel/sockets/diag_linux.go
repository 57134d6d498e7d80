package sockets

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// dumpRequest is TCPDIAG_GETSOCK. Its successor SOCK_DIAG_BY_FAMILY dumps
	// one address family at a time and walks the whole table for each; this
	// one walks it once for both.
	dumpRequest = 18
	// requestSize is the size of struct inet_diag_req, its request.
	requestSize = 60
	// readSize is the size of one read; the kernel fills up to 32 KB at once.
	readSize = 64 << 10
	// maxReads bounds one dump: some 16,000 connections, or ten times as many
	// sockets in TIME_WAIT.
	maxReads = 256
)

// diag is a netlink socket in the target's network namespace.
type diag struct {
	fd  int
	seq uint32
	buf []byte
}

func openDiag() (*diag, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("open sock_diag: %w", err)
	}
	// The kernel answers within the call; this only keeps a mistake from
	// hanging the source.
	timeout := unix.NsecToTimeval(int64(time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("open sock_diag: %w", err)
	}
	return &diag{fd: fd, buf: make([]byte, readSize)}, nil
}

func (d *diag) close() { _ = unix.Close(d.fd) } // nothing is written through it that could be lost

// dump calls f with all TCP sockets in the states of the mask (bit n stands for
// state n), with TCP_INFO if informed. It returns the CPU time that took, most
// of it the kernel's; the wall clock would count a busy host's own work too.
// whole is false when there were more sockets than are read; the diag must then
// be closed, since the kernel goes on with a dump as long as the socket lives.
func (d *diag) dump(states uint32, informed bool, f func(*socket)) (cost time.Duration, whole bool, err error) {
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	before := threadCPU()
	whole, err = d.exchange(states, informed, f)
	return threadCPU() - before, whole, err
}

func (d *diag) exchange(states uint32, informed bool, f func(*socket)) (whole bool, err error) {
	d.seq++
	if err := d.send(dumpMessage(d.seq, states, informed)); err != nil {
		return false, err
	}
	for reads := 0; ; reads++ {
		n, err := d.receive()
		if err != nil {
			return false, err
		}
		done, err := parseMessages(d.buf[:n], d.seq, f)
		if done || err != nil {
			return true, err
		}
		if reads == maxReads {
			return false, nil
		}
	}
}

// one asks for one socket, by its addresses and cookie, and leaves what it finds
// in s. It walks no table.
func (d *diag) one(s *socket) error {
	d.seq++
	message, body := header(unix.SOCK_DIAG_BY_FAMILY, unix.NLM_F_REQUEST, d.seq, requestSize-4)
	// struct inet_diag_req_v2: family, protocol, extensions, states, identity.
	body[0], body[1] = unix.AF_INET, unix.IPPROTO_TCP
	if s.local.Addr().Is6() {
		body[0] = unix.AF_INET6
	}
	binary.NativeEndian.PutUint32(body[4:], 1<<s.state)
	s.identity(body[8:])
	if err := d.send(message); err != nil {
		return err
	}
	n, err := d.receive()
	if err != nil {
		return err
	}
	found := false
	_, err = parseMessages(d.buf[:n], d.seq, func(answer *socket) { *s, found = *answer, true })
	if err == nil && !found {
		err = unix.ENOENT
	}
	return err
}

func (d *diag) send(message []byte) error {
	if err := unix.Sendto(d.fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("ask sock_diag: %w", err)
	}
	return nil
}

// receive reads once into the buffer.
func (d *diag) receive() (n int, err error) {
	for {
		n, _, err = unix.Recvfrom(d.fd, d.buf, 0)
		if err == nil {
			return n, nil
		}
		if err != unix.EINTR {
			return 0, fmt.Errorf("read sock_diag: %w", err)
		}
	}
}

// header makes a netlink message with an empty body.
func header(kind, flags uint16, seq uint32, size int) (message, body []byte) {
	message = make([]byte, unix.NLMSG_HDRLEN+size)
	binary.NativeEndian.PutUint32(message, uint32(len(message)))
	binary.NativeEndian.PutUint16(message[4:], kind)
	binary.NativeEndian.PutUint16(message[6:], flags)
	binary.NativeEndian.PutUint32(message[8:], seq)
	return message, message[unix.NLMSG_HDRLEN:]
}

// dumpMessage makes a netlink message with a struct inet_diag_req.
func dumpMessage(seq, states uint32, informed bool) []byte {
	message, body := header(dumpRequest, unix.NLM_F_REQUEST|unix.NLM_F_DUMP, seq, requestSize)
	body[0] = unix.AF_INET
	if informed {
		body[3] = 1 << (infoAttr - 1)
	}
	binary.NativeEndian.PutUint32(body[52:], states)
	return message
}

func threadCPU() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
