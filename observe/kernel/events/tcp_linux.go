//go:build amd64 || arm64

package events

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe/kernel/netstat"
	"github.com/redline-go/redline/observe/kernel/sockets"
	"github.com/redline-go/redline/observe/kernel/vitals"
	"github.com/redline-go/redline/record/series"
)

const (
	listens   = uint32(1) // LISTENS of tcp.bpf.c
	connected = uint32(2) // CONNECTED
	// maxLabels bounds the sockets that retransmissions are counted by.
	maxLabels = 32
	// calibrationWindows is how many windows pass between two readings of the
	// kernel's counters.
	calibrationWindows = 10
)

// counts is struct counts of tcp.bpf.c; directions are in and out.
type counts struct {
	Active, Passive, Retransmits uint64
	Opens, Closes                [2]uint64
	ConnectFails, OwnRetransmits uint64
	Untracked, Untold            uint64
	Handshake, Connect, Lifetime histogram
}

// add sums over CPUs: each counts in its own memory, so that none waits for another.
func (c *counts) add(o *counts) {
	c.Active += o.Active
	c.Passive += o.Passive
	c.Retransmits += o.Retransmits
	for dir := range c.Opens {
		c.Opens[dir] += o.Opens[dir]
		c.Closes[dir] += o.Closes[dir]
	}
	c.ConnectFails += o.ConnectFails
	c.OwnRetransmits += o.OwnRetransmits
	c.Untracked += o.Untracked
	c.Untold += o.Untold
	c.Handshake.add(&o.Handshake)
	c.Connect.add(&o.Connect)
	c.Lifetime.add(&o.Lifetime)
}

// tcpEvents are the programs on connections.
type tcpEvents struct {
	object *object
	counts *ebpf.Map
	ports  *ebpf.Map
	ring   *ringbuf.Reader

	network uint64   // number of the namespace that is counted
	cpus    []counts // scratch
	last    counts
	edge    time.Duration      // of the last reading; 0 before the first
	byLabel map[string]float64 // segments retransmitted, by label

	kernel      calibration
	calibrateAt time.Duration // next reading of the kernel's counters
	text        []byte
}

func newTCPEvents(o *object) (*tcpEvents, error) {
	ring, err := ringbuf.NewReader(o.maps.Maps[tcpMapRetransmitted])
	if err != nil {
		o.close()
		return nil, fmt.Errorf("no events of TCP connections: %w", err)
	}
	return &tcpEvents{
		object: o, counts: o.maps.Maps[tcpMapCounts], ports: o.maps.Maps[tcpMapPorts], ring: ring,
		byLabel: map[string]float64{},
	}, nil
}

// seed gives the programs the namespace and the sockets that existed before them.
func (t *tcpEvents) seed(s *state) {
	t.enter(s)
	listening, err := sockets.Listening(s.tree)
	if err == nil {
		t.listen(s, listening)
		var from []uint16
		from, err = sockets.Connected(s.tree)
		for _, port := range from {
			t.set(s, port, connected)
		}
	}
	if err != nil {
		s.vitals.Say("sockets older than the run cannot be attributed to the target: %v", err)
	}
}

// enter reads the target's network namespace and reports whether it has changed.
func (t *tcpEvents) enter(s *state) (changed bool) {
	root, err := s.tree.First()
	if err != nil {
		return false // Run notes when the target ended
	}
	network, err := root.Inode("ns/net")
	if err != nil {
		s.vitals.Say("the target's network namespace is not known: %v", err)
		return false
	}
	if network == t.network {
		return false
	}
	t.network = network
	if err := t.object.maps.Variables[tcpVarNetns].Set(uint32(network)); err != nil {
		s.vitals.Say("%v", err)
	}
	t.kernel = calibration{}
	return true
}

// look follows processes and namespaces, which change seldom.
func (t *tcpEvents) look(s *state) {
	if t.enter(s) {
		s.meter.Break()
		s.vitals.Say("the target is in another network namespace")
	}
	// Subtle: the programs add new ports by themselves, so the known ones are
	// listed first, lest one that was opened meanwhile be dropped.
	old := t.listening()
	if ports, err := sockets.Listening(s.tree); err == nil {
		for _, port := range old {
			if !slices.Contains(ports, port) {
				_ = t.ports.Delete(uint32(port)) // it may be gone already
			}
		}
		t.listen(s, ports)
	}
}

// listening returns the ports on which the target listens according to the programs.
func (t *tcpEvents) listening() (ports []uint16) {
	var port, kind uint32
	for all := t.ports.Iterate(); all.Next(&port, &kind); {
		if kind == listens {
			ports = append(ports, uint16(port))
		}
	}
	return ports
}

// listen makes the ports that the target listens on known to the programs.
func (t *tcpEvents) listen(s *state, ports []uint16) {
	for _, port := range ports {
		t.set(s, port, listens)
	}
}

func (t *tcpEvents) set(s *state, port uint16, kind uint32) {
	if err := t.ports.Put(uint32(port), kind); err != nil {
		s.vitals.Say("port %d cannot be attributed to the target: %v", port, err)
	}
}

