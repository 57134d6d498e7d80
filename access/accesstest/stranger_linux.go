// Package accesstest lets a test connect to a listener as another user of the host:
// it starts the test's own program again under that user's id, and gives the test
// the connection that this second process made.
//
// A thread that changes its id was rejected: which user the kernel sees then
// depends on which of the process's threads made the socket.
package accesstest

import (
	"encoding/hex"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// Nobody is the user id that owns nothing on Linux.
const Nobody = 65534

// Tasks of the second process.
const (
	networkVariable = "REDLINE_ACCESSTEST_NETWORK"
	addressVariable = "REDLINE_ACCESSTEST_ADDRESS"
	leaveVariable   = "REDLINE_ACCESSTEST_LEAVE" // sent before it leaves, in hexadecimal
	crowdVariable   = "REDLINE_ACCESSTEST_CROWD" // how many connections to hold
)

// init turns a program that was started as a relay into one.
func init() {
	network, address := os.Getenv(networkVariable), os.Getenv(addressVariable)
	if address == "" {
		return
	}
	if n, _ := strconv.Atoi(os.Getenv(crowdVariable)); n > 0 {
		crowd(network, address, n)
	}
	conn, err := net.Dial(network, address)
	if err != nil {
		_, _ = io.WriteString(os.Stderr, err.Error())
		os.Exit(1)
	}
	if text := os.Getenv(leaveVariable); text != "" {
		// Sent bytes arrive although the socket has no owner any more.
		data, _ := hex.DecodeString(text)
		_, _ = conn.Write(data)
		conn.Close()
		os.Exit(0)
	}
	relay(conn)
	os.Exit(0)
}

// crowd holds silent connections, and writes a byte once all are open.
func crowd(network, address string, n int) {
	var held []net.Conn
	for range n {
		conn, err := net.Dial(network, address)
		if err != nil {
			break
		}
		held = append(held, conn)
	}
	_, _ = os.Stdin.Write([]byte("."))
	_, _ = os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(held)
	os.Exit(0)
}

// relay carries bytes between the connection and the pair of sockets that is
// standard input, until either ends.
func relay(conn net.Conn) {
	test, err := net.FileConn(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	go func() {
		_, _ = io.Copy(conn, test)
		conn.Close()
	}()
	_, _ = io.Copy(test, conn)
	test.Close()
}

// command prepares the second process.
func command(t testing.TB, uid int, network, address string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("another user cannot be played: this test runs as root alone")
	}
	// Hazard: the program lies in a folder that only its user enters; the link
	// leads there without passing it.
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{networkVariable + "=" + network, addressVariable + "=" + address}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}, Pdeathsig: syscall.SIGKILL,
	}
	return cmd
}

// Dial connects to an address as a user, in a process of that user. If that
// process cannot connect, the returned connection ends at once. Without root
// the test is skipped.
func Dial(t testing.TB, uid int, network, address string) net.Conn {
	t.Helper()
	return begin(t, command(t, uid, network, address))
}

// Crowd has a user hold n silent connections until the test ends, and returns once
// they are open.
func Crowd(t testing.TB, uid int, network, address string, n int) {
	t.Helper()
	cmd := command(t, uid, network, address)
	cmd.Env = append(cmd.Env, crowdVariable+"="+strconv.Itoa(n))
	if _, err := begin(t, cmd).Read(make([]byte, 1)); err != nil {
		t.Fatalf("user %d makes %d connections: %v", uid, n, err)
	}
}

// begin starts a second process and returns the other end of its standard input.
func begin(t testing.TB, cmd *exec.Cmd) net.Conn {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "relay")
	own := os.NewFile(uintptr(pair[0]), "test")
	conn, err := net.FileConn(own)
	own.Close()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = theirs
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		t.Fatalf("start a process of another user: %v", err)
	}
	t.Cleanup(func() {
		conn.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return conn
}

// Leave connects as a user, sends a text, closes, and returns once the process
// has ended: whoever accepts the connection then finds its other end without an
// owner.
func Leave(t testing.TB, uid int, network, address, text string) {
	t.Helper()
	cmd := command(t, uid, network, address)
	cmd.Env = append(cmd.Env, leaveVariable+"="+hex.EncodeToString([]byte(text)))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("a process of user %d: %v: %s", uid, err, out)
	}
}
