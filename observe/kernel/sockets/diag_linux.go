package sockets

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/record/timebase"
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
	// filterAttr is INET_DIAG_REQ_BYTECODE.
	filterAttr = 1
)

// diag is a netlink socket in the target's network namespace.
type diag struct {
	fd    int
	seq   uint32
	clock timebase.Clock
	buf   []byte // of one read
	out   []byte // the request
}

// openDiag opens a socket of NETLINK_SOCK_DIAG (sock_diag(7)), in the network namespace
// of the calling thread.
func openDiag(clock timebase.Clock) (*diag, error) {
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
	return &diag{fd: fd, clock: clock, buf: make([]byte, readSize)}, nil
}

// close ends the socket.
func (d *diag) close() { _ = unix.Close(d.fd) } // nothing is written through it that could be lost

// query selects the sockets to dump.
type query struct {
	states   uint32 // bit n is for state n
	informed bool   // with TCP_INFO
	filter   []byte // of portFilter; nil for all
}

// dump calls f with each TCP socket that the query selects, and with when the
// kernel looked at it: the span of that system call, one of many for thousands of
// sockets, so that each socket has its own date. It returns the CPU time that this
// took, most of it the kernel's; the wall clock would count other work of a busy
// host too. whole is false if there were more sockets than are read; the diag must
// then be closed, because the kernel continues a dump as long as the socket lives.
func (d *diag) dump(q query, f func(*socket, timebase.Span)) (cost time.Duration, whole bool, err error) {
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	before := ThreadCPU()
	whole, err = d.exchange(q, f)
	return ThreadCPU() - before, whole, err
}

// exchange sends the request and reads the answer part by part.
//
// Subtle: the kernel prepares the first part during the send, and each further
// one while the part before it is read (netlink_dump in netlink_recvmsg). So the result
// of a read belongs to the previous call.
func (d *diag) exchange(q query, f func(*socket, timebase.Span)) (whole bool, err error) {
	d.seq++
	d.writeDump(q)
	looked := timebase.Span{From: d.clock.Now()}
	if err := d.send(d.out); err != nil {
		return false, err
	}
	looked.To = d.clock.Now()
	for reads := 0; ; reads++ {
		next := timebase.Span{From: d.clock.Now()}
		n, err := d.receive()
		if err != nil {
			return false, err
		}
		next.To = d.clock.Now()
		done, err := parseMessages(d.buf[:n], d.seq, func(s *socket) { f(s, looked) })
		if done || err != nil {
			return true, err
		}
		if reads == maxReads {
			return false, nil
		}
		looked = next
	}
}

// one asks for one socket, by its addresses and cookie, and stores the answer in s. It
// makes the kernel walk no table.
func (d *diag) one(s *socket) error {
	d.seq++
	body := d.begin(unix.SOCK_DIAG_BY_FAMILY, unix.NLM_F_REQUEST, requestSize-4)
	// struct inet_diag_req_v2: family, protocol, extensions, states, identity.
	body[0], body[1] = unix.AF_INET, unix.IPPROTO_TCP
	if s.local.Addr().Is6() {
		body[0] = unix.AF_INET6
	}
	binary.NativeEndian.PutUint32(body[4:], 1<<s.state)
	s.identity(body[8:])
	if err := d.send(d.out); err != nil {
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

// send passes a request to the kernel, which answers before the call returns.
func (d *diag) send(message []byte) error {
	if err := unix.Sendto(d.fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("ask sock_diag: %w", err)
	}
	return nil
}

// receive reads once into the buffer.
func (d *diag) receive() (n int, err error) {
	for {
		n, err = unix.Read(d.fd, d.buf) // Recvfrom would allocate the address
		if err == nil {
			return n, nil
		}
		if err != unix.EINTR {
			return 0, fmt.Errorf("read sock_diag: %w", err)
		}
	}
}

// begin begins a new request with a netlink header, and returns its body, all
// zeros.
func (d *diag) begin(kind, flags uint16, size int) (body []byte) {
	total := unix.NLMSG_HDRLEN + size
	if cap(d.out) < total {
		d.out = make([]byte, total)
	}
	d.out = d.out[:total]
	clear(d.out)
	binary.NativeEndian.PutUint32(d.out, uint32(total))
	binary.NativeEndian.PutUint16(d.out[4:], kind)
	binary.NativeEndian.PutUint16(d.out[6:], flags)
	binary.NativeEndian.PutUint32(d.out[8:], d.seq)
	return d.out[unix.NLMSG_HDRLEN:]
}

// writeDump writes a request with a struct inet_diag_req and the filter.
func (d *diag) writeDump(q query) {
	size := requestSize
	if q.filter != nil {
		size += attrHeader + len(q.filter)
	}
	body := d.begin(dumpRequest, unix.NLM_F_REQUEST|unix.NLM_F_DUMP, size)
	body[0] = unix.AF_INET
	if q.informed {
		body[3] = 1 << (infoAttr - 1)
	}
	binary.NativeEndian.PutUint32(body[52:], q.states)
	if q.filter != nil {
		attr := body[requestSize:]
		binary.NativeEndian.PutUint16(attr, uint16(len(attr)))
		binary.NativeEndian.PutUint16(attr[2:], filterAttr)
		copy(attr[attrHeader:], q.filter)
	}
}

// ThreadCPU returns the CPU time of the calling thread, which includes the kernel's walk; 0
// if it is unknown. The pace of sampling is based on it.
func ThreadCPU() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
