//go:build amd64 || arm64

package events

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/netstat"
	"github.com/redline-go/redline/observe/kernel/tree"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const width = 20 * time.Millisecond

// attached opens a source over this process, or skips the test and prints what
// is missing.
func attached(t *testing.T, pid int) (*Source, observe.Subject) {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject := observe.Subject{Clock: clock, Window: width, PID: pid}
	s := New()
	err = s.Open(t.Context(), subject)
	var refusal *observe.Unsupported
	if errors.As(err, &refusal) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, subject
}

// watch runs do while a source watches, and then waits until its deliveries
// satisfy enough.
func watch(t *testing.T, pid int, do func(), enough func(*observetest.Sink) bool) (*Source, *observetest.Sink) {
	t.Helper()
	s, _ := attached(t, pid)
	return s, watchBy(t, s, do, enough)
}

// watchBy is watch by a source that the caller knows.
func watchBy(t *testing.T, s *Source, do func(), enough func(*observetest.Sink) bool) *observetest.Sink {
	t.Helper()
	sink := &observetest.Sink{}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	done := make(chan error)
	go func() { done <- s.Run(ctx, sink) }()
	wait := func(what string, enough func(*observetest.Sink) bool) {
		for !enough(sink) {
			select {
			case err := <-done:
				t.Fatalf("%s: %v; %s", what, err, s.Health().Why)
			case <-time.After(width / 4):
			}
		}
	}
	// Counters need a base before the events that they count.
	wait("no window", func(sink *observetest.Sink) bool {
		_, n := sink.Sum(series.KernelCalibration, "*")
		return n > 0
	})
	do()
	wait("not seen", enough)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return sink
}

func TestConformance(t *testing.T) {
	s, _ := attached(t, os.Getpid())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx, &observetest.Sink{}); err != nil { // releases it
		t.Fatal(err)
	}
	observetest.Run(t, func() observe.Source { return New() }, observe.Subject{PID: os.Getpid()})
}

// A subject that cannot be watched is refused with a reason, whatever the privileges.
func TestRefusal(t *testing.T) {
	var refusal *observe.Unsupported
	if err := New().Open(t.Context(), observe.Subject{PID: 1 << 30}); !errors.As(err, &refusal) || refusal.Enable == "" {
		t.Errorf("Open of a process that is not there: %v", err)
	}
	if os.Getuid() != 0 {
		err := New().Open(t.Context(), observe.Subject{PID: os.Getpid()})
		if !errors.As(err, &refusal) || refusal.Enable == "" {
			t.Errorf("Open without privilege: %v", err)
		}
		t.Log(err)
	}
}

func sum(sink *observetest.Sink, name, labels string) float64 {
	total, _ := sink.Sum(name, labels)
	return total
}

// 5,000 connections, both of whose ends are here, are 10,000 openings, counted
// as the kernel counts them.
func TestConnectionsAgainstTheKernel(t *testing.T) {
	const n = 5000
	s, sink := watch(t, os.Getpid(), func() { openAndReset(t, "127.0.0.1:0", n) }, func(sink *observetest.Sink) bool {
		return sum(sink, series.TCPOpens, "dir=in") >= 0.99*n && sum(sink, series.TCPCloses, "*") >= 2*0.99*n
	})
	for _, label := range []string{"dir=in", "dir=out"} {
		if got := sum(sink, series.TCPOpens, label); got < 0.99*n || got > 1.01*n {
			t.Errorf("%v opened %s, want %d", got, label, n)
		}
	}
	for _, label := range []string{"of=active_opens", "of=passive_opens"} {
		t.Logf("%s: eBPF minus kernel %+v", label, sink.Last(series.KernelCalibration, label))
		if d := sink.Last(series.KernelCalibration, label); !(d >= -n/100 && d <= n/100) {
			t.Errorf("%s: eBPF differs from the kernel by %v of %d", label, d, n)
		}
	}
	if h := s.Health(); !h.OK || strings.Contains(h.Why, "eBPF counted") || strings.Contains(h.Why, "too many") {
		t.Errorf("health %+v", h)
	}
}

