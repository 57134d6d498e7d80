package container

import (
	"bufio"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

func TestConformance(t *testing.T) {
	observetest.Run(t, func() observe.Source { return New(Options{}) }, observe.Subject{PID: os.Getpid()})
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
	reported := &tellingSink{}
	reported.reported = func() {
		if enough(&reported.Sink) {
			cancel()
		}
	}
	if err := s.Run(ctx, reported); err != nil {
		t.Fatal(err)
	}
	return &reported.Sink
}

// seen reports whether a series was delivered.
func seen(sink *observetest.Sink, name string) bool {
	_, n := sink.Sum(name, "")
	return n > 0
}

// Recorded trees: version 1 with the unified tree beside it, of a real kernel;
// version 2; and none. absent is NaN.
func TestRecordedTrees(t *testing.T) {
	absent := math.NaN()
	gauges := []string{series.CgroupQuota, series.CgroupMemory, series.CgroupMemoryLimit, series.CgroupMemoryHigh,
		series.CgroupMemoryInactive}
	counters := []string{
		series.CgroupThrottled, series.CgroupThrottles, series.CgroupPeriods, series.CgroupOOMKills,
		series.CgroupMemoryMaxes, series.CgroupOOMs, series.CgroupMemoryHighs,
		series.PressureCPU, series.PressureCPUFull, series.PressureMemoryFull, series.HostPressureCPU, series.HostPressureIOFull,
	}
	tests := []struct {
		tree    string
		gauges  []float64
		there   int // how many of the counters exist, from the first
		missing map[string]bool
		says    string
	}{
		{"linux-6.18-v1", []float64{0.2, 270336, 64 << 20, absent, 0}, 12, map[string]bool{series.CgroupOOMs: true,
			series.CgroupMemoryHighs: true}, "cgroup v1"},
		// By runc, and with a namespace of control groups: the root of what is mounted
		// is the container's own group.
		{"linux-6.18-v1-container", []float64{1.5, 2801664, 512 << 20, absent, 147456}, 12,
			map[string]bool{series.CgroupOOMs: true, series.CgroupMemoryHighs: true, series.PressureCPUFull: true}, "cgroup v1"},
		{"v2-container", []float64{2, 200 << 20, absent, 384 << 20, 32 << 20}, 10, nil, ""},
		{"v2", []float64{1.5, 200 << 20, 512 << 20, 384 << 20, 32 << 20}, 10, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.tree, func(t *testing.T) {
			s := New(Options{Root: "testdata/" + test.tree})
			sink := watch(t, s, 42, func(sink *observetest.Sink) bool { // the figures of once a second, twice
				return seen(sink, series.CgroupOOMKills) && seen(sink, series.PressureMemoryFull)
			})
			for i, name := range gauges {
				if got, want := sink.Last(name, ""), test.gauges[i]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s = %v, want %v", name, got, want)
				}
			}
			// Nothing moves in a recording: existing counters stand still.
			for i, name := range counters {
				sum, n := sink.Sum(name, "")
				if want := i < test.there && !test.missing[name]; sum != 0 || (n > 0) != want {
					t.Errorf("%s: %v in %d windows, want some: %v", name, sum, n, want)
				}
			}
			if h := s.Health(); !h.OK || !strings.Contains(h.Why, test.says) {
				t.Errorf("health %+v", h)
			}
		})
	}
	var refusal *observe.Unsupported
	if err := New(Options{Root: "testdata/root"}).Open(t.Context(), observe.Subject{PID: 42}); !errors.As(err, &refusal) {
		t.Errorf("without groups and PSI: %v", err)
	}
}

// The levels whose files count: the quota's own for throttling, the limit's own
// for its events, the target's own for kills.
func TestLevels(t *testing.T) {
	s := New(Options{Root: "testdata/linux-6.18-v1"})
	if err := s.Open(t.Context(), observe.Subject{PID: 42}); err != nil {
		t.Fatal(err)
	}
	st := s.state
	st.limits(0)
	if got := filepath.Base(st.throttling) + " " + filepath.Base(st.events); got != "redline-fixture redline-fixture" {
		t.Errorf("levels %s", got)
	}
	if n, ok := st.member.memory.kills(st.files.Read); n != 1 || !ok {
		t.Errorf("%d killed, %v", n, ok)
	}
	events := map[string]uint64{}
	st.member.memory.events(st.events, st.files.Read, func(name string, n uint64) { events[name] = n })
	if len(events) != 1 || events[series.CgroupMemoryMaxes] != 193 {
		t.Errorf("events %v", events)
	}
}

