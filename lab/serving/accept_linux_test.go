package serving_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/lab/micro"
)

// backlogged listens with a backlog of its own; the kernel caps it at net.core.somaxconn.
func backlogged(tb testing.TB, backlog int) net.Listener {
	tb.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		tb.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "listener")
	defer file.Close() // FileListener has a copy
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, backlog)); err != nil {
		tb.Fatal(err)
	}
	l, err := net.FileListener(file)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

// queue is the length of a listener's accept queue, which the kernel tells in place of
// tcpi_sacked (struct tcp_info in linux/tcp.h) for a listener.
func queue(tb testing.TB, l net.Listener) int {
	tb.Helper()
	raw, err := l.(syscall.Conn).SyscallConn()
	if err != nil {
		tb.Fatal(err)
	}
	var info *unix.TCPInfo
	var got error
	err = raw.Control(func(fd uintptr) { info, got = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if err := errors.Join(err, got); err != nil {
		tb.Fatal(err)
	}
	return int(info.Sacked)
}

const (
	arrivals = 128
	// dialled is how long a client of the burst waits; the kernel of one that was not let
	// in sends its SYN again after a second.
	dialled = 200 * time.Millisecond
	// drained is how long a queue that yields nothing is taken for empty.
	drained = 50 * time.Millisecond
)

// BenchmarkBacklog reports how many of 128 clients that come at once, while the server
// does not accept, are not connected in time.
func BenchmarkBacklog(b *testing.B) {
	l := backlogged(b, micro.Of(16, 4096))
	refused := 0
	for b.Loop() {
		refused += flood(b, l, dialled)
	}
	b.ReportMetric(float64(refused)/float64(b.N), "failed/op")
}

// flood connects clients that nobody accepts yet, accepts those whose connection is there,
// and returns the number of the others.
func flood(tb testing.TB, l net.Listener, limit time.Duration) int {
	tb.Helper()
	var mu sync.Mutex
	var conns []net.Conn
	var all sync.WaitGroup
	for range arrivals {
		all.Go(func() {
			conn, err := net.DialTimeout("tcp", l.Addr().String(), limit)
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
		})
	}
	all.Wait()
	// The kernel drops a client's last segment of the handshake where the queue is full:
	// that client believes that it is connected, and is not here to be accepted.
	accepted := 0
	for ; accepted < len(conns); accepted++ {
		if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(drained)); err != nil {
			tb.Fatal(err)
		}
		conn, err := l.Accept()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		_ = conn.Close()
	}
	for _, conn := range conns {
		_ = conn.(*net.TCPConn).SetLinger(0) // an abort leaves nothing that the next burst would meet
		_ = conn.Close()
	}
	return arrivals - accepted
}

// TestBacklog: a short queue refuses most of a burst and a long one none; 65535 is cut to
// net.core.somaxconn; and Go asks for that by itself, so that there is nothing to set.
func TestBacklog(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	if err != nil {
		t.Fatal(err)
	}
	var most int
	if _, err := fmt.Sscan(string(text), &most); err != nil {
		t.Fatal(err)
	}
	if refused := flood(t, backlogged(t, 16), dialled); refused < arrivals/2 {
		t.Errorf("a queue of 16 refused %d of %d", refused, arrivals)
	}
	if most >= 4096 {
		if refused := flood(t, backlogged(t, 4096), time.Minute); refused != 0 {
			t.Errorf("a queue of 4096 refused %d", refused)
		}
	}
	if got := queue(t, backlogged(t, 65535)); got != min(65535, most) {
		t.Errorf("65535 became %d, while somaxconn is %d", got, most)
	}
	if got := queue(t, listen(t)); got != min(65535, most) {
		t.Errorf("net.Listen has a queue of %d, while somaxconn is %d", got, most)
	}
}

// listenSame opens n listeners of one address, between which the kernel spreads what
// arrives.
func listenSame(tb testing.TB, n int) []net.Listener {
	tb.Helper()
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		return errors.Join(err, failed)
	}}
	addr, all := "127.0.0.1:0", make([]net.Listener, n)
	for i := range all {
		l, err := config.Listen(tb.Context(), "tcp", addr)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = l.Close() })
		all[i], addr = l, l.Addr().String()
	}
	return all
}

// BenchmarkReusePort has 32 clients connect, exchange a line and close, over and over, with
// a server that accepts from one listener, or from one per CPU and two.
func BenchmarkReusePort(b *testing.B) {
	all, done := callersOf(b, listenSame(b, micro.Of(1, 4)))
	together(b, all)
	done()
}

// callersOf makes callers of a server that echoes one line per connection and closes after
// its client. done ends the server and returns when its last connection is closed.
func callersOf(tb testing.TB, listeners []net.Listener) (callers []func() error, done func()) {
	var handlers sync.WaitGroup
	for _, l := range listeners {
		handlers.Go(func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				handlers.Go(func() {
					defer conn.Close()
					_, _ = io.Copy(conn, conn)
				})
			}
		})
	}
	done = func() {
		for _, l := range listeners {
			_ = l.Close()
		}
		handlers.Wait()
	}
	tb.Cleanup(done)
	addr := listeners[0].Addr().String()
	callers = make([]func() error, clients)
	for i := range callers {
		callers[i] = func() error { return visit(addr) }
	}
	return callers, done
}

func visit(addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	line := []byte("order 1000\n")
	if _, err := conn.Write(line); err != nil {
		return err
	}
	back := make([]byte, len(line))
	if _, err := io.ReadFull(conn, back); err != nil {
		return err
	}
	if string(back) != string(line) {
		return errBody
	}
	return nil
}

// TestReusePort: both serve alike, and leave as many sockets in TIME_WAIT: one for each
// connection, at the side that closed first.
func TestReusePort(t *testing.T) {
	const visits = 40
	for _, n := range []int{1, 4} {
		listeners := listenSame(t, n)
		callers, done := callersOf(t, listeners)
		for i := range visits {
			if err := callers[i%len(callers)](); err != nil {
				t.Fatal(err)
			}
		}
		done()
		port := listeners[0].Addr().(*net.TCPAddr).Port
		got := timeWait(t, port)
		for tries := 0; got < visits && tries < 5000; tries++ { // until the last FIN is through
			time.Sleep(time.Millisecond)
			got = timeWait(t, port)
		}
		if got != visits {
			t.Errorf("%d listeners: %d sockets in TIME_WAIT, want %d", n, got, visits)
		}
	}
}

// timeWait counts sockets in TIME_WAIT whose peer has a port, by /proc/net/tcp
// (Documentation/networking/proc_net_tcp.rst: the state is 06).
func timeWait(tb testing.TB, port int) (n int) {
	tb.Helper()
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) > 3 && strings.HasSuffix(f[2], fmt.Sprintf(":%04X", port)) && f[3] == "06" {
			n++
		}
	}
	return n
}
