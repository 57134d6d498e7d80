package sockets

import (
	"net/netip"
	"slices"
	"time"

	"github.com/redline-go/redline/record"
)

// maxListeners bounds the accept queues that are told one by one.
const maxListeners = 16

// connected is the mask of states that are dumped each window.
const connected = 1<<established | 1<<4 | 1<<5 | 1<<timeWait | 1<<closeWait | 1<<9 | 1<<11

// findListeners finds the sockets that the target listens with. The kernel
// walks the table of all listening sockets for it.
func (s *state) findListeners() error {
	s.listeners = s.listeners[:0]
	ports := map[uint16]bool{}
	_, whole, err := s.diag.dump(1<<listen, false, func(l *socket) {
		if l.state != listen || !s.owned.inodes[l.inode] {
			return
		}
		ports[l.local.Port()] = true
		if len(s.listeners) < maxListeners {
			s.listeners = append(s.listeners, *l)
		} else {
			s.vitals.Say("only the first %d accept queues are told", maxListeners)
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
	unacked                                    uint64
	send, receive                              uint64
	rtts                                       []uint32
	waits                                      map[netip.AddrPort]int // TIME_WAIT by destination
}

func (c *sum) reset() {
	waits := c.waits
	clear(waits)
	if waits == nil {
		waits = map[netip.AddrPort]int{}
	}
	*c = sum{rtts: c.rtts[:0], waits: waits}
}

// connections dumps the connections and delivers what they sum up to.
func (s *state) connections(edge time.Duration) {
	if edge < s.connectionsAt {
		return
	}
	s.sum.reset()
	based := s.totals.last != nil
	var cost time.Duration
	whole := false
	at, err := s.vitals.Bracket.Read(s.subject.Clock, func() (err error) {
		cost, whole, err = s.diag.dump(connected, true, func(c *socket) {
			if s.owned.has(c) {
				s.take(c, based)
			}
		})
		return err
	})
	wait := pace(cost, s.subject.Window)
	s.connectionsEvery = max(s.connectionsEvery, wait)
	s.connectionsAt = edge + wait
	if err == nil && !whole {
		s.vitals.Say("only the first 16 MB of connections were read")
		err = s.reopen()
	}
	if err != nil {
		s.blind("connections: %v", err)
		return
	}
	s.totals.next()
	s.deliver(edge, at)
}

func (s *state) take(c *socket, based bool) {
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
	s.totals.add(c.cookie, amounts{
		segments: i.segments, retransmits: i.retransmits,
		busy: i.busy, rwnd: i.rwnd, sndbuf: i.sndbuf,
	}, based && s.owned.inwards(c))
}

func (s *state) deliver(edge, at time.Duration) {
	const us = float64(time.Microsecond)
	m, sum, t := &s.meter, &s.sum, &s.totals
	if t.last == nil {
		t.last = map[uint64]amounts{} // no connections is a base as well
	}
	m.Gauge(record.SocketsEstablished, "", edge, float64(sum.established))
	m.Gauge(record.SocketsCloseWait, "", edge, float64(sum.closeWait))
	m.Gauge(record.SocketsTimeWait, "", edge, float64(sum.timeWait))
	most := 0
	for _, n := range sum.waits {
		most = max(most, n)
	}
	m.Gauge(record.SocketsTimeWaitPeer, "", edge, float64(most))
	if s.ports > 0 {
		m.Gauge(record.SocketsPorts, "", edge, float64(s.ports))
	}
	m.Gauge(record.SocketsCwndFull, "", edge, float64(sum.cwndFull))
	m.Gauge(record.SocketsUnacked, "", edge, float64(sum.unacked))
	m.Gauge(record.SocketsSendQueue, "", edge, float64(sum.send))
	m.Gauge(record.SocketsReceiveQueue, "", edge, float64(sum.receive))
	if n := len(sum.rtts); n > 0 {
		slices.Sort(sum.rtts)
		m.Gauge(record.SocketsRTT, "q=p50", edge, us*float64(sum.rtts[(n-1)/2]))
		m.Gauge(record.SocketsRTT, "q=max", edge, us*float64(sum.rtts[n-1]))
	}
	m.Count(record.SocketsSegments, "", at, float64(t.segments))
	m.Count(record.SocketsRetransmits, "", at, float64(t.retransmits))
	m.Count(record.SocketsBusy, "", at, us*float64(t.busy))
	m.Count(record.SocketsLimited, "by=rwnd", at, us*float64(t.rwnd))
	m.Count(record.SocketsLimited, "by=sndbuf", at, us*float64(t.sndbuf))
	m.Count(record.SocketsLimited, "by=path", at, us*float64(t.path))
}
