package access

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/access/accesstest"
)

// accepted returns the connection that comes next.
func accepted(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(5 * time.Minute))
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip("no address of this family here: ", err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestPeerIsWhoConnected(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l := listen(t, address)
		own, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		if uid, err := peer(accepted(t, l)); err != nil || uid != os.Geteuid() {
			t.Errorf("%s: this user is %d: %v", address, uid, err)
		}
		accesstest.Dial(t, accesstest.Nobody, "tcp", l.Addr().String())
		if uid, err := peer(accepted(t, l)); err != nil || uid != accesstest.Nobody {
			t.Errorf("%s: another user is %d: %v", address, uid, err)
		}
	}
}

// TestPeerOfMappedAddress connects as Java does: an IPv6 socket to an address of
// IPv4.
func TestPeerOfMappedAddress(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	defer unix.Close(fd)
	to := &unix.SockaddrInet6{Port: l.Addr().(*net.TCPAddr).Port, Addr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}}
	if err := unix.Connect(fd, to); err != nil {
		t.Fatal(err)
	}
	if uid, err := peer(accepted(t, l)); err != nil || uid != os.Geteuid() {
		t.Errorf("user %d: %v", uid, err)
	}
}

// TestWhoHalfClosesIsStillThere has clients that say at once that they send
// nothing more.
func TestWhoHalfClosesIsStillThere(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	own, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if err := own.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	c := accepted(t, l)
	_, _ = io.ReadAll(c)
	if uid, err := peer(c); err != nil || uid != os.Geteuid() {
		t.Errorf("user %d: %v", uid, err)
	}
}

// TestNobodyOwnsAClosedSocket: the kernel shows it as root's.
func TestNobodyOwnsAClosedSocket(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	accesstest.Leave(t, accesstest.Nobody, "tcp", l.Addr().String(), "x")
	if uid, err := peer(accepted(t, l)); !errors.Is(err, errGone) {
		t.Errorf("user %d: %v", uid, err)
	}
}

func TestOwnerOf(t *testing.T) {
	if own := OwnerOf(os.Getpid()); !own(os.Geteuid()) || own(accesstest.Nobody-1) {
		t.Error("this process is not of this user alone")
	}
	if own := OwnerOf(0); own(0) || own(os.Geteuid()) {
		t.Error("no process has a user")
	}
	if os.Geteuid() != 0 {
		t.Skip("another user cannot be played: this test runs as root alone")
	}
	other := exec.Command("sleep", "600")
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: accesstest.Nobody,
		Gid: accesstest.Nobody}, Pdeathsig: syscall.SIGKILL}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	if own := OwnerOf(other.Process.Pid); own(0) || !own(accesstest.Nobody) {
		t.Error("a process of nobody is root's")
	}
}

// TestWhoBecameRootBySudo may look at what that root shows.
func TestWhoBecameRootBySudo(t *testing.T) {
	t.Setenv("SUDO_UID", strconv.Itoa(accesstest.Nobody))
	if own(accesstest.Nobody) != (os.Geteuid() == 0) || own(accesstest.Nobody-1) {
		t.Error("SUDO_UID names a user for root alone")
	}
}

// TestSeatsComeBack opens and closes more connections than may be there at once.
func TestSeatsComeBack(t *testing.T) {
	d, err := Listen(t.Context(), "127.0.0.1:0", Options{Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for n := range 5 {
		own, err := net.Dial("tcp", d.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		c.Close() // twice, as servers do
		own.Close()
		if d.Closed() != 0 {
			t.Fatalf("connection %d was closed", n)
		}
	}
}
