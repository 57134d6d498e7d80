package sockets

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/tree"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const (
	// perWindow is how often accept queues are read in a window.
	perWindow = 4
	// seldom is how often processes and descriptors are looked up.
	seldom = time.Second
	// share is the inverse of the share of a CPU for reading connections, and
	// seldomShare of that for listing descriptors: below 1 % in all, with
	// the accept queues.
	share       = 125
	seldomShare = 1000
)

// state is acquired by Open and used by Run.
type state struct {
	*Source
	subject observe.Subject
	tree    *tree.Tree
	diag    *diag
	meter   observe.Meter
	network uint64 // inode that identifies the network namespace
	ports   int    // local ports for connections outwards there; 0 if not known
	owned   owned
	queues  map[string]queue // of the open window, by address listened on
	filter  []byte           // filter of connections in the kernel; nil for all
	sum     sum
	totals  totals

	listeners []socket // as last read

	lookAt, connectionsAt              time.Duration // next reading of each
	seenAt                             time.Duration // last reading of connections
	unseen                             string        // why they are not read now; empty if they are
	descriptorsEvery, connectionsEvery time.Duration // the longest intervals so far
}

// queue is an accept queue: the most connections that waited, and how many may.
type queue struct{ waiting, backlog uint32 }

// Open implements observe.Source. It enters the target's network namespace for one call:
// a netlink socket stays in the namespace that it was made in (network_namespaces(7)).
func (s *Source) Open(_ context.Context, subject observe.Subject) error {
	t, err := tree.Open("", subject.PID)
	if err != nil {
		return err
	}
	st := &state{Source: s, subject: subject, tree: t, queues: map[string]queue{}}
	st.meter.Width, st.totals.width = subject.Window, subject.Window
	if err := st.attach(); err != nil {
		st.release()
		return err
	}
	s.state = st
	return nil
}

// attach opens sock_diag in the target's namespace and finds its sockets.
func (s *state) attach() error {
	if err := s.reopen(); err != nil {
		return err
	}
	if err := s.owned.look(s.tree); err != nil {
		return &observe.Unsupported{
			What:   "the target's descriptors cannot be listed, so its sockets cannot be identified",
			Enable: "run redline as the target's user, or as root",
			Err:    err,
		}
	}
	if err := s.findListeners(); err != nil {
		return &observe.Unsupported{
			What:   "sock_diag does not answer",
			Enable: "load the kernel modules inet_diag and tcp_diag; in a container, allow netlink sockets",
			Err:    err,
		}
	}
	return nil
}

// reopen opens the netlink socket, in the target's namespace.
func (s *state) reopen() error {
	if s.diag != nil {
		s.lose()
	}
	root, err := s.tree.First()
	if err != nil {
		return err
	}
	s.network, _ = root.Inode("net/netstat") // 0 if unreadable, and then always
	err = root.InNamespace(func() (err error) {
		s.ports = localPorts()
		s.diag, err = openDiag(s.subject.Clock)
		return err
	})
	if err != nil {
		return &observe.Unsupported{What: "sock_diag is not available", Enable: "see whether netlink sockets are allowed here", Err: err}
	}
	return nil
}

// localPorts returns how many local ports outgoing connections may take in the
// calling thread's network namespace, 0 if that cannot be read.
func localPorts() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	var low, high int
	if _, scanned := fmt.Sscan(string(text), &low, &high); err != nil || scanned != nil {
		return 0
	}
	return max(0, high-low+1)
}

// release closes what Open opened, in any state that it got to.
func (s *state) release() {
	s.tree.Close()
	if s.diag != nil {
		s.diag.close()
	}
}

