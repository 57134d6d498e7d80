package serving_test

import (
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/lab/micro"
)

// idle is how many connections are open at once.
const idle = 500

// BenchmarkIdleConnections reports the memory of Go's heap and stacks per connection that
// was used once: of net/http's, or of an event loop's. The kernel's own share, the same for
// both, is left out.
func BenchmarkIdleConnections(b *testing.B) {
	open := micro.Of(idleHTTP, idleLoop)
	per := 0.0
	for b.Loop() {
		before := inUse()
		done := open(b, idle)
		per = (inUse() - before) / idle
		done()
	}
	b.ReportMetric(per, "B/conn")
}

// inUse is the memory of what lives, and of stacks.
func inUse() float64 {
	runtime.GC()
	runtime.GC() // what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// idleHTTP opens connections to a server of net/http, with one request each. The clients
// are bare descriptors, which cost Go nothing.
func idleHTTP(tb testing.TB, n int) (done func()) {
	l := listen(tb)
	server := &http.Server{Handler: http.HandlerFunc(answer), ReadHeaderTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	fds := make([]int, n)
	buf := make([]byte, 4<<10)
	for i := range fds {
		fds[i] = dialBare(tb, l.Addr().(*net.TCPAddr).Port)
		if _, err := unix.Write(fds[i], []byte("GET / HTTP/1.1\r\nHost: lab\r\n\r\n")); err != nil {
			tb.Fatal(err)
		}
		if got, err := unix.Read(fds[i], buf); err != nil || got < len(body) {
			tb.Fatal(got, err)
		}
	}
	return func() {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		_ = server.Close()
		<-ended
	}
}

// dialBare connects a blocking socket that Go's runtime knows nothing of.
func dialBare(tb testing.TB, port int) int {
	tb.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		tb.Fatal(err)
	}
	return fd
}

// idleLoop opens connections to a loop over epoll, with one exchange each.
func idleLoop(tb testing.TB, n int) (done func()) {
	pairs := make([][2]int, n)
	fds := make([]int, n)
	for i := range pairs {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			tb.Fatal(err)
		}
		if err := unix.SetNonblock(pair[0], true); err != nil {
			tb.Fatal(err)
		}
		pairs[i], fds[i] = pair, pair[0]
	}
	ended := make(chan error)
	go func() { ended <- pollEcho(fds) }()
	buf := make([]byte, 4<<10)
	for _, pair := range pairs {
		if _, err := unix.Write(pair[1], body); err != nil {
			tb.Fatal(err)
		}
		if got, err := unix.Read(pair[1], buf); err != nil || string(buf[:got]) != string(body) {
			tb.Fatal(got, err)
		}
	}
	return func() {
		for _, pair := range pairs {
			_ = unix.Close(pair[1])
		}
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}
}

// TestIdleConnections: both answer each connection, and let go of all.
func TestIdleConnections(t *testing.T) {
	for _, open := range []func(testing.TB, int) func(){idleHTTP, idleLoop} {
		open(t, 20)()
	}
}
