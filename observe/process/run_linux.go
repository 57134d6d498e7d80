package process

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/procfs" // limits files, and descriptors counted without listing

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/pseudofile"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// seldom is the interval of costly or slowly changing readings: the tree of
// processes, descriptors, limits.
const seldom = time.Second

// state is acquired by Open and used by Run.
type state struct {
	*Source
	clock timebase.Clock
	meter observe.Meter
	files pseudofile.Reader
	fs    procfs.FS
	proc  string // mount point of procfs

	tree     tree
	replaced bool // another process was found under a member's pid
	cpu      cpuFrom

	seldomAt, threadsAt, switchesAt time.Duration // next reading of each
}

// Open implements observe.Source. It keeps the target's start time, which distinguishes a
// later process with the same pid.
func (s *Source) Open(_ context.Context, subject observe.Subject) error {
	if subject.PID <= 0 {
		return observe.Unseen(s.options.Root+"/proc", 0, nil)
	}
	st := &state{Source: s, clock: subject.Clock, proc: s.options.Root + "/proc"}
	st.meter.Width = subject.Window
	text, err := st.files.Read(st.proc + "/" + strconv.Itoa(subject.PID) + "/stat")
	if err != nil {
		return observe.Unseen(st.proc, subject.PID, err)
	}
	root, err := parseStat(text)
	if err != nil || root.ended() {
		return &observe.Unsupported{
			What:   fmt.Sprintf("process %d has ended", subject.PID),
			Enable: "name a process that runs",
			Err:    err,
		}
	}
	if st.fs, err = procfs.NewFS(st.proc); err != nil {
		return &observe.Unsupported{What: "/proc cannot be read", Enable: "mount procfs", Err: err}
	}
	st.tree.members = []*member{{pid: subject.PID, start: root.start}}
	st.chooseCPU(subject.PID)
	s.subject, s.state = subject, st
	return nil
}

// Run implements observe.Source.
func (s *Source) Run(ctx context.Context, sink observe.Sink) error {
	st := s.state
	s.state = nil
	defer func() {
		for _, m := range st.tree.members {
			m.release()
		}
	}()
	edges := &observe.Edges{Clock: st.clock, Width: s.subject.Window}
	err := edges.Each(ctx, func(edge time.Duration) error {
		st.sample(edge)
		s.samples++
		// A full disk is the conductor's to report; the next window may fit.
		_ = st.meter.Flush(sink)
		return nil
	})
	s.missed = edges.Missed()
	if s.ended != 0 {
		why := "the process ended"
		if st.replaced {
			why = "its pid is another process's"
		}
		s.gaps = []record.Gap{{Span: timebase.Span{From: s.ended, To: st.clock.Now()}, Of: "process", Why: why}}
	}
	return err
}

// sample reads the figures due at an edge. The fastest-moving come first, nearest
// the edge.
func (s *state) sample(edge time.Duration) {
	due := edge >= s.seldomAt
	if due {
		s.seldomAt = edge + seldom
	}
	if len(s.tree.members) > 0 {
		s.processes(edge)
		if due {
			s.findChildren()
			s.descriptors(edge)
		}
		if len(s.tree.members) == 0 {
			s.ended = s.clock.Now()
		}
	}
	s.host(edge)
}

// say notes, once, what the source cannot see.
func (s *Source) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.blind, text) && len(s.blind) < 16 {
		s.blind = append(s.blind, text)
	}
}