// TestLatenciesOfConnections: a window that was missed on a busy machine has none, so there are connections until one
// has them.
func TestLatenciesOfConnections(t *testing.T) {
	watch(t, os.Getpid(), func() {}, func(sink *observetest.Sink) bool {
		openAndReset(t, "127.0.0.1:0", 50)
		for _, latency := range []string{series.TCPConnect, series.TCPHandshake, series.TCPLifetime} {
			if _, n := sink.Sum(latency, "q=p99"); n == 0 {
				return false
			}
		}
		return true
	})
}

// openAndReset opens and resets n connections, so that none is left in TIME_WAIT.
func openAndReset(t *testing.T, address string, n int) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip(err) // no IPv6 here
	}
	defer l.Close()
	for range n {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
		_ = accepted.Close()
	}
}

// IPv6, and a port that is opened and closed while the programs run.
func TestPortsComeAndGo(t *testing.T) {
	const n = 50
	watch(t, os.Getpid(), func() {
		openAndReset(t, "[::1]:0", n)
		openAndReset(t, "127.0.0.1:0", n)
	}, func(sink *observetest.Sink) bool {
		return sum(sink, series.TCPOpens, "dir=in") > 2*n-0.1 && sum(sink, series.TCPOpens, "dir=out") > 2*n-0.1
	})
}

// The target's connections that are older than the programs are known when they
// close.
func TestOlderConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	watch(t, os.Getpid(), func() {
		_ = client.(*net.TCPConn).SetLinger(0)
		_ = client.Close()
		_ = server.Close()
	}, func(sink *observetest.Sink) bool {
		return sum(sink, series.TCPCloses, "dir=in") > 0.9 && sum(sink, series.TCPCloses, "dir=out") > 0.9
	})
}

func TestConnectFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	watch(t, os.Getpid(), func() {
		for range 20 {
			if c, err := net.Dial("tcp", address); err == nil {
				_ = c.Close()
				t.Error("a closed port answers")
			}
		}
	}, func(sink *observetest.Sink) bool { return sum(sink, series.TCPConnectFails, "") > 19.9 })
}

// The threads of this process wait for CPUs, and their waits are reported.
func TestRunQueue(t *testing.T) {
	_, sink := watch(t, os.Getpid(), func() {
		r, w := io.Pipe()
		go func() {
			for range 1000 {
				_, _ = w.Write([]byte{1})
				time.Sleep(time.Microsecond)
			}
			_ = w.Close()
		}()
		_, _ = io.Copy(io.Discard, r)
	}, func(sink *observetest.Sink) bool { return sum(sink, series.RunQueueWaits, "") > 50 })
	if p50, p99 := sink.Last(series.RunQueueLatency, "q=p50"), sink.Last(series.RunQueueLatency, "q=p99"); !(p50 > 0) || p99 < p50 {
		t.Errorf("run queue p50 %v ns, p99 %v ns", p50, p99)
	}
}

// Synced files are reported, on file systems that report, and so is the device below
// them.
func TestFsync(t *testing.T) {
	f, err := os.CreateTemp("/var/tmp", "redline-synced-") // on a disk, where other tests' files may lie in memory
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		f.Close()
		os.Remove(f.Name())
	}()
	if !toldBy(t, f) {
		t.Skip("the file system of temporary files does not tell: fsync is seen on ext4 and f2fs")
	}
	const n = 20
	_, sink := watch(t, os.Getpid(), func() {
		for range n {
			if _, err := f.WriteString("x"); err != nil {
				t.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}, func(sink *observetest.Sink) bool { return sum(sink, series.FsyncCalls, "") > n-0.1 })
	if got := sum(sink, series.FsyncCalls, ""); got > n+0.1 {
		t.Errorf("%v syncs, want %d", got, n)
	}
	if ns := sum(sink, series.FsyncTime, ""); !(ns > 0) {
		t.Errorf("syncs took %v ns", ns)
	}
	if got := sum(sink, series.BlockRequests, "*"); got < 1 {
		t.Errorf("%v block requests", got)
	}
}

// Connections of others in the same namespace are not the target's, though they are counted
// for the calibration.
func TestOthersAreNotTheTarget(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}
	defer end()
	const n = 500
	before := namespaceOpens(t)
	s, sink := watch(t, cmd.Process.Pid, func() { openAndReset(t, "127.0.0.1:0", n) }, func(sink *observetest.Sink) bool {
		return namespaceOpens(t) >= before+n
	})
	if opens, closes := sum(sink, series.TCPOpens, "*"), sum(sink, series.TCPCloses, "*"); opens+closes != 0 {
		t.Errorf("%v opened and %v closed by a process without sockets", opens, closes)
	}
	if d := sink.Last(series.KernelCalibration, "of=passive_opens"); !(d >= -n/100 && d <= n/100) {
		t.Errorf("eBPF differs from the kernel by %v of %d", d, n)
	}
	if h := s.Health(); !h.OK {
		t.Errorf("health %+v", h)
	}
}

