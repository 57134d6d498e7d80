package sockets

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/tree"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const width = 20 * time.Millisecond

// TestMain lets the test binary be a target: it listens but does not accept until its
// standard input ends.
func TestMain(m *testing.M) {
	if os.Getenv("REDLINE_TEST_LISTEN") != "" {
		fd, _ := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Port: 8080}), unix.Listen(fd, 77)); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("listening\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	connect(t)
	observetest.Run(t, func() observe.Source { return New() }, observe.Subject{PID: os.Getpid()})
}

// connect returns both ends of a connection over loopback.
func connect(t *testing.T) (server, client net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = l.Close()
		_ = server.Close()
		_ = client.Close()
	})
	return server, client
}

// watch runs a source over a process until its deliveries satisfy enough, and fails the
// test if that does not happen.
func watch(t *testing.T, pid int, enough func(*observetest.Sink) bool) (*Source, *observetest.Sink) {
	t.Helper()
	return watchBy(t, New(), pid, enough)
}

// watchBy is watch by a source that the caller knows.
func watchBy(t *testing.T, s *Source, pid int, enough func(*observetest.Sink) bool) (*Source, *observetest.Sink) {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	sink := &observetest.Sink{}
	if err := s.Open(t.Context(), observe.Subject{Clock: clock, Window: width, PID: pid}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	done := make(chan error)
	go func() { done <- s.Run(ctx, sink) }()
	for !enough(sink) {
		select {
		case err := <-done:
			t.Fatalf("not seen: %v; %s", err, s.Health().Why)
		case <-time.After(width / 4):
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return s, sink
}

func TestConnections(t *testing.T) {
	before := established0(t)
	server, client := connect(t)
	go func() { // the server's end is busy all the time
		_, _ = io.Copy(server, server)
	}()
	go func() {
		_, _ = io.Copy(io.Discard, client)
	}()
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		for block := make([]byte, 64<<10); ; {
			select {
			case <-stop:
				return
			default:
				if _, err := client.Write(block); err != nil {
					return
				}
			}
		}
	}()
	s, sink := watch(t, os.Getpid(), func(sink *observetest.Sink) bool {
		sent, _ := sink.Sum(series.SocketsSegments, "")
		busy, _ := sink.Sum(series.SocketsBusy, "")
		return sent > 100 && busy > 0
	})
	if got := sink.Last(series.SocketsEstablished, ""); got != before+2 {
		t.Errorf("%v established, want both ends on top of %v", got, before)
	}
	p50, most := sink.Last(series.SocketsRTT, "q=p50"), sink.Last(series.SocketsRTT, "q=max")
	if !(p50 > 0) || most < p50 {
		t.Errorf("round trips p50 %v, max %v", p50, most)
	}
	if got := sink.Last(series.SocketsPorts, ""); !(got > 100) {
		t.Errorf("%v local ports", got)
	}
	if h := s.Health(); !h.OK {
		t.Errorf("health %+v", h)
	}
}

// TestOutwards separates connections to the target's own port from others.
func TestOutwards(t *testing.T) {
	connect(t) // this process listens on the port that it connects to
	_, sink := watch(t, os.Getpid(), func(sink *observetest.Sink) bool {
		return sink.Last(series.SocketsOutwards, "to=self") == 1
	})
	if got := sink.Last(series.SocketsOutwards, "to=other"); got != 0 {
		t.Errorf("%v connections to others", got)
	}
}

// established0 counts the test process's connections before a test makes more.
func established0(t *testing.T) float64 {
	t.Helper()
	_, sink := watch(t, os.Getpid(), func(sink *observetest.Sink) bool {
		_, n := sink.Sum(series.SocketsEstablished, "")
		return n > 0
	})
	return sink.Last(series.SocketsEstablished, "")
}

// A peer that does not read limits the sender, and its queue fills.
func TestReceiverLimits(t *testing.T) {
	server, _ := connect(t)
	go func() { // until the test closes the connection
		for block := make([]byte, 64<<10); ; {
			if _, err := server.Write(block); err != nil {
				return
			}
		}
	}()
	watch(t, os.Getpid(), func(sink *observetest.Sink) bool {
		limited, _ := sink.Sum(series.SocketsLimited, "by=rwnd")
		return limited > 0 && sink.Last(series.SocketsReceiveQueue, "") > 0 && sink.Last(series.SocketsSendQueue, "") > 0
	})
}

func TestAcceptQueue(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skip(err) // no IPv6 here
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet6{Addr: netip.IPv6Loopback().As16()}), unix.Listen(fd, 9)); err != nil {
		t.Skip(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := netip.AddrPortFrom(netip.IPv6Loopback(), uint16(name.(*unix.SockaddrInet6).Port)).String()
	for range 5 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	label := "listen=" + address
	_, sink := watch(t, os.Getpid(), func(sink *observetest.Sink) bool {
		_, n := sink.Sum(series.SocketsAcceptQueue, label)
		return n > 0
	})
	if waiting, backlog := sink.Last(series.SocketsAcceptQueue, label), sink.Last(series.SocketsBacklog,
		label); waiting != 5 || backlog != 9 {
		t.Errorf("%v of %v wait for accept, want 5 of 9", waiting, backlog)
	}
}

// A service in another network namespace is seen as root, and an ordinary user
// gets an error that names what is missing.
func TestAnotherNamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: a network namespace is made")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REDLINE_TEST_LISTEN=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	_, end := observetest.Begin(t, cmd)
	_, sink := watch(t, cmd.Process.Pid, func(sink *observetest.Sink) bool {
		_, n := sink.Sum(series.SocketsBacklog, "*")
		return n > 0
	})
	if got := sink.Last(series.SocketsBacklog, "listen=0.0.0.0:8080"); got != 77 {
		t.Errorf("backlog %v, want 77", got)
	}
	end()
}

// TestNothingOfAnEndedTarget: a tree loses its last member at any look.
func TestNothingOfAnEndedTarget(t *testing.T) {
	target, err := tree.Open("", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	target.Close()
	var refusal *observe.Unsupported
	if _, err := OpenEnds(target); !errors.As(err, &refusal) || !strings.Contains(refusal.What, "has ended") {
		t.Errorf("sock_diag of a target that ended: %v", err)
	}
	(&state{Source: New(), tree: target}).look(time.Second)
}

func TestEndOfTheProcessIsTold(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	s := New()
	watchBy(t, s, cmd.Process.Pid, func(sink *observetest.Sink) bool {
		if sink.Len() > 0 && !ended {
			ended = true
			_ = stdin.Close()
			_ = cmd.Wait()
		}
		return ended && s.vitals.Gone()
	})
	if h := s.Health(); h.OK || !strings.Contains(h.Why, "the process ended") {
		t.Errorf("health %+v does not report the end", h)
	} else if len(h.Gaps) != 1 || h.Gaps[0].Len() <= 0 || h.Gaps[0].Why != "the process ended" {
		t.Errorf("gaps %+v, want one from the end on", h.Gaps)
	}
}

// A listening socket is asked for by itself, whichever addresses it listens on.
func TestOne(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0", ":0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // no IPv6 here
			continue
		}
		port := uint16(l.Addr().(*net.TCPAddr).Port)
		d, err := openDiag(timebase.Clock{})
		if err != nil {
			t.Fatal(err)
		}
		var found socket
		if _, _, err := d.dump(query{states: 1 << listen}, func(s *socket, _ timebase.Span) {
			if s.local.Port() == port {
				found = *s
			}
		}); err != nil {
			t.Fatal(err)
		}
		again := found
		if err := d.one(&again); err != nil || again != found || found.cookie == 0 {
			t.Errorf("%s: %+v, then %+v, %v", address, found, again, err)
		}
		_ = l.Close()
		if err := d.one(&again); err == nil {
			t.Errorf("%s is found after it was closed: %+v", address, again)
		}
		d.close()
	}
}

