package container

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/procfs"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/pseudofile"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// seldom is how often limits, memory and the target's group are read.
const seldom = time.Second

// state is acquired by Open and used by Run.
type state struct {
	*Source
	subject observe.Subject
	meter   observe.Meter
	files   pseudofile.Reader
	fs      procfs.FS
	proc    string // mount point of procfs

	groups string        // /proc/<pid>/cgroup at the last look
	looked time.Duration // when that was
	member membership
	// throttling is the level whose cpu.stat is counted, events the one whose
	// memory events are; both are empty until they are looked up.
	throttling, events string
	pressures          []pressureFile
	seldomAt           time.Duration
}

// pressureFile is one existing file of PSI and its scope: the host's stand in for
// those of a group that has none.
type pressureFile struct {
	path   string
	stalls []stall
}

// Open implements observe.Source. One of control group and PSI is enough; a missing one has
// no series and is named in the health.
func (s *Source) Open(_ context.Context, subject observe.Subject) error {
	if subject.PID <= 0 {
		return observe.Unseen(s.options.Root+"/proc", 0, nil)
	}
	st := &state{Source: s, subject: subject, proc: s.options.Root + "/proc"}
	st.meter.Width = subject.Window
	if _, err := os.Stat(st.process()); err != nil {
		return observe.Unseen(st.proc, subject.PID, err)
	}
	var err error
	if st.fs, err = procfs.NewFS(st.proc); err != nil {
		return &observe.Unsupported{What: "/proc cannot be read", Enable: "mount procfs", Err: err}
	}
	st.look()
	if st.member == (membership{}) && len(st.pressures) == 0 {
		return &observe.Unsupported{
			What:   "the target has no cgroup, and the host no PSI",
			Enable: "mount the cgroups (/sys/fs/cgroup) where redline runs, or start the kernel with psi=1",
		}
	}
	s.state = st
	return nil
}

// process is the target's folder below the injected root, so that recorded trees replay.
func (s *state) process() string { return s.proc + "/" + strconv.Itoa(s.subject.PID) }

// look finds the target's groups, when they are not those of the last look.
func (s *state) look() {
	defer func() { s.looked = s.subject.Clock.Now() }()
	text, err := s.files.Read(s.process() + "/cgroup")
	if err != nil {
		if s.groups == "" {
			s.say("no cgroups: %v", err)
			s.findPressure()
		}
		return // the process has ended; its files may still be read
	}
	groups := string(text)
	if groups == s.groups || s.groups != "" && s.ended() {
		return // Subtle: a process that has ended is moved to the root by the kernel
	}
	if s.groups != "" {
		s.gaps = append(s.gaps, record.Gap{Span: timebase.Span{From: s.looked, To: s.subject.Clock.Now()},
			Why: "the target moved to another cgroup"})
		s.meter.Break()
	}
	s.groups = groups
	if s.member, err = find(s.fs, s.options.Root, s.subject.PID); err != nil {
		s.say("no cgroups: %v", err)
	}
	s.throttling, s.events = "", ""
	s.findPressure()
	s.tellAbsent()
}

// ended reports whether the target is gone, or waits to be reaped.
func (s *state) ended() bool {
	text, err := s.files.Read(s.process() + "/stat")
	end := bytes.LastIndexByte(text, ')') // of the name, which may hold any byte
	return err != nil || bytes.HasPrefix(text[end+1:], []byte(" Z")) || bytes.HasPrefix(text[end+1:], []byte(" X"))
}

// tellAbsent reports the figures that are not available here.
func (s *state) tellAbsent() {
	const outside = "mount its cgroups where redline runs, or run redline on the host"
	switch p := s.member; {
	case p.cpu == nil && p.memory == nil:
		s.say("the target's cgroup was not found (to enable: %s)", outside)
	case p.memory == nil || p.memory.root():
		s.say("no memory figures: the target has no cgroup of its own (to enable: run it in a container or with systemd-run " +
			"-p MemoryMax=)")
	case !p.memory.v2:
		s.say("cgroup v1 does not count reaching memory.high, nor an OOM without a kill (to enable: boot with cgroup v2)")
	}
}

// Run implements observe.Source. It looks up the group every second, because a service
// manager may move the target.
func (s *Source) Run(ctx context.Context, sink observe.Sink) error {
	st := s.state
	s.state = nil
	edges := &observe.Edges{Clock: st.subject.Clock, Width: st.subject.Window}
	err := edges.Each(ctx, func(edge time.Duration) error {
		st.sample(edge)
		// A full disk is the conductor's to report; the next window may fit.
		_ = st.meter.Flush(sink)
		return nil
	})
	s.missed = edges.Missed()
	return err
}
