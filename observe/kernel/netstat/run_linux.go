package netstat

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/tree"
	"github.com/redline-go/redline/record/series"
)

// seldom is how often the tree of processes is looked up.
const seldom = time.Second

// hostWindows is how many windows pass between two readings of the figures that are the
// host's more than the target's: sockstat and softnet_stat.
const hostWindows = 5

// state is acquired by Open and used by Run.
type state struct {
	*Source
	subject observe.Subject
	tree    *tree.Tree
	meter   observe.Meter
	buf     []byte
	lookAt  time.Duration
	hostAt  time.Duration // next reading of sockstat and softnet_stat

	snmp, netstat counters
	softnet       softnetTotal
	cpus          []softnet
	gauges        map[string]float64
}

// Open implements observe.Source. It reads both files once, so that a process that is
// gone, or a procfs that hides it (hidepid, subset=pid), is found before the load.
func (s *Source) Open(_ context.Context, subject observe.Subject) error {
	t, err := tree.Open(s.options.Root, subject.PID)
	if err != nil {
		return err
	}
	st := &state{Source: s, subject: subject, tree: t, gauges: map[string]float64{}}
	st.meter.Width = subject.Window
	st.snmp, st.netstat = counters{file: "net/snmp"}, counters{file: "net/netstat"}
	for _, c := range []*counters{&st.snmp, &st.netstat} {
		if _, err := c.read(st); err != nil {
			t.Close()
			return &observe.Unsupported{
				What:   "the network counters of the target cannot be read",
				Enable: "name a process that runs, and mount procfs without subset=pid",
				Err:    err,
			}
		}
	}
	st.unknown()
	s.state = st
	return nil
}

// Run implements observe.Source. It returns when ctx is done; Health reports the windows
// that it missed.
func (s *Source) Run(ctx context.Context, sink observe.Sink) error {
	st := s.state
	s.state = nil
	defer st.tree.Close()
	edges := &observe.Edges{Clock: st.subject.Clock, Width: st.subject.Window}
	err := edges.Each(ctx, func(edge time.Duration) error {
		if len(st.tree.Members) > 0 {
			st.sample(edge)
		}
		// A full disk is the conductor's to report; the next window may fit.
		_ = st.meter.Flush(sink)
		return nil
	})
	s.vitals.Missed = edges.Missed()
	s.vitals.Finish(st.subject.Clock.Now())
	return err
}

// sample reads what is due at a window's edge: the counters in each, the host's figures
// in every fifth, because softnet_stat takes a line per CPU.
func (s *state) sample(edge time.Duration) {
	for _, c := range []*counters{&s.snmp, &s.netstat} {
		s.count(c, edge)
	}
	if edge >= s.hostAt {
		s.hostAt = edge + hostWindows*s.subject.Window
		s.sockstat(edge)
		s.softnets()
	}
	if edge >= s.lookAt {
		s.lookAt = edge + seldom
		s.tree.Look()
	}
}

// counters is one file of cumulative figures.
type counters struct {
	file   string
	inode  uint64 // of the last reading: the namespace's
	values map[string]float64
	last   map[string]float64
}

// read reads the file; the former reading becomes last. again means that
// the two are of one namespace and that no counter fell.
func (c *counters) read(s *state) (again bool, err error) {
	text, inode, err := s.text(c.file)
	if err != nil {
		return false, err
	}
	c.values, c.last = c.last, c.values
	if c.values == nil {
		c.values = map[string]float64{}
	}
	clear(c.values)
	if err := Parse(bytes.NewReader(text), c.values); err != nil {
		return false, err
	}
	again = c.inode == inode || c.inode == 0
	c.inode = inode
	for name, value := range c.values {
		if name != series.NetEstablished && value < c.last[name] {
			again = false
		}
	}
	return again, nil
}

// count delivers one file. A reading that does not continue the last one is a
// new base for all series: the figures of the others for the interval would be as
// wrong as that of the one that fell.
func (s *state) count(c *counters, edge time.Duration) {
	again := false
	at, err := s.vitals.Bracket.Read(s.subject.Clock, func() (err error) {
		again, err = c.read(s)
		return err
	})
	if err != nil {
		s.failed(err)
		return
	}
	if !again {
		s.meter.Break()
		s.vitals.Say("the counters began anew %s into the run: the target is in another network namespace", notation.Time(at))
	}
	for name, value := range c.values {
		if name == series.NetEstablished {
			s.meter.Gauge(name, "", edge, value)
		} else {
			s.meter.Count(name, "", at, value)
		}
	}
}

// sockstat reads the gauges of /proc/PID/net/sockstat and sockstat6. Without IPv6 the
// second does not exist, which is no failure.
func (s *state) sockstat(edge time.Duration) {
	clear(s.gauges)
	for _, file := range []string{"net/sockstat", "net/sockstat6"} {
		err := s.parse(file, func(r io.Reader) error {
			return parseSockstat(r, float64(os.Getpagesize()), s.gauges)
		})
		if err != nil && file == "net/sockstat" { // without IPv6 there is no sockstat6
			s.failed(err)
			return
		}
	}
	for name, value := range s.gauges {
		s.meter.Gauge(name, "", edge, value)
	}
}

// softnets reads softnet_stat, a line per CPU in hexadecimal. A CPU that goes offline
// takes its counts with it; then all begin anew instead of falling.
func (s *state) softnets() {
	at, err := s.vitals.Bracket.Read(s.subject.Clock, func() error {
		return s.parse("net/softnet_stat", func(r io.Reader) (err error) {
			s.cpus, err = parseSoftnet(r, s.cpus[:0])
			return err
		})
	})
	if err != nil {
		s.failed(err)
		return
	}
	names := [...]string{series.SoftnetProcessed, series.SoftnetDropped, series.SoftnetSqueezed}
	continues := s.softnet.add(s.cpus)
	for i, name := range names {
		if !continues {
			s.meter.Forget(name, "")
		}
		s.meter.Count(name, "", at, s.softnet.total[i])
	}
}

// parse reads the whole file before it parses: the kernel generates the content for each
// read, so that two reads would mix two instants.
func (s *state) parse(file string, f func(io.Reader) error) error {
	text, _, err := s.text(file)
	if err != nil {
		return err
	}
	return f(bytes.NewReader(text))
}

// text reads a file of the target; the next call overwrites it.
func (s *state) text(file string) (text []byte, inode uint64, err error) {
	p, err := s.tree.First()
	if err != nil {
		return nil, 0, err
	}
	s.buf, inode, err = p.Read(file, s.buf)
	return s.buf, inode, err
}

// failed distinguishes an ended process from a file that cannot be read.
func (s *state) failed(err error) {
	if !s.tree.Alive() {
		s.vitals.End(s.subject.Clock.Now())
		return
	}
	s.meter.Break()
	s.vitals.Say("%v", err)
}

// unknown notes the fields that this kernel does not have.
func (s *state) unknown() {
	var missing []string
	for _, table := range fields {
		for field, name := range table {
			_, inSnmp := s.snmp.values[name]
			if _, ok := s.netstat.values[name]; !ok && !inSnmp {
				missing = append(missing, field)
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		s.vitals.Say("this kernel does not count %s", strings.Join(missing, ", "))
	}
}