// sample reads the counts at an edge.
func (t *tcpEvents) sample(s *state, edge time.Duration) {
	calibrates := edge >= t.calibrateAt
	var before map[string]float64
	if calibrates {
		before = t.counted(s)
	}
	// A map per CPU is copied CPU by CPU while they count on: one reading of several
	// counters is no instant, and sums of different series need not agree exactly.
	at, err := s.vitals.Bracket.Read(s.subject.Clock, func() error { return t.counts.Lookup(uint32(0), &t.cpus) })
	if err != nil {
		s.vitals.Say("events of TCP connections: %v", err)
		return
	}
	var now counts
	for cpu := range t.cpus {
		now.add(&t.cpus[cpu])
	}
	if t.connections() {
		t.deliver(s, edge, at, &now)
	}
	if t.retransmissions() {
		s.meter.Count(series.TCPRetransmits, "", at, float64(now.OwnRetransmits))
		t.drain(s, at)
	}
	if calibrates {
		t.calibrateAt = edge + calibrationWindows*s.subject.Window
		t.calibrate(s, edge, &now, before, t.counted(s))
	}
	if now.Untracked > t.last.Untracked {
		s.vitals.Say("too many connections to follow all of them")
	}
	if now.Untold > t.last.Untold {
		s.vitals.Say("too many retransmissions to record all of their sockets")
	}
	t.last, t.edge = now, edge
}

// connections and retransmissions report whether the programs on them run.
func (t *tcpEvents) connections() bool     { return t.object.attached[tcpProgInetSockSetState] }
func (t *tcpEvents) retransmissions() bool { return t.object.attached[tcpProgTcpRetransmitSkb] }

// deliver delivers the events of connections.
func (t *tcpEvents) deliver(s *state, edge, at time.Duration, now *counts) {
	m := &s.meter
	for dir, label := range []string{"dir=in", "dir=out"} {
		m.Count(series.TCPOpens, label, at, float64(now.Opens[dir]))
		m.Count(series.TCPCloses, label, at, float64(now.Closes[dir]))
	}
	m.Count(series.TCPConnectFails, "", at, float64(now.ConnectFails))
	// After a missed window the difference spans two, and its quantiles would be those of
	// neither.
	whole := t.edge != 0 && edge-t.edge < 2*s.subject.Window
	for _, h := range []struct {
		name      string
		now, last *histogram
	}{
		{series.TCPHandshake, &now.Handshake, &t.last.Handshake},
		{series.TCPConnect, &now.Connect, &t.last.Connect},
		{series.TCPLifetime, &now.Lifetime, &t.last.Lifetime},
	} {
		added := h.now.since(h.last)
		deliver(m, delivery{latency: h.name}, edge, at, h.now, &added, whole)
	}
}

// drain takes the retransmissions since the last reading.
func (t *tcpEvents) drain(s *state, at time.Duration) {
	var entry ringbuf.Record
	t.ring.SetDeadline(time.Unix(1, 0)) // records so far, without waiting
	for {
		err := t.ring.ReadInto(&entry)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			s.vitals.Say("retransmissions by socket: %v", err)
			break
		}
		r, err := parseRetransmit(entry.RawSample)
		if err != nil {
			s.vitals.Say("%v", err)
			continue
		}
		label := r.label()
		if _, known := t.byLabel[label]; !known {
			// The rest goes together, so that peers with ever new ports cannot grow the record.
			if len(t.byLabel) >= maxLabels {
				label = "remote=other"
			}
			// There was nothing of it until the last reading, nor at the edge
			// just before that.
			s.meter.Count(series.TCPRetransmitBy, label, t.edge, t.byLabel[label])
		}
		t.byLabel[label] += float64(r.segments)
	}
	for _, label := range slices.Sorted(maps.Keys(t.byLabel)) {
		s.meter.Count(series.TCPRetransmitBy, label, at, t.byLabel[label])
	}
}

// calibration compares the programs' counts of the namespace with those of the
// kernel, which are read before and after them: what happens in between is in some of the readings only, and
// on a busy host the reader may lose its CPU there. Only what lies outside of both is a difference.
type calibration struct {
	based      bool
	programs   [3]uint64
	before     [3]float64 // the kernel's counts around those
	after      [3]float64
	difference [3]float64 // programs minus kernel, 0 within the kernel's readings
	most       [3]float64 // counted by the kernel
}

var calibrations = [...]struct{ label, series string }{
	{"of=retransmits", series.NetRetransmits},
	{"of=active_opens", series.NetActiveOpens},
	{"of=passive_opens", series.NetPassiveOpens},
}

// counted returns the kernel's counts of the target's namespace; nil if the target has ended, or package netstat reports why.
func (t *tcpEvents) counted(s *state) map[string]float64 {
	root, err := s.tree.First()
	if err != nil {
		return nil
	}
	// Through the member's /proc, because /proc/net is of the reader's namespace.
	text, _, err := root.Read("net/snmp", t.text)
	t.text = text
	values := map[string]float64{}
	if err != nil || netstat.Parse(bytes.NewReader(text), values) != nil {
		return nil
	}
	return values
}

func (t *tcpEvents) calibrate(s *state, edge time.Duration, now *counts, before, after map[string]float64) {
	if before == nil || after == nil {
		return
	}
	programs := [3]uint64{now.Retransmits, now.Active, now.Passive}
	c := &t.kernel
	for i, of := range calibrations {
		if runs := [...]bool{t.retransmissions(), t.connections(), t.connections()}; !runs[i] {
			continue
		}
		if !c.based {
			c.programs[i], c.before[i], c.after[i] = programs[i], before[of.series], after[of.series]
			continue
		}
		c.most[i] = after[of.series] - c.before[i]
		counted := float64(programs[i] - c.programs[i])
		c.difference[i] = counted - min(max(counted, before[of.series]-c.after[i]), c.most[i])
		s.meter.Gauge(series.KernelCalibration, of.label, edge, c.difference[i])
	}
	c.based = true
}

// calibrated notes differences above 1 %. A few events lie between a program and the kernel's own count.
func (t *tcpEvents) calibrated(v *vitals.Vitals) {
	for i, of := range calibrations {
		if d := t.kernel.difference[i]; max(d, -d) > max(10, t.kernel.most[i]/100) {
			v.Say("eBPF counted %s of %s, %s", notation.Whole(d), notation.Whole(t.kernel.most[i]), of.label)
		}
	}
}