// A loss of sock_diag in the middle of a run is a gap: the amounts of connections in it
// are in no window, and later amounts are seen again.
func TestLossIsAGap(t *testing.T) {
	server, client := connect(t)
	go func() { _, _ = io.Copy(io.Discard, server) }()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	s, sink := New(), &observetest.Sink{}
	if err := s.Open(t.Context(), observe.Subject{Clock: clock, Window: width, PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	st := s.state
	defer st.release()
	at := func(window int) { // one edge, some segments later
		if _, err := client.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		for clock.Now() < time.Duration(window)*width { // readings are dated by the clock
			time.Sleep(time.Millisecond)
		}
		if st.ready() {
			st.readQueues()
		}
		st.connectionsAt = 0
		st.close(time.Duration(window) * width)
		_ = st.meter.Flush(sink)
	}
	first := int(timebase.Window(clock.Now(), width)) + 1
	for i := range 3 {
		at(first + i)
	}
	_ = unix.Close(st.diag.fd)
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0) // so that no other file gets the number
	if err != nil || null != st.diag.fd {
		t.Skipf("descriptor %d was taken by another: %v", st.diag.fd, err)
	}
	for i := 3; i < 8; i++ {
		at(first + i)
	}
	gaps := s.Health().Gaps
	if len(gaps) != 1 || !strings.Contains(gaps[0].Why, "sock_diag") {
		t.Fatalf("gaps %+v, want one", gaps)
	}
	after := false
	for _, p := range sink.Points() {
		span := timebase.WindowSpan(p.Window, width)
		if p.Series.Name != series.SocketsSegments {
			continue
		}
		if span.To > gaps[0].From && span.From+width/10 < gaps[0].To {
			t.Errorf("window %d has segments, in the gap %v", p.Window, gaps[0].Span)
		}
		after = after || span.From+width/10 >= gaps[0].To
	}
	if !after {
		t.Error("nothing is seen after the gap")
	}
}
