package sockets

import (
	"net/netip"
	"slices"
	"time"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// maxListeners bounds the accept queues that are recorded one by one.
const maxListeners = 16

// A dump of at most shortDump parts, one of which took longer than widePart, was
// interrupted by other work of the host. It is repeated, up to tries times in
// all; a part of 32 KB takes some 50 us, the kernel's whole table at rest 0.2 to
// 0.7 ms.
const (
	shortDump = 3
	widePart  = 1500 * time.Microsecond
	tries     = 3
)

// connected is the mask of states that are dumped each window.
const connected = 1<<established | 1<<4 | 1<<5 | 1<<timeWait | 1<<closeWait | 1<<9 | 1<<11

// findListeners finds the sockets that the target listens with. The kernel
// walks the table of all listening sockets for it.
func (s *state) findListeners() error {
	s.listeners = s.listeners[:0]
	ports := map[uint16]bool{}
	_, whole, err := s.diag.dump(query{states: 1 << listen}, func(l *socket, _ timebase.Span) {
		if l.state != listen || !s.owned.inodes[l.inode] {
			return
		}
		ports[l.local.Port()] = true
		if len(s.listeners) < maxListeners {
			s.listeners = append(s.listeners, *l)
		} else {
			s.vitals.Say("only the first %d accept queues are recorded", maxListeners)
		}
	})
	if err == nil && !whole {
		err = s.reopen()
	}
	if err == nil {
		s.owned.ports = ports
	}
	return err
}

// readQueues reads the accept queues, one by one. Of several sockets on one
// address (SO_REUSEPORT) only one can be asked for, so then all are dumped.
func (s *state) readQueues() {
	for i := range s.listeners {
		l := &s.listeners[i]
		if err := s.diag.one(l); err != nil {
			if err := s.findListeners(); err != nil {
				s.vitals.Say("accept queues: %v", err)
			}
			break
		}
	}
	for _, l := range s.listeners {
		address := l.local.String()
		if q, known := s.queues[address]; !known || l.receive > q.waiting {
			s.queues[address] = queue{l.receive, l.send}
		}
	}
}

// sum gathers one dump of connections.
type sum struct {
	established, closeWait, timeWait, cwndFull int
	toSelf, toOthers                           int // of the established ones, those that the target opened
	unacked                                    uint64
	send, receive                              uint64
	rtts                                       []uint32
	waits                                      map[netip.AddrPort]int // TIME_WAIT by destination
	parts                                      []timebase.Span        // when each part of it was read
	figures                                    []reading
}

// reading is the TCP_INFO of one connection, kept until it is decided that the dump
// counts.
type reading struct {
	figures
	cookie  uint64
	inwards bool
}

// reset empties the sums of a window but keeps their memory, which is reused ten times
// per second.
func (c *sum) reset() {
	waits := c.waits
	clear(waits)
	if waits == nil {
		waits = map[netip.AddrPort]int{}
	}
	*c = sum{rtts: c.rtts[:0], waits: waits, parts: c.parts[:0], figures: c.figures[:0]}
}

// wide reports whether a short dump was interrupted: then another one costs
// little, and is dated better. In a long one, the parts that were not interrupted
// are dated well enough.
func (c *sum) wide() bool {
	return len(c.parts) <= shortDump && slices.ContainsFunc(c.parts, func(part timebase.Span) bool { return part.Len() > widePart })
}

// connections dumps the connections and delivers their sums.
func (s *state) connections(edge time.Duration) {
	if edge < s.connectionsAt {
		return
	}
	var cost time.Duration
	var err error
	whole := false
	for try := 1; ; try++ {
		var once time.Duration
		once, whole, err = s.gather()
		cost += once
		if err != nil || try == tries || !s.sum.wide() {
			break
		}
	}
	wait := pace(cost, s.subject.Window, share)
	s.connectionsEvery = max(s.connectionsEvery, wait)
	s.connectionsAt = edge + wait
	if err == nil && !whole {
		s.vitals.Say("only the first 8 MB of connections were read")
		err = s.reopen()
	}
	if err != nil {
		s.blind("connections: %v", err)
		if s.diag != nil {
			s.lose()
		}
		return
	}
	s.account()
	s.deliver(edge)
}

// gather dumps the connections once: those that the kernel selects by their ports, but
// after a listing of descriptors all of them, because some may be to a port that is not
// known yet.
func (s *state) gather() (cost time.Duration, whole bool, err error) {
	s.sum.reset()
	q := query{states: connected, informed: true, filter: s.filter}
	begun := s.subject.Clock.Now()
	cost, whole, err = s.diag.dump(q, func(c *socket, looked timebase.Span) {
		if n := len(s.sum.parts); n == 0 || s.sum.parts[n-1] != looked {
			s.sum.parts = append(s.sum.parts, looked)
		}
		if s.owned.has(c) {
			s.take(c, looked)
		}
	})
	if len(s.sum.parts) == 0 { // there are none
		s.sum.parts = append(s.sum.parts, timebase.Span{From: begun, To: s.subject.Clock.Now()})
	}
	return cost, whole, err
}

// account dates a dump that counts, and adds up its amounts.
func (s *state) account() {
	if s.filter == nil {
		s.filter = s.owned.filter()
	}
	for _, part := range s.sum.parts {
		s.vitals.Bracket.Add(part.From, part.To)
	}
	s.sight(s.sum.parts[0].From)
	based := s.totals.last != nil
	s.totals.begin(s.sum.parts[0].From)
	for i := range s.sum.figures {
		r := &s.sum.figures[i]
		s.totals.add(r.cookie, r.figures, based && r.inwards)
	}
}

// take adds one connection of the target to the sums.
func (s *state) take(c *socket, looked timebase.Span) {
	sum := &s.sum
	switch c.state {
	case timeWait:
		sum.timeWait++
		if !s.owned.inwards(c) {
			sum.waits[c.remote]++
		}
		return
	case closeWait:
		sum.closeWait++
	case established:
		sum.established++
		switch {
		case s.owned.toSelf(c):
			sum.toSelf++
		case !s.owned.inwards(c):
			sum.toOthers++
		}
	}
	sum.send += uint64(c.send)
	sum.receive += uint64(c.receive)
	if !c.informed {
		return
	}
	i := &c.info
	sum.unacked += uint64(i.unacked)
	if i.cwnd > 0 && i.unacked >= i.cwnd {
		sum.cwndFull++
	}
	if c.state == established && i.rtt > 0 {
		sum.rtts = append(sum.rtts, i.rtt)
	}
	sum.figures = append(sum.figures, reading{
		figures: figures{
			segments: i.segments, retransmits: i.retransmits, busy: i.busy, rwnd: i.rwnd, sndbuf: i.sndbuf,
			at: looked.From + looked.Len()/2,
		},
		cookie: c.cookie, inwards: s.owned.inwards(c),
	})
}

// us is the kernel's unit of time here.
const us = float64(time.Microsecond)

// deliver delivers the state of the connections at an edge, and the amounts of the
// windows that are over.
func (s *state) deliver(edge time.Duration) {
	m, sum := &s.meter, &s.sum
	m.Gauge(series.SocketsEstablished, "", edge, float64(sum.established))
	m.Gauge(series.SocketsOutwards, "to=self", edge, float64(sum.toSelf))
	m.Gauge(series.SocketsOutwards, "to=other", edge, float64(sum.toOthers))
	m.Gauge(series.SocketsCloseWait, "", edge, float64(sum.closeWait))
	m.Gauge(series.SocketsTimeWait, "", edge, float64(sum.timeWait))
	most := 0
	for _, n := range sum.waits {
		most = max(most, n)
	}
	m.Gauge(series.SocketsTimeWaitPeer, "", edge, float64(most))
	if s.ports > 0 {
		m.Gauge(series.SocketsPorts, "", edge, float64(s.ports))
	}
	m.Gauge(series.SocketsCwndFull, "", edge, float64(sum.cwndFull))
	m.Gauge(series.SocketsUnacked, "", edge, float64(sum.unacked))
	m.Gauge(series.SocketsSendQueue, "", edge, float64(sum.send))
	m.Gauge(series.SocketsReceiveQueue, "", edge, float64(sum.receive))
	if n := len(sum.rtts); n > 0 {
		slices.Sort(sum.rtts)
		m.Gauge(series.SocketsRTT, "q=p50", edge, us*float64(sum.rtts[(n-1)/2]))
		m.Gauge(series.SocketsRTT, "q=max", edge, us*float64(sum.rtts[n-1]))
	}
	s.totals.end(func(w int64, of *amounts) {
		m.Put(series.SocketsSegments, "", w, of[segments])
		m.Put(series.SocketsRetransmits, "", w, of[retransmits])
		m.Put(series.SocketsBusy, "", w, us*of[busy])
		m.Put(series.SocketsLimited, "by=rwnd", w, us*of[rwnd])
		m.Put(series.SocketsLimited, "by=sndbuf", w, us*of[sndbuf])
		m.Put(series.SocketsLimited, "by=path", w, us*of[path])
	})
}
