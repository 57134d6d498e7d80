package peers

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/sockets"
	"github.com/redline-go/redline/observe/kernel/tree"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const width = 20 * time.Millisecond

// role makes the test binary a process of the test, which lives until its standard input ends.
const role = "REDLINE_TEST_ROLE"

// hostile is a name that would do something where it is printed, or in labels.
const hostile = "a\x1b[2J,b=c"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(role) {
	case "target":
		err = target()
	case "server":
		err = server()
	case "worker":
		burn()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// burn uses one CPU.
func burn() {
	go func() {
		for x := uint64(1); x != 0; x = x*x | 1 {
			continue
		}
	}()
}

// server accepts one connection, hands it to a worker as well, uses CPU, and sends a byte.
func server() error {
	if err := os.WriteFile("/proc/self/comm", []byte(hostile), 0); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	c, err := l.Accept()
	if err != nil {
		return err
	}
	file, err := c.(*net.TCPConn).File()
	if err != nil {
		return err
	}
	worker := exec.Command("/proc/self/exe")
	worker.Env, worker.ExtraFiles = append(os.Environ(), role+"=worker"), []*os.File{file}
	worker.Stdin = os.Stdin
	if err := worker.Start(); err != nil {
		return err
	}
	burn()
	_, err = c.Write([]byte{'!'})
	return err
}

// target connects to the addresses of its environment, and says so when each sent a byte.
func target() error {
	var open []net.Conn
	for _, address := range strings.Fields(os.Getenv("REDLINE_TEST_ADDRESSES")) {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			return err
		}
		open = append(open, c)
	}
	fmt.Println("connected")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, c := range open {
		c.Close()
	}
	return nil
}

// start starts this binary in a role and returns its first line.
func start(t *testing.T, name string, env ...string) (pid int, line string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(append(os.Environ(), role+"="+name), env...), os.Stderr
	line, _ = observetest.Begin(t, cmd)
	return cmd.Process.Pid, line
}

// own listens in this process, which stands for redline.
func own(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			_, _ = c.Write([]byte{'!'})
		}
	}()
	return l.Addr().String()
}

// The server at the other end is a peer, and so is the worker that holds the same connection;
// redline is none.
func TestPeers(t *testing.T) {
	_, address := start(t, "server")
	asks, _ := start(t, "target", "REDLINE_TEST_ADDRESSES="+address+" "+own(t))
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	s, sink := New(), &observetest.Sink{}
	if err := s.Open(t.Context(), observe.Subject{Clock: clock, Window: width, PID: asks}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.state.finder.peers); n != 2 {
		t.Errorf("%d peers, want the server and its worker: %v", n, s.state.finder.labels)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // ends a hang
	defer cancel()
	done := make(chan error)
	go func() { done <- s.Run(ctx, sink) }()
	_, port, _ := net.SplitHostPort(address)
	named, worker := "port="+port+",program=a?[2J_b_c", "port="+port+",program=exe"
	for each := 0.0; each < 1e8 && ctx.Err() == nil; time.Sleep(width / 4) {
		one, _ := sink.Sum(series.PeersCPU, named)
		other, _ := sink.Sum(series.PeersCPU, worker)
		each = min(one, other)
	}
	if ctx.Err() != nil {
		t.Errorf("not seen: %s", s.Health().Why)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if unseen := sink.Last(series.PeersUnseen, ""); unseen != 0 {
		t.Errorf("%v ends are not seen", unseen)
	}
	if h := s.Health(); !h.OK || strings.Contains(h.Why, "not seen") {
		t.Errorf("health %+v", h)
	}
}

func TestConformance(t *testing.T) {
	_, address := start(t, "server")
	asks, _ := start(t, "target", "REDLINE_TEST_ADDRESSES="+address)
	observetest.Run(t, func() observe.Source { return New() }, observe.Subject{PID: asks})
}

// What no process shows is counted once it is sure that it was not just closed, and the health says where.
func TestUnseen(t *testing.T) {
	none := &tree.Tree{}
	s := &state{Source: New()}
	ends := []sockets.End{{Inode: 1<<32 - 1, Port: 3306}, {Inode: 0, Port: 3307}}
	if s.finder.find(none, ends, false); s.finder.refused != nil || !s.finder.late {
		t.Error("an end that was not looked for counts as one that nobody shows")
	}
	for look, want := range []int{0, 1, 1} {
		s.finder.find(none, ends, true)
		if s.describe(); s.finder.unseen != want {
			t.Errorf("%d unseen at look %d, want %d", s.finder.unseen, look, want)
		}
	}
	if why := s.Health().Why; !strings.Contains(why, "at port 3306") || strings.Contains(why, "3307") {
		t.Errorf("health says %q", why)
	}
	if s.finder.find(none, nil, true); s.finder.unseen != 0 {
		t.Error("an end that was closed is still missing")
	}
}
