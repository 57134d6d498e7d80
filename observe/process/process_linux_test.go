package process

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// TestMain lets the test binary be the target: it uses CPU until its standard
// input ends, after reporting that it has begun.
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
	if os.Getenv("REDLINE_TEST_SPAWN") != "" {
		spawn()
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
	if shell {
		return begun(t, exec.Command("sh", "-c", `"$0"; true`, self), "REDLINE_TEST_BURN=1", "GOMAXPROCS=2")
	}
	return started(t, "REDLINE_TEST_BURN=1", "GOMAXPROCS=2")
}

// started starts the test binary with an environment that says what it is.
func started(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return begun(t, exec.Command(self), env...)
}

// begun starts a command and waits for its first line; the end of the test ends it.
func begun(t *testing.T, cmd *exec.Cmd, env ...string) *exec.Cmd {
	t.Helper()
	cmd.Env = append(os.Environ(), env...)
	observetest.Begin(t, cmd)
	return cmd
}

func TestConformance(t *testing.T) {
	cmd := burn(t, false)
	observetest.Run(t, func() observe.Source { return New(Options{}) }, observe.Subject{PID: cmd.Process.Pid})
}

// watch runs a source over a process until the sink has seen enough, which is
// checked after each delivery; on a busy host that may take a while.
func watch(t *testing.T, s *Source, pid int, enough func(*observetest.Sink) bool) *observetest.Sink {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context(), observe.Subject{Clock: clock, Window: 50 * time.Millisecond, PID: pid}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sink := &onAdd{}
	sink.f = func(int) {
		if enough(&sink.Sink) {
			cancel()
		}
	}
	if err := s.Run(ctx, sink); err != nil {
		t.Fatal(err)
	}
	return &sink.Sink
}

// points returns a condition: so many points of a series were delivered.
func points(name string, n int) func(*observetest.Sink) bool {
	return func(sink *observetest.Sink) bool {
		_, have := sink.Sum(name, "")
		return have >= n
	}
}

// The figures of a busy process agree with the kernel's totals at its end, however it
// was started.
func TestBusyProcess(t *testing.T) {
	for name, shell := range map[string]bool{"direct": false, "behind a shell": true} {
		t.Run(name, func(t *testing.T) {
			cmd := burn(t, shell)
			s := New(Options{})
			sink := watch(t, s, cmd.Process.Pid, func(sink *observetest.Sink) bool {
				used, _ := sink.Sum(series.ProcessUser, "") // on a busy host the loop gets little
				return used > 300e6 && points(series.ProcessReadBytes, 15)(sink)
			})
			user, n := sink.Sum(series.ProcessUser, "")
			system, _ := sink.Sum(series.ProcessSystem, "")
			if n == 0 || user+system <= 0 {
				t.Fatalf("no CPU in %d windows", n)
			}
			if user < system {
				t.Errorf("a loop in user space used %v ns of user and %v ns of system time", user, system)
			}
			for _, gauge := range []string{series.ProcessRSS, series.ProcessThreads, series.ProcessFDs,
				series.ProcessFDLimit, series.HostCPUs} {
				if last := sink.Last(gauge, ""); !(last > 0) {
					t.Errorf("%s is %v", gauge, last)
				}
			}
			for _, counter := range []string{series.ProcessRunDelay, series.ProcessVoluntary, series.ProcessReadBytes, series.HostBusy} {
				if _, n := sink.Sum(counter, ""); n == 0 {
					t.Errorf("no window of %s: %s", counter, s.Health().Why)
				}
			}
			if h := s.Health(); !h.OK {
				t.Errorf("health %+v", h)
			}
			// No delivered window has more than the time of both CPUs.
			if busiest := float64(n+1) * 2 * 50e6; user+system > busiest {
				t.Errorf("one loop used %v ns in %d windows", user+system, n)
			}
		})
	}
}

func TestEndOfTheProcessIsTold(t *testing.T) {
	cmd := burn(t, false)
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{})
	if err := s.Open(t.Context(), observe.Subject{Clock: clock, Window: 20 * time.Millisecond, PID: cmd.Process.Pid}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sink := &onAdd{}
	sink.f = func(int) {
		if s.ended != 0 && points(series.HostBusy, 8)(&sink.Sink) {
			cancel()
		}
	}
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
		t.Errorf("health %+v does not report the end", h)
	}
	if _, n := sink.Sum(series.HostBusy, ""); n == 0 {
		t.Error("the host's figures ended with the process")
	}
	var refusal *observe.Unsupported
	if err := New(Options{}).Open(t.Context(), observe.Subject{Clock: clock, PID: cmd.Process.Pid}); err == nil {
		t.Error("a process that has ended can be watched")
	} else if !errors.As(err, &refusal) {
		t.Errorf("Open: %v", err)
	}
}