// Run implements observe.Source.
func (s *Source) Run(ctx context.Context, sink observe.Sink) error {
	st := s.state
	s.state = nil
	defer st.release()
	width := st.subject.Window
	edges := &observe.Edges{Clock: st.subject.Clock, Width: width / perWindow}
	window := timebase.Window(st.subject.Clock.Now(), width)
	err := edges.Each(ctx, func(edge time.Duration) error {
		if len(st.tree.Members) == 0 {
			return nil
		}
		if st.ready() {
			st.readQueues()
		}
		if now := timebase.Window(edge, width); now != window {
			window = now
			st.close(time.Duration(now) * width)
			// A full disk is the conductor's to report; the next window may fit.
			_ = st.meter.Flush(sink)
		}
		return nil
	})
	s.vitals.Missed = edges.Missed() / perWindow
	st.describe()
	if st.unseen != "" {
		st.sight(st.subject.Clock.Now())
	}
	s.vitals.Finish(st.subject.Clock.Now())
	return err
}

// close ends a window at its edge.
func (s *state) close(edge time.Duration) {
	if !s.tree.Alive() {
		s.vitals.End(s.subject.Clock.Now())
		return
	}
	for address, q := range s.queues {
		s.meter.Gauge(series.SocketsAcceptQueue, "listen="+address, edge, float64(q.waiting))
		s.meter.Gauge(series.SocketsBacklog, "listen="+address, edge, float64(q.backlog))
	}
	clear(s.queues)
	if s.diag != nil {
		s.connections(edge)
	}
	if s.diag != nil { // it may just have been lost
		s.look(edge)
	}
}

// ready reports whether sock_diag can be used, and reopens it if it was lost.
func (s *state) ready() bool {
	if s.diag == nil {
		if err := s.reopen(); err != nil {
			s.blind("%v", err)
		}
	}
	return s.diag != nil
}

// lose closes sock_diag: the kernel may still be busy with the last request.
func (s *state) lose() {
	s.diag.close()
	s.diag = nil
}

// look looks up what seldom changes: processes, descriptors, the namespace.
func (s *state) look(edge time.Duration) {
	if edge < s.lookAt {
		return
	}
	s.tree.Look()
	root, err := s.tree.First()
	if err != nil {
		return
	}
	if network, err := root.Inode("net/netstat"); err == nil && network != s.network {
		s.blind("the target is in another network namespace %s into the run", notation.Time(edge))
		if err := s.reopen(); err != nil {
			s.vitals.Say("%v", err)
			s.tree.Close() // nothing can be read from here on
			return
		}
	}
	before := ThreadCPU()
	if err := s.owned.look(s.tree); err != nil {
		s.vitals.Say("descriptors cannot be listed any more: %v", err)
	}
	if err := s.findListeners(); err != nil {
		s.vitals.Say("accept queues: %v", err)
	}
	s.filter = nil // new connections may be to ports that are not known yet
	wait := pace(ThreadCPU()-before, seldom, seldomShare)
	s.descriptorsEvery = max(s.descriptorsEvery, wait)
	s.lookAt = edge + wait
}

// blind begins a gap: the amount since the last reading stays absent.
func (s *state) blind(format string, args ...any) {
	s.totals.forget()
	s.owned, s.filter, s.lookAt = owned{}, nil, 0
	s.vitals.Say(format, args...)
	if s.unseen == "" {
		s.unseen = fmt.Sprintf(format, args...)
	}
}

// sight notes a reading of connections, which ends a gap.
func (s *state) sight(at time.Duration) {
	if s.unseen != "" {
		s.vitals.Blind(timebase.Span{From: s.seenAt, To: at}, s.unseen)
		s.unseen = ""
	}
	s.seenAt = at
}

// pace returns how long to wait before the next reading of a kind after one that
// cost so much CPU, so that the kind takes 1/share of one.
func pace(cost, least, share time.Duration) time.Duration { return max(least, share*cost) }

// describe reports readings less frequent than planned.
func (s *state) describe() {
	if every := s.descriptorsEvery; every > 2*seldom {
		s.vitals.Say("descriptors were listed only every %s because there are many", notation.Time(every))
	}
	if every := s.connectionsEvery; every > 2*s.subject.Window {
		s.vitals.Say("connections were read only every %s because reading them takes long", notation.Time(every))
	}
}
