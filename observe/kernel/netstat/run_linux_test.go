package netstat

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const width = 10 * time.Millisecond

func TestConformance(t *testing.T) {
	observetest.Run(t, func() observe.Source { return New(Options{}) },
		observe.Subject{PID: os.Getpid()})
}

// run opens a source and drives it over a number of windows; before each
// sample, change is called with its number.
func run(t *testing.T, root string, pid, windows int, change func(i int)) (*Source, *observetest.Sink) {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Root: root})
	if err := s.Open(t.Context(), observe.Subject{Clock: clock, Window: width, PID: pid}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sink := &observetest.Sink{}
	defer s.state.tree.Close()
	samples := 0
	err = observe.Every(ctx, clock, width, func(edge time.Duration) error {
		change(samples)
		if len(s.state.tree.Members) > 0 {
			s.state.sample(edge)
		}
		if samples++; samples == windows {
			cancel()
		}
		return s.state.meter.Flush(sink)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, sink
}

// recorded copies a recorded tree to a folder where it may be changed.
func recorded(t *testing.T, kernel string) (root string) {
	t.Helper()
	root = t.TempDir()
	if err := os.CopyFS(root, os.DirFS("testdata/"+kernel)); err != nil {
		t.Fatal(err)
	}
	return root
}

// replace writes a file whole, as the kernel would show it.
func replace(t *testing.T, path, old, now string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), old, now)
	if changed == string(text) {
		t.Fatalf("%s has no %s", path, old)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAmountsOfARecordedTree(t *testing.T) {
	root := recorded(t, "linux-2.6.32")
	// Between two readings of softnet_stat and two more: the window of the first one is
	// not whole, and would keep a part of the amount.
	s, sink := run(t, root, 42, 28, func(i int) {
		if i == hostWindows+2 {
			replace(t, root+"/proc/42/net/netstat", " 101 ", " 141 ")
			replace(t, root+"/proc/42/net/softnet_stat", "00000020 ", "00000030 ")
		}
	})
	for name, want := range map[string]float64{series.NetListenOverflows: 40, series.SoftnetProcessed: 16, series.NetListenDrops: 0} {
		if got, n := sink.Sum(name, ""); got < want-1e-6 || got > want+1e-6 || n < 5 {
			t.Errorf("%s is %v in %d windows, want %v", name, got, n, want)
		}
	}
	if got := sink.Last(series.NetTCPInUse, ""); got != 302 { // no IPv6 in this tree
		t.Errorf("%v sockets in use", got)
	}
	if _, n := sink.Sum(series.NetSynRetransmits, ""); n != 0 {
		t.Error("a counter that the kernel lacks is delivered")
	}
	if why := s.Health().Why; !strings.Contains(why, "TCPSynRetrans") {
		t.Errorf("health does not name the missing counter: %q", why)
	}
}

// Counters that fall, and counters of another namespace, are a gap for all
// series of the files: nothing of the interval is made up.
func TestAnotherNamespaceIsAGap(t *testing.T) {
	for name, change := range map[string]func(root string){
		"a counter falls": func(root string) {
			replace(t, root+"/proc/42/net/netstat", " 101 ", " 1 ")
			replace(t, root+"/proc/42/net/netstat", " 105 ", " 100105 ")
		},
		"the file is another": func(root string) { // all of its counters rose
			path := root + "/proc/42/net/netstat"
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(strings.ReplaceAll(string(text), " 105 ", " 100105 "))
			if err := os.WriteFile(path+".new", text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := recorded(t, "linux-6.18")
			s, sink := run(t, root, 42, 12, func(i int) {
				if i == 5 {
					change(root)
				}
			})
			if sum, gap := sumAndGap(sink, series.NetTimeouts); sum != 0 || !gap {
				t.Errorf("%v timeouts, a gap: %v", sum, gap)
			}
			if why := s.Health().Why; !strings.Contains(why, "began anew") {
				t.Errorf("health does not report it: %q", why)
			}
		})
	}
}

// sumAndGap adds up a series and reports whether windows are absent between its
// first and last. How many there are depends on the host: a busy one skips
// readings, and the amount of that time is split.
func sumAndGap(sink *observetest.Sink, name string) (sum float64, gap bool) {
	last := int64(-1)
	for _, p := range sink.Points() {
		if p.Series.Name != name {
			continue
		}
		sum += p.Value
		gap = gap || last >= 0 && p.Window > last+1
		last = p.Window
	}
	return sum, gap
}

func TestGarbageIsAGap(t *testing.T) {
	root := recorded(t, "linux-6.18")
	s, sink := run(t, root, 42, 12, func(i int) {
		path := root + "/proc/42/net/snmp"
		switch i {
		case 4:
			replace(t, path, "Tcp: 1", "Tcp: x 1")
		case 6:
			replace(t, path, "Tcp: x 1", "Tcp: 1")
			replace(t, path, " 202 ", " 9202 ")
		}
	})
	if sum, gap := sumAndGap(sink, series.NetPassiveOpens); sum != 0 || !gap {
		t.Errorf("%v opens, a gap: %v", sum, gap)
	}
	if h := s.Health(); !strings.Contains(h.Why, "Tcp ActiveOpens") {
		t.Errorf("health %+v", h)
	}
}

// A process that ends is reported, and the next owner of its pid is not taken for it.
func TestEndOfTheProcessIsTold(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s, sink := run(t, "", cmd.Process.Pid, 8, func(i int) {
		if i == 4 {
			_ = stdin.Close()
			_ = cmd.Wait()
		}
	})
	if h := s.Health(); h.OK || !strings.Contains(h.Why, "the process ended") {
		t.Errorf("health %+v does not report the end", h)
	}
	if _, n := sink.Sum(series.NetPassiveOpens, ""); n == 0 {
		t.Error("nothing was seen before the end")
	}
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	var refusal *observe.Unsupported
	if err := New(Options{}).Open(t.Context(), observe.Subject{Clock: clock, PID: cmd.Process.Pid}); !errors.As(err, &refusal) {
		t.Errorf("Open of an ended process: %v", err)
	}
}

// A server that does not accept overflows its queue.
func TestAcceptOverflow(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	loopback := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	if err := errors.Join(unix.Bind(fd, loopback), unix.Listen(fd, 1)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	_, sink := run(t, "", os.Getpid(), 12, func(i int) {
		if i != 4 {
			return
		}
		for range 10 {
			c, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unix.Close(c) })
			if err := unix.Connect(c, name); err != nil && !errors.Is(err, unix.EINPROGRESS) {
				t.Fatal(err)
			}
		}
	})
	// The queue takes backlog + 1 connections; the other SYNs overflow it.
	for _, of := range []string{series.NetListenOverflows, series.NetListenDrops} {
		if got, _ := sink.Sum(of, ""); got < 7.9 {
			t.Errorf("%s is %v after 8 refused connections to port %s", of, got, strconv.Itoa(name.(*unix.SockaddrInet4).Port))
		}
	}
}