// A recorded tree, of a real process with four threads.
func TestRecordedTree(t *testing.T) {
	s := New(Options{Root: "testdata/linux-6.18"})
	sink := watch(t, s, 42, points(series.ProcessReadBytes, 8))
	for name, want := range map[string]float64{
		series.ProcessRSS: 3385 * float64(os.Getpagesize()), series.ProcessThreads: 4,
		series.ProcessFDs: 3, series.ProcessFDLimit: 20000, series.HostCPUs: 2,
	} {
		if got := sink.Last(name, ""); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	// Nothing moves in a recording: every counter is there and stands still.
	for _, name := range []string{
		series.ProcessUser, series.ProcessSystem, series.ProcessReaped, series.ProcessRunDelay, series.ProcessMinorFaults,
		series.ProcessMajorFaults,
		series.ProcessVoluntary, series.ProcessInvoluntary, series.ProcessReadBytes, series.ProcessWriteBytes,
		series.HostBusy, series.HostSteal,
	} {
		if sum, n := sink.Sum(name, ""); n == 0 || sum != 0 {
			t.Errorf("%s: %v in %d windows", name, sum, n)
		}
	}
	if h := s.Health(); !h.OK {
		t.Errorf("health %+v", h)
	}
}

// Figures that cannot be read are absent and reported as such, never zero.
func TestMissingFilesAreAbsent(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("testdata/linux-6.18")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"42/io", "42/task", "42/fd", "42/schedstat"} {
		if err := os.RemoveAll(root + "/proc/" + file); err != nil {
			t.Fatal(err)
		}
	}
	s := New(Options{Root: root})
	sink := watch(t, s, 42, points(series.ProcessMinorFaults, 4))
	for _, name := range []string{series.ProcessRunDelay, series.ProcessVoluntary, series.ProcessReadBytes, series.ProcessFDs} {
		if sum, n := sink.Sum(name, ""); n != 0 {
			t.Errorf("%s: %v in %d windows", name, sum, n)
		}
	}
	if h := s.Health(); !h.OK || !strings.Contains(h.Why, "run delay") {
		t.Errorf("health %+v", h)
	}
}

// onAdd is a sink that signals each delivery.
type onAdd struct {
	observetest.Sink
	f func(delivery int)
	n int
}

func (s *onAdd) Add(points ...series.Point) error {
	err := s.Sink.Add(points...)
	s.n++
	s.f(s.n)
	return err
}

// Another process under the target's pid is not taken for it: from then on its
// figures are absent, and the health says so.
func TestReplacedProcessIsAGap(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("testdata/linux-6.18")); err != nil {
		t.Fatal(err)
	}
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Root: root})
	if err := s.Open(t.Context(), observe.Subject{Clock: clock, Window: 20 * time.Millisecond, PID: 42}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	known := 0
	sink := &onAdd{}
	sink.f = func(delivery int) {
		switch delivery {
		case 3:
			_, known = sink.Sum(series.ProcessThreads, "")
			stat := root + "/proc/42/stat"
			text, err := os.ReadFile(stat)
			if err != nil {
				t.Error(err)
			}
			fields := strings.Fields(string(text))
			fields[len(fields)-31] += "1" // starttime, field 22 of 52
			if err := os.WriteFile(stat, []byte(strings.Join(fields, " ")), 0o600); err != nil {
				t.Error(err)
			}
		case 6:
			cancel()
		}
	}
	if err := s.Run(ctx, sink); err != nil {
		t.Fatal(err)
	}
	if _, n := sink.Sum(series.ProcessThreads, ""); known == 0 || n != known {
		t.Errorf("%d windows before the process was replaced, %d in the end", known, n)
	}
	if h := s.Health(); h.OK || !strings.Contains(h.Why, "another process") || len(h.Gaps) != 1 || h.Gaps[0].Len() <= 0 {
		t.Errorf("health %+v", h)
	}
}
