//go:build linux

package serve

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix" // epoll and raw sockets: the whole server stalls, not a goroutine of it
)

// stallServer answers HTTP/1.1 from one thread, and stops altogether on
// schedule: while it sleeps it neither reads nor accepts, and afterwards it
// serves the backlog. It prints every stall as it was, in monotonic ns.
type stallServer struct {
	epoll, listener int
	seen            map[int]int // by descriptor: bytes of the blank line at the end of the last read
	buffer          []byte
}

var blankLine = []byte("\r\n\r\n")

// StallAnswer is what the server sends for each request, header and body.
var StallAnswer = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")

// Stall serves until the process is ended. Arguments: how often it
// stalls, from one begin to the next, and for how long.
func Stall(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: serve-stall EVERY FOR")
	}
	every, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	length, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	s := &stallServer{seen: map[int]int{}, buffer: make([]byte, 64<<10)}
	if err := s.listen(); err != nil {
		return err
	}
	for next := Monotonic() + every; ; next += every {
		if err := s.serveUntil(next); err != nil {
			return err
		}
		begin := Monotonic()
		time.Sleep(length)
		fmt.Println(int64(begin), int64(Monotonic()))
	}
}

// Monotonic is CLOCK_MONOTONIC, which all processes share.
func Monotonic() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano())
}

func (s *stallServer) listen() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(fd, 1024); err != nil {
		return err
	}
	s.listener = fd
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if err := s.watch(fd); err != nil {
		return err
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	fmt.Printf("127.0.0.1:%d\n", name.(*unix.SockaddrInet4).Port)
	return nil
}

func (s *stallServer) watch(fd int) error {
	return unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// serveUntil answers requests until the clock shows end.
func (s *stallServer) serveUntil(end time.Duration) error {
	events := make([]unix.EpollEvent, 128)
	for {
		left := end - Monotonic()
		if left <= 0 {
			return nil
		}
		n, err := unix.EpollWait(s.epoll, events, int(left/time.Millisecond)+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			if int(e.Fd) == s.listener {
				s.accept()
			} else {
				s.answer(int(e.Fd))
			}
		}
	}
}

func (s *stallServer) accept() {
	for {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return // none waits, or it has gone
		}
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		if s.watch(fd) != nil {
			unix.Close(fd)
		}
	}
}

// answer reads once and answers each request whose head ended; requests have
// no body.
func (s *stallServer) answer(fd int) {
	n, err := unix.Read(fd, s.buffer)
	if n <= 0 {
		if !errors.Is(err, unix.EAGAIN) {
			delete(s.seen, fd)
			unix.Close(fd)
		}
		return
	}
	heads, seen := countHeads(s.buffer[:n], s.seen[fd])
	s.seen[fd] = seen
	if heads > 0 {
		unix.Write(fd, bytes.Repeat(StallAnswer, heads)) // far below a socket's capacity
	}
}

// countHeads counts the blank lines that end in data, the first of which may have seen
// bytes before it, and returns how many bytes of the next one are at the end of data.
func countHeads(data []byte, seen int) (heads, next int) {
	for _, c := range data {
		switch {
		case c == blankLine[seen]:
			seen++
		case c == '\r':
			seen = 1
		default:
			seen = 0
		}
		if seen == len(blankLine) {
			heads, seen = heads+1, 0
		}
	}
	return heads, seen
}
