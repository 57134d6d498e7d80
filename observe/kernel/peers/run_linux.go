package peers

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/sockets"
	"github.com/redline-go/redline/observe/kernel/tree"
	"github.com/redline-go/redline/record/series"
)

const (
	// seldom is the shortest interval between two looks for peers.
	seldom = time.Second
	// share is the inverse of the part of a CPU that looks take, and as much goes into listing all
	// processes' descriptors.
	share = 200
	// credit is the CPU for listing them that is spent at once: most peers are found as the load begins.
	credit = 100 * time.Millisecond
)

// state is acquired by Open and used by Run.
type state struct {
	*Source
	subject observe.Subject
	tree    *tree.Tree
	ends    *sockets.Ends
	meter   observe.Meter
	finder  finder
	totals  map[string]time.Duration // CPU by labels, of peers that ended, too

	lookAt time.Duration
	every  time.Duration // the longest interval so far
}

// Open implements observe.Source. It looks for peers once, so that their CPU counts from the first window.
func (s *Source) Open(_ context.Context, subject observe.Subject) error {
	t, err := tree.Open("", subject.PID)
	if err != nil {
		return err
	}
	ends, err := sockets.OpenEnds(t)
	if err != nil {
		t.Close()
		return err
	}
	st := &state{Source: s, subject: subject, tree: t, ends: ends, totals: map[string]time.Duration{}}
	st.meter.Width = subject.Window
	st.look(0)
	s.state = st
	return nil
}

// Run implements observe.Source.
func (s *Source) Run(ctx context.Context, sink observe.Sink) error {
	st := s.state
	s.state = nil
	defer st.release()
	edges := &observe.Edges{Clock: st.subject.Clock, Width: st.subject.Window}
	err := edges.Each(ctx, func(edge time.Duration) error {
		if !st.tree.Alive() {
			s.vitals.End(st.subject.Clock.Now())
			return nil
		}
		st.read()
		st.meter.Gauge(series.PeersUnseen, "", edge, float64(st.finder.unseen))
		st.look(edge)
		// A full disk is the conductor's to report; the next window may fit.
		_ = st.meter.Flush(sink)
		return nil
	})
	s.vitals.Missed = edges.Missed()
	if st.every > 2*seldom {
		s.vitals.Say("peers were looked for only every %s because there are many sockets", st.every.Round(time.Second))
	}
	s.vitals.Finish(st.subject.Clock.Now())
	return err
}

// release closes what Open opened.
func (s *state) release() {
	s.finder.release()
	s.ends.Close()
	s.tree.Close()
}

// read adds up the CPU clocks of the peers, and dates them all by one bracket.
func (s *state) read() {
	before := s.subject.Clock.Now()
	for _, p := range s.finder.peers {
		used, alive := p.cpu()
		if !alive {
			continue // dropped by the next look
		}
		if p.based && used > p.last {
			s.totals[p.labels] += used - p.last
		}
		p.last, p.based = used, true
		if _, known := s.totals[p.labels]; !known {
			s.totals[p.labels] = 0
		}
	}
	at := s.vitals.Bracket.Add(before, s.subject.Clock.Now())
	for labels, total := range s.totals {
		s.meter.Count(series.PeersCPU, labels, at, float64(total))
	}
}

// look finds the peers of this moment, not more often than its cost allows.
func (s *state) look(edge time.Duration) {
	if edge < s.lookAt {
		return
	}
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	before, listed := sockets.ThreadCPU(), time.Duration(0)
	s.tree.Look()
	if len(s.tree.Members) > 0 {
		if ends, err := s.ends.Look(); err != nil {
			s.vitals.Say("peers cannot be looked for: %v", err)
		} else {
			listed = s.finder.find(s.tree, ends, s.finder.spent <= credit+edge/share)
			s.describe()
		}
	}
	wait := max(seldom, share*(sockets.ThreadCPU()-before-listed))
	s.every = max(s.every, wait)
	s.lookAt = edge + wait
}

// describe notes what the finder does not see.
func (s *state) describe() {
	for _, port := range slices.Sorted(maps.Keys(s.finder.hidden)) {
		s.vitals.Say("the process that the target asks at port %d is not seen, so its CPU counts as that of other programs: "+
			"run redline as its user, or as root", port)
	}
	if s.finder.late {
		s.vitals.Say("new peers were looked for later because listing all descriptors takes long")
	}
	if s.finder.full {
		s.vitals.Say("only the first %d peers are read", maxPeers)
	}
}
