package serving_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/lab/micro"
)

// Of include/uapi/linux/io_uring.h.
const (
	opSend, opRecv = 26, 27
	offSQ          = 0
	offCQ          = 0x8000000
	offSQEs        = 0x10000000
	getEvents      = 1
)

type (
	ringOffsets struct {
		head, tail, mask, entries, a, b, c, _ uint32
		_                                     uint64
	}
	ringParams struct {
		sqEntries, cqEntries, flags, _, _, features, _ uint32
		_                                              [3]uint32
		sq, cq                                         ringOffsets // a, b, c: flags, dropped, array; overflow, cqes, flags
	}
	submission struct {
		op, flags uint8
		_         uint16
		fd        int32
		_         uint64
		addr      uint64
		len       uint32
		msgFlags  uint32
		data      uint64
		_         [3]uint64
	}
	completion struct {
		data uint64
		res  int32
		_    uint32
	}
)

// uring is a ring of the kernel's, for one thread.
type uring struct {
	fd             int
	maps           [][]byte
	sqTail, cqHead *uint32
	cqTail         *uint32
	sqMask, cqMask uint32
	array          []uint32
	sqes           []submission
	cqes           []completion
	queued         uint32
}

// newURing returns an error where the kernel has no rings, or lets this process have none.
func newURing(entries uint32) (*uring, error) {
	var p ringParams
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(entries), uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, errno
	}
	r := &uring{fd: int(fd)}
	at := func(offset int64, size uint32) []byte {
		m, err := unix.Mmap(r.fd, offset, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
		if err != nil {
			panic(fmt.Errorf("map the ring: %w", err)) // the kernel has just sized it
		}
		r.maps = append(r.maps, m)
		return m
	}
	sq := at(offSQ, p.sq.c+p.sqEntries*4)
	cq := at(offCQ, p.cq.b+p.cqEntries*uint32(unsafe.Sizeof(completion{})))
	sqes := at(offSQEs, p.sqEntries*uint32(unsafe.Sizeof(submission{})))
	word := func(m []byte, offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&m[offset])) }
	r.sqTail, r.cqHead, r.cqTail = word(sq, p.sq.tail), word(cq, p.cq.head), word(cq, p.cq.tail)
	r.sqMask, r.cqMask = *word(sq, p.sq.mask), *word(cq, p.cq.mask)
	r.array = unsafe.Slice(word(sq, p.sq.c), p.sqEntries)
	r.sqes = unsafe.Slice((*submission)(unsafe.Pointer(&sqes[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*completion)(unsafe.Pointer(&cq[p.cq.b])), p.cqEntries)
	return r, nil
}

func (r *uring) close() {
	for _, m := range r.maps {
		_ = unix.Munmap(m)
	}
	_ = unix.Close(r.fd)
}

// push queues a receive or send of the whole buffer, which must not be on a stack.
func (r *uring) push(op uint8, fd int, buf []byte, data uint64) {
	tail := *r.sqTail
	slot := tail & r.sqMask
	at := uint64(uintptr(unsafe.Pointer(&buf[0])))
	r.sqes[slot] = submission{op: op, fd: int32(fd), addr: at, len: uint32(len(buf)), msgFlags: unix.MSG_WAITALL, data: data}
	r.array[slot] = slot
	atomic.StoreUint32(r.sqTail, tail+1) // the kernel reads the entry after it sees this
	r.queued++
}

// wait submits what is queued, and hands on what is complete: at least one.
func (r *uring) wait(done func(completion)) error {
	for {
		n, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(r.queued), 1, getEvents, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return errno
		}
		r.queued -= uint32(n)
		break
	}
	head := *r.cqHead
	for tail := atomic.LoadUint32(r.cqTail); head != tail; head++ {
		done(r.cqes[head&r.cqMask])
	}
	atomic.StoreUint32(r.cqHead, head)
	return nil
}

// message is what a client sends and gets back.
const message = 4 << 10