// group makes a control group of this kernel with a setting of version 2 or 1,
// and returns the directory of each.
func group(t *testing.T, controller string, files map[bool][2]string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: a control group is made")
	}
	fs, err := procfs.NewFS("/proc")
	if err != nil {
		t.Fatal(err)
	}
	here, err := find(fs, "", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	h := here.cpu
	if controller == "memory" {
		h = here.memory
	}
	if h == nil {
		t.Skipf("needs a control group with %s", controller)
	}
	dir := filepath.Join(h.levels[len(h.levels)-1], "redline-test-"+strconv.Itoa(os.Getpid())+"-"+controller)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("needs a writable control group: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Errorf("remove the group: %v", err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, files[h.v2][0]), []byte(files[h.v2][1]), 0o600); err != nil {
		t.Skipf("needs the %s controller in the group: %v", controller, err)
	}
	return dir
}

// start runs a shell script in a group; the script waits for its input first.
func start(t *testing.T, dir, script string) (pid int, begin func()) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "echo up; read go; "+script)
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
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/cgroup.procs", []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, func() {
		if _, err := stdin.Write([]byte("go\n")); err != nil {
			t.Error(err)
		}
	}
}

// A real quota stops a real loop, and the figures are the kernel's own.
func TestThrottled(t *testing.T) {
	dir := group(t, "cpu", map[bool][2]string{true: {"cpu.max", "10000 100000"}, false: {"cpu.cfs_quota_us", "10000"}})
	pid, begin := start(t, dir, "while :; do :; done")
	begin()
	s := New(Options{})
	sink := watch(t, s, pid, func(sink *observetest.Sink) bool {
		ns, _ := sink.Sum(series.CgroupThrottled, "")
		return ns > 0 && seen(sink, series.CgroupQuota)
	})
	if quota := sink.Last(series.CgroupQuota, ""); quota != 0.1 {
		t.Errorf("quota %v, want 0.1", quota)
	}
	periods, _ := sink.Sum(series.CgroupPeriods, "")
	throttles, _ := sink.Sum(series.CgroupThrottles, "")
	stopped, n := sink.Sum(series.CgroupThrottled, "")
	if n == 0 || throttles <= 0 || throttles > periods+1 || stopped <= 0 {
		t.Errorf("throttled %v of %v periods, for %v ns in %d windows: %s", throttles, periods, stopped, n, s.Health().Why)
	}
}

// The kernel ends a process for lack of memory; its group survives.
func TestOOMKill(t *testing.T) {
	dir := group(t, "memory", map[bool][2]string{true: {"memory.max", "16777216"}, false: {"memory.limit_in_bytes", "16777216"}})
	pid, begin := start(t, dir, "exec dd if=/dev/zero of=/dev/null bs=100M count=1 2>/dev/null")
	s := New(Options{})
	sink := watch(t, s, pid, func(sink *observetest.Sink) bool {
		if begin != nil {
			// Only once a window was delivered: the first reading is somewhere in a window, whose part is left out.
			if _, n := sink.Sum(series.CgroupOOMKills, ""); n > 0 {
				begin()
				begin = nil
			}
			return false
		}
		// A count between two readings is spread over the windows between them, and its last
		// part arrives with the next reading. A window without a kill shows that all of it has arrived.
		kills, _ := sink.Sum(series.CgroupOOMKills, "")
		return kills > 0 && sink.Last(series.CgroupOOMKills, "") == 0
	})
	// Windows in which redline got no CPU are left out with their part.
	kills, _ := sink.Sum(series.CgroupOOMKills, "")
	if whole := s.missed == 0; whole && math.Abs(kills-1) > 0.01 || kills <= 0 || kills > 1.01 {
		t.Errorf("%v processes killed, want 1: %s", kills, s.Health().Why)
	}
	if maxes, _ := sink.Sum(series.CgroupMemoryMaxes, ""); maxes < 1 {
		t.Errorf("the limit was reached %v times", maxes)
	}
}

// tellingSink is a sink that signals each delivery.
type tellingSink struct {
	observetest.Sink
	reported func()
}

func (s *tellingSink) Add(points ...series.Point) error {
	err := s.Sink.Add(points...)
	s.reported()
	return err
}
