package perf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix" // perf_event_open

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/tree"
	"github.com/redline-go/redline/observe/pseudofile"
	"github.com/redline-go/redline/record/series"
)

// seldom is how often the target's processes are looked up.
const seldom = time.Second

// maxThreads bounds the threads counted, each with a descriptor per event.
const maxThreads = 128

// mostThreads is the bound if descriptors are few: an eighth of them, because
// the rest are for connections.
func (s *Source) mostThreads() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return maxThreads
	}
	return int(min(maxThreads, max(1, limit.Cur/8/uint64(len(s.events)))))
}

var events = []event{
	{series.PerfCycles, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
	{series.PerfInstructions, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
	{series.PerfCacheReferences, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_REFERENCES},
	{series.PerfCacheMisses, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
	{series.PerfBranches, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{series.PerfBranchMisses, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES},
}

// state is acquired by Open and used by Run.
type state struct {
	*Source
	subject  observe.Subject
	tree     *tree.Tree // closed when the target is gone
	lookAt   time.Duration
	meter    observe.Meter
	counters []*counter
}

// counter is one event over all threads.
type counter struct {
	event
	threads []thread
	total   float64 // scaled to the time that the counter was wanted
	refused error   // of the first thread that could not be counted
}

// thread is the counter of one thread and its children.
type thread struct {
	fd   int     // of perf_event_open(2)
	last reading // at the previous edge
}

// reading is the kernel's result with PERF_FORMAT_TOTAL_TIME_ENABLED and
// _RUNNING: the count, and the ns for which the counter was wanted and was on.
type reading struct{ value, enabled, running uint64 }

// Open implements observe.Source. Counters are inherited by threads and children born later
// (perf_event_attr.inherit), so that they are attached once. If the CPU or the kernel
// refuses a counter, only its series is missing.
func (s *Source) Open(_ context.Context, subject observe.Subject) error {
	t, err := tree.Open("", subject.PID)
	if err != nil {
		return err
	}
	st := &state{Source: s, subject: subject, tree: t}
	st.meter.Width = subject.Window
	for _, e := range s.events {
		st.counters = append(st.counters, &counter{event: e})
	}
	counted, most := 0, s.mostThreads()
	for _, p := range t.Members {
		ids, _ := pseudofile.Numbered("/proc/" + strconv.Itoa(p.PID) + "/task") // none if it has ended
		for _, tid := range ids {
			if counted++; counted > most {
				s.vitals.Say("only %d threads and their children are counted (to enable: raise the limit of open files)", most)
				break
			}
			for _, c := range st.counters {
				st.attach(c, tid)
			}
		}
	}
	if err := st.opened(); err != nil {
		t.Close()
		return err
	}
	return nil
}

// attach opens the counter of a thread; without the privilege for the kernel's
// share, of user space alone.
func (s *state) attach(c *counter, tid int) {
	// The hypervisor's share is excluded: few CPUs can distinguish it, and the target can do
	// nothing about it. Both times are read because counters beyond those of the CPU are
	// multiplexed: value times enabled/running is the estimate (perf_event_open(2)).
	attr := unix.PerfEventAttr{
		Type: c.kind, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: c.config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitInherit | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		attr.Bits |= unix.PerfBitExcludeKernel
		if fd, err = unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC); err == nil {
			s.vitals.Say("the counters cover user space alone (to enable the rest: root, CAP_PERFMON, or kernel.perf_event_paranoid=1)")
		}
	}
	switch {
	case err == nil:
		c.threads = append(c.threads, thread{fd: fd})
	case !errors.Is(err, unix.ESRCH) && c.refused == nil:
		c.refused = err
	}
}

// opened keeps the counters that could be opened and names the others.
func (s *state) opened() error {
	var open []*counter
	var refusal *observe.Unsupported
	for _, c := range s.counters {
		if c.refused != nil {
			refusal = refused(c)
			s.vitals.Say("%v", refusal)
		}
		if len(c.threads) > 0 {
			open = append(open, c)
		}
	}
	if len(open) == 0 {
		if refusal == nil {
			refusal = &observe.Unsupported{What: fmt.Sprintf("process %d has ended", s.subject.PID), Enable: "name a process that runs"}
		}
		return refusal
	}
	s.counters, s.state = open, s
	return nil
}

// refused names the remedy that would allow a counter.
func refused(c *counter) *observe.Unsupported {
	u := &observe.Unsupported{What: "the CPU's counters are not read", Err: c.refused}
	switch {
	case errors.Is(c.refused, unix.ENOENT), errors.Is(c.refused, unix.EOPNOTSUPP), errors.Is(c.refused, unix.ENODEV):
		u.What, u.Err = "this machine offers no hardware counters", nil
		u.Enable = "run on bare metal, or in a VM whose hypervisor passes the CPU's counters (PMU) on"
	case errors.Is(c.refused, unix.EMFILE):
		u.Enable = "raise the limit of open files (ulimit -n)"
	default:
		u.Enable = "run redline as root or with CAP_PERFMON, or set kernel.perf_event_paranoid=1; in a container, allow " +
			"perf_event_open in its seccomp profile"
	}
	return u
}

// Run implements observe.Source.
func (s *Source) Run(ctx context.Context, sink observe.Sink) error {
	st := s.state
	s.state = nil
	defer st.release()
	edges := &observe.Edges{Clock: st.subject.Clock, Width: st.subject.Window}
	err := edges.Each(ctx, func(edge time.Duration) error {
		if st.alive(edge) {
			st.sample()
		}
		// A full disk is the conductor's to report; the next window may fit.
		_ = st.meter.Flush(sink)
		return nil
	})
	s.vitals.Missed = edges.Missed()
	return err
}

// alive reports whether any process of the target lives; if none does, nothing is
// counted any more, which is not the same as zero.
func (s *state) alive(edge time.Duration) bool {
	if edge >= s.lookAt && len(s.tree.Members) > 0 {
		s.lookAt = edge + seldom
		s.tree.Look()
	}
	if len(s.tree.Members) > 0 && s.tree.Alive() {
		return true
	}
	s.vitals.End(s.subject.Clock.Now())
	return false
}

// sample reads all counters at a window's edge. Each is read and dated by itself: the
// threads' counters are many, and a pause between two must not shift the second.
func (s *state) sample() {
	for _, c := range s.counters {
		before := s.subject.Clock.Now()
		known := c.read()
		at := s.vitals.Bracket.Add(before, s.subject.Clock.Now())
		if known {
			s.meter.Count(c.series, "", at, c.total)
			continue
		}
		s.meter.Forget(c.series, "") // missed amounts stay absent
		s.vitals.Say("%s: other programs used the CPU's counters in some windows (to enable: end other profilers, or switch the "+
			"NMI watchdog off with kernel.nmi_watchdog=0)", c.series)
	}
}

// release closes the counters, which ends them in the kernel.
func (s *state) release() {
	s.tree.Close()
	for _, c := range s.counters {
		for _, t := range c.threads {
			_ = unix.Close(t.fd) // opened for reading only
		}
	}
}

// read adds the amounts of all threads since the last call. It reports false if a
// counter was wanted but never on: how much it missed is unknown.
func (c *counter) read() (known bool) {
	known = true
	for i := range c.threads {
		t := &c.threads[i]
		var buf [24]byte
		if n, err := unix.Read(t.fd, buf[:]); err != nil || n != len(buf) {
			known = false
			continue
		}
		now := reading{binary.NativeEndian.Uint64(buf[0:]), binary.NativeEndian.Uint64(buf[8:]), binary.NativeEndian.Uint64(buf[16:])}
		amount, ok := now.since(t.last)
		c.total += amount
		t.last, known = now, known && ok
	}
	return known
}

// since returns the amount between two readings, scaled to the time for which the
// counter was wanted; ok is false if it was never on in that time.
func (r reading) since(last reading) (amount float64, ok bool) {
	enabled, running := r.enabled-last.enabled, r.running-last.running
	if running == 0 {
		return 0, enabled == 0
	}
	return float64(r.value-last.value) * float64(enabled) / float64(running), true
}
