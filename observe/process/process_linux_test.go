package process

import (
	"bufio"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record"
)

// TestMain lets the test binary be the target: it burns CPU until its standard
// input ends, telling once that it has begun.
func TestMain(m *testing.M) {
	if os.Getenv("REDLINE_TEST_BURN") != "" {
		go func() {
			for x := uint64(1); ; x += x * x {
				if x == 0 {
					x = 1
				}
			}
		}()
		os.Stdout.WriteString("burning\n")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// burn starts a process that uses one CPU, through a shell that does not exec
// when asked to.
func burn(t *testing.T, shell bool) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	if shell {
		cmd = exec.Command("sh", "-c", `"$0"; true`, self)
	}
	cmd.Env = append(os.Environ(), "REDLINE_TEST_BURN=1", "GOMAXPROCS=2")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close() // ends the burner however deep it is
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("the burner did not begin: %v", err)
	}
	return cmd
}

func TestConformance(t *testing.T) {
	cmd := burn(t, false)
	observetest.Run(t, func() observe.Source { return New(Options{}) }, observe.Subject{PID: cmd.Process.Pid})
}

// watch runs a source over a subject for a number of windows.
func watch(t *testing.T, s *Source, pid int, windows int) *observetest.Sink {
	t.Helper()
	clock, err := record.StartClock()
	if err != nil {
		t.Fatal(err)
	}
	const width = 50 * time.Millisecond
	if err := s.Open(t.Context(), observe.Subject{Clock: clock, Window: width, PID: pid}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(windows)*width+width/2)
	defer cancel()
	sink := &observetest.Sink{}
	if err := s.Run(ctx, sink); err != nil {
		t.Fatal(err)
	}
	return sink
}

// The figures of a busy process agree with what the kernel says of it in the
// end, whichever way it was started.
func TestBusyProcess(t *testing.T) {
	for name, shell := range map[string]bool{"direct": false, "behind a shell": true} {
		t.Run(name, func(t *testing.T) {
			cmd := burn(t, shell)
			s := New(Options{})
			sink := watch(t, s, cmd.Process.Pid, 24)
			user, n := sink.Sum(record.ProcessUser, "")
			system, _ := sink.Sum(record.ProcessSystem, "")
			if n == 0 || user+system <= 0 {
				t.Fatalf("no CPU in %d windows", n)
			}
			if user < system {
				t.Errorf("a loop in user space used %v ns of user and %v ns of system time", user, system)
			}
			for _, gauge := range []string{record.ProcessRSS, record.ProcessThreads, record.ProcessFDs, record.ProcessFDLimit, record.HostCPUs} {
				if last := sink.Last(gauge, ""); !(last > 0) {
					t.Errorf("%s is %v", gauge, last)
				}
			}
			for _, counter := range []string{record.ProcessRunDelay, record.ProcessVoluntary, record.ProcessReadBytes, record.HostBusy} {
				if _, n := sink.Sum(counter, ""); n == 0 {
					t.Errorf("no window of %s: %s", counter, s.Health().Why)
				}
			}
			if h := s.Health(); !h.OK {
				t.Errorf("health %+v", h)
			}
			// The wall clock bounds what a single loop can have used.
			if busiest := 1.5 * 24 * 50e6; user+system > busiest {
				t.Errorf("one loop used %v ns, more than %v", user+system, busiest)
			}
		})
	}
}

func TestEndOfTheProcessIsTold(t *testing.T) {
	cmd := burn(t, false)
	clock, err := record.StartClock()
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{})
	if err := s.Open(t.Context(), observe.Subject{Clock: clock, Window: 20 * time.Millisecond, PID: cmd.Process.Pid}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	sink := &observetest.Sink{}
	done := make(chan error)
	go func() { done <- s.Run(ctx, sink) }()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if h := s.Health(); h.OK || !strings.Contains(h.Why, "the process ended") {
		t.Errorf("health %+v does not tell of the end", h)
	}
	if _, n := sink.Sum(record.HostBusy, ""); n == 0 {
		t.Error("the host's figures ended with the process")
	}
	var refusal *observe.Unsupported
	if err := New(Options{}).Open(t.Context(), observe.Subject{Clock: clock, PID: cmd.Process.Pid}); err == nil {
		t.Error("a process that has ended can be watched")
	} else if !errors.As(err, &refusal) {
		t.Errorf("Open: %v", err)
	}
}

// Recorded trees: cgroup v2, v1 with v2 beside it, and none.
func TestRecordedTrees(t *testing.T) {
	absent := math.NaN()
	tests := []struct {
		tree   string
		gauges map[string]float64
	}{
		{"v2", map[string]float64{
			record.CgroupQuota: 1.5, record.CgroupMemory: 200 << 20, record.CgroupMemoryLimit: 512 << 20,
			record.ProcessRSS: 2000 * float64(os.Getpagesize()), record.ProcessThreads: 9, record.ProcessFDs: 3, record.ProcessFDLimit: 1024, record.HostCPUs: 4,
		}},
		{"v1", map[string]float64{
			record.CgroupQuota: 0.5, record.CgroupMemory: 100 << 20, record.CgroupMemoryLimit: absent,
			record.ProcessThreads: 9, record.HostCPUs: 4,
		}},
		{"none", map[string]float64{
			record.CgroupQuota: absent, record.CgroupMemory: absent, record.CgroupMemoryLimit: absent, record.ProcessThreads: 9,
		}},
	}
	for _, test := range tests {
		t.Run(test.tree, func(t *testing.T) {
			s := New(Options{Root: "testdata/" + test.tree})
			sink := watch(t, s, 42, 4)
			for name, want := range test.gauges {
				if got := sink.Last(name, ""); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s = %v, want %v", name, got, want)
				}
			}
			_, throttled := sink.Sum(record.CgroupThrottled, "")
			if want := test.tree != "none"; (throttled > 0) != want {
				t.Errorf("%d windows of throttling, want some: %v", throttled, want)
			}
			if _, pressed := sink.Sum(record.PressureMemory, ""); (pressed > 0) != (test.tree != "none") {
				t.Errorf("%d windows of pressure in tree %s", pressed, test.tree)
			}
		})
	}
}