// ringEcho echoes messages on all sockets from one thread until their clients have gone.
func ringEcho(r *uring, fds []int) error {
	memory, err := unix.Mmap(-1, 0, len(fds)*message, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(memory) }()
	buf := func(i int) []byte { return memory[i*message : (i+1)*message] }
	for i, fd := range fds {
		r.push(opRecv, fd, buf(i), uint64(2*i))
	}
	for open := len(fds); open > 0; {
		err := r.wait(func(c completion) {
			i, sent := int(c.data/2), c.data%2 == 1
			switch {
			case c.res != message:
				open--
			case sent:
				r.push(opRecv, fds[i], buf(i), uint64(2*i))
			default:
				r.push(opSend, fds[i], buf(i), uint64(2*i+1))
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pollEcho does the same by epoll. Messages are small against the sockets' buffers, so
// that a write takes them whole.
func pollEcho(fds []int) error {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(poll) }()
	for i, fd := range fds {
		if err := unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}); err != nil {
			return err
		}
	}
	events, buf := make([]unix.EpollEvent, 64), make([]byte, message)
	for open := len(fds); open > 0; {
		n, err := unix.EpollWait(poll, events, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range events[:n] {
			fd := fds[e.Fd]
			n, err := unix.Read(fd, buf)
			if err == unix.EAGAIN {
				continue
			}
			if n <= 0 {
				open--
				if err := unix.EpollCtl(poll, unix.EPOLL_CTL_DEL, fd, nil); err != nil {
					return err
				}
				continue
			}
			if m, err := unix.Write(fd, buf[:n]); m != n {
				return fmt.Errorf("%d of %d bytes are written: %w", m, n, err)
			}
		}
	}
	return nil
}

// sockets makes n pairs of connected sockets over loopback: the server's, and the
// clients'.
func sockets(tb testing.TB, n int, flags int) (servers []int, conns []net.Conn) {
	tb.Helper()
	l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = unix.Close(l) }()
	if err := unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		tb.Fatal(err)
	}
	if err := unix.Listen(l, 128); err != nil {
		tb.Fatal(err)
	}
	name, err := unix.Getsockname(l)
	if err != nil {
		tb.Fatal(err)
	}
	for range n {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port))
		if err != nil {
			tb.Fatal(err)
		}
		fd, _, err := unix.Accept4(l, flags|unix.SOCK_CLOEXEC)
		if err != nil {
			tb.Fatal(err)
		}
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
			tb.Fatal(err)
		}
		servers, conns = append(servers, fd), append(conns, conn)
	}
	return servers, conns
}

// echo runs a server over n connections and returns a caller for each. done closes all.
func echo(tb testing.TB, n int, ring bool) (callers []func() error, done func()) {
	tb.Helper()
	flags, serve := unix.SOCK_NONBLOCK, pollEcho
	if ring {
		r, err := newURing(uint32(2 * n))
		if err != nil {
			tb.Skipf("io_uring: %v (hint: Linux 5.6 or newer, kernel.io_uring_disabled=0, and a seccomp profile that allows it)", err)
		}
		flags, serve = 0, func(fds []int) error {
			defer r.close()
			return ringEcho(r, fds)
		}
	}
	fds, conns := sockets(tb, n, flags)
	ended := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the server
		ended <- serve(fds)
	}()
	for i, conn := range conns {
		want, got := bytes.Repeat([]byte{byte('a' + i)}, message), make([]byte, message)
		callers = append(callers, func() error {
			if _, err := conn.Write(want); err != nil {
				return err
			}
			if _, err := io.ReadFull(conn, got); err != nil {
				return err
			}
			if !bytes.Equal(got, want) {
				return errBody
			}
			return nil
		})
	}
	return callers, func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}
}

// BenchmarkIOURing exchanges messages of 4 KB over 16 connections with a thread that
// echoes them by epoll, or by io_uring.
func BenchmarkIOURing(b *testing.B) {
	callers, done := echo(b, 16, micro.Of(false, true))
	together(b, callers)
	done()
}

func TestIOURing(t *testing.T) {
	for _, ring := range []bool{false, true} {
		t.Run(fmt.Sprintf("ring=%v", ring), func(t *testing.T) {
			callers, done := echo(t, 16, ring)
			for range 3 {
				for _, call := range callers {
					if err := call(); err != nil {
						t.Fatal(err)
					}
				}
			}
			done()
		})
	}
}
