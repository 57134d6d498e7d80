//go:build linux

package loadtest

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix" // bind without listen, listen without accept, limits
)

// NoSuchName is a host:port that never resolves (RFC 6761, section 6.4), with a
// name server or without.
const NoSuchName = "redline.invalid:80"

// Refused returns a host:port without a listener. The port is held until the
// test ends, so that no other process takes it.
func Refused(t testing.TB) string {
	t.Helper()
	_, address := bound(t)
	return address
}

// Backlog returns a host:port whose accept queue is full and stays so: the
// kernel drops requests for a connection.
func Backlog(t testing.TB) string {
	t.Helper()
	fd, address := bound(t)
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	// Linux completes one connection more than the backlog says. The first that times out
	// shows that the queue is full.
	for range 16 {
		c, err := net.DialTimeout("tcp", address, 50*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Fatal("the accept queue does not fill up")
	return ""
}

// bound returns a socket that has a port of loopback and does not listen.
func bound(t testing.TB) (fd int, address string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fd)
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fd, (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: at.(*unix.SockaddrInet4).Port}).String()
}

// alone marks a process that Alone started.
const alone = "REDLINE_LOADTEST_ALONE"

// Alone runs the calling test in a process of its own, changed by change, which
// may be nil, and reports its outcome there. It returns true in that process,
// where the test may spend resources of the process as a whole, and false
// in the one that started it. A change that the host refuses skips the test.
func Alone(t *testing.T, change func(*syscall.SysProcAttr)) bool {
	t.Helper()
	if os.Getenv(alone) != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), alone+"=1")
	// A child whose test binary was killed would hold its descriptors and ports for good.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if change != nil {
		change(cmd.SysProcAttr)
	}
	out, err := cmd.CombinedOutput()
	if change != nil && len(out) == 0 && err != nil {
		t.Skip("this host does not let a test have such a process:", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// LimitDescriptors lets the process open this many more descriptors. Call it in processes
// of Alone only.
func LimitDescriptors(t *testing.T, more int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this host does not report how many descriptors are open:", err)
	}
	limit := syscall.Rlimit{Cur: uint64(len(open) + more), Max: uint64(len(open) + more)}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Skip("this host does not let a test limit its descriptors:", err)
	}
}