// namespaceOpens is the kernel's own count of connections accepted.
func namespaceOpens(t *testing.T) float64 {
	t.Helper()
	f, err := os.Open("/proc/net/snmp")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	values := map[string]float64{}
	if err := netstat.Parse(f, values); err != nil {
		t.Fatal(err)
	}
	return values[series.NetPassiveOpens]
}

// TestNothingOfAnEndedTarget: a tree loses its last member at any look.
func TestNothingOfAnEndedTarget(t *testing.T) {
	target, err := tree.Open("", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	target.Close()
	s := &state{Source: New(), tree: target}
	if _, err := s.attachFsync(nil); err == nil {
		t.Error("the file systems of a target that ended are known")
	}
	var tcp tcpEvents
	if tcp.enter(s) || tcp.counted(s) != nil {
		t.Error("the namespace of a target that ended is known")
	}
}

// A target that ends mid-run is reported, and its programs do not stay.
func TestEndOfTheProcessIsTold(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s, _ := attached(t, cmd.Process.Pid)
	watchBy(t, s, func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}, func(*observetest.Sink) bool { return s.vitals.Gone() })
	if h := s.Health(); h.OK || !strings.Contains(h.Why, "the process ended") {
		t.Errorf("health %+v does not report the end", h)
	}
}

// Events in redline's own network namespace are not counted for a target in another
// one, neither by the programs nor from the kernel's counters.
func TestAnotherNamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: a network namespace is made")
	}
	cmd := exec.Command("cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}()
	readings := 0
	s, sink := watch(t, cmd.Process.Pid, func() { openAndReset(t, "127.0.0.1:0", 100) }, func(sink *observetest.Sink) bool {
		_, readings = sink.Sum(series.KernelCalibration, "of=passive_opens")
		return readings > 3
	})
	if d := sink.Last(series.KernelCalibration, "of=passive_opens"); d != 0 {
		t.Errorf("%v connections of another namespace are counted", d)
	}
	if h := s.Health(); strings.Contains(h.Why, "namespace") {
		t.Errorf("health %+v", h)
	}
}

// A program that cannot be attached costs its own set only, and is named.
func TestSetsAreTriedByThemselves(t *testing.T) {
	s, _ := attached(t, os.Getpid())
	s.state.release()
	load := func() (*ebpf.CollectionSpec, error) {
		spec, err := loadTcp()
		if err == nil {
			spec.Programs[tcpProgTcpRetransmitSynack].AttachTo = "no_such_tracepoint"
		}
		return spec, err
	}
	o, failed := open(load, []set{
		{tells: "connections", programs: []string{tcpProgInetSockSetState}},
		{tells: "retransmissions", programs: []string{tcpProgTcpRetransmitSkb, tcpProgTcpRetransmitSynack}},
	}, btf.NewCache())
	if o == nil {
		t.Fatal(failed)
	}
	defer o.close()
	if !o.attached[tcpProgInetSockSetState] || o.attached[tcpProgTcpRetransmitSkb] || len(o.links) != 1 {
		t.Errorf("attached %v by %d links", o.attached, len(o.links))
	}
	if len(failed) != 1 || !strings.HasPrefix(failed[0].Error(), "no retransmissions: this kernel lacks it") {
		t.Errorf("failed: %v", failed)
	}
}
