package load

import (
	"net/netip"
	"time"

	"github.com/redline-go/redline/load/socket"
)

// link is a connection to one host, or its slot while there is none: it
// outlives its sockets.
type link struct {
	index      int32 // among the loop's links
	generation int32 // of the socket, so that events of the last one are recognised
	host       int
	id         int // of the group, over all loops: the connection's name in the record
	group      *group
	wire       Wire
	drainer    Drainer // the wire, if it is one

	state   linkState
	inLine  bool // it is queued in dials, even if it has given up waiting since
	fd      int
	tls     *socket.TLS // nil for plaintext
	out     []byte      // bytes that the kernel had no room for
	writing bool        // something waits for room

	// While opening:
	addrs   []netip.AddrPort // where to connect
	attempt int              // the next one to try, counted from the link's number
	last    int              // the attempt at which none is left
	until   time.Duration    // when the next one is tried if this one stays silent; zero is never
	err     error            // of the first address that could not be reached
	first   int              // the attempt to begin with: those before were silent

	under      int   // requests sent and not ended
	used       bool  // the socket has carried a request: the wire's own handshake is over
	parted     bool  // the target closed the last socket between two requests
	draining   bool  // it has a successor, and ends with its last request
	head, tail *lane // that wait
}

type linkState uint8

// States of a link.
const (
	linkClosed linkState = iota
	linkQueued           // waits for its turn under the connect rate
	linkResolving
	linkConnecting
	linkShaking // TLS handshake, in a goroutine of its own
	linkOpen
)

func (k *link) token() socket.Token { return socket.Token{Index: k.index, Generation: k.generation} }

// opening reports whether the link is being opened, the wire's own handshake included.
func (k *link) opening() bool {
	if k.state != linkOpen || k.used {
		return k.state != linkOpen && k.state != linkClosed
	}
	room, _ := k.wire.State()
	return room == 0
}

// succeed returns a link in place of k, which takes no more requests and still waits for answers:
// the next requests must not wait for the slowest of those. Lanes that wait for k go along.
func (l *loop) succeed(k *link) *link {
	var next *link
	if n := len(l.spares); n > 0 {
		next, l.spares = l.spares[n-1], l.spares[:n-1]
	} else {
		next = &link{index: int32(len(l.links))}
		l.links = append(l.links, next)
	}
	*next = link{
		index: next.index, generation: next.generation, host: k.host, id: k.id, group: k.group, fd: -1,
		parted: k.parted, first: k.first,
	}
	k.draining, k.parted = true, false
	k.group.links[k.host] = next
	next.head, next.tail, k.head, k.tail = k.head, k.tail, nil, nil
	for u := next.head; u != nil; u = u.queue {
		u.link = next
	}
	return next
}

// enqueue makes a lane wait for the link, after those that already do.
func (k *link) enqueue(u *lane) {
	u.state, u.queue = laneWaiting, nil
	if k.tail == nil {
		k.head = u
	} else {
		k.tail.queue = u
	}
	k.tail = u
}

// dequeue returns the lane that has waited longest; nil when none does.
func (k *link) dequeue() *lane {
	u := k.head
	if u == nil {
		return nil
	}
	if k.head = u.queue; k.head == nil {
		k.tail = nil
	}
	u.queue = nil
	return u
}

// remove removes a lane from anywhere in the queue.
// Queues are short, and it is called only for requests that time out: a walk is cheap enough.
func (k *link) remove(u *lane) {
	var before *lane
	for at := k.head; at != nil; before, at = at, at.queue {
		if at != u {
			continue
		}
		if before == nil {
			k.head = u.queue
		} else {
			before.queue = u.queue
		}
		if k.tail == u {
			k.tail = before
		}
		u.queue = nil
		return
	}
}

// dials paces the connections that a loop opens.
type dials struct {
	gap    time.Duration // between two; zero is no bound
	next   time.Duration // when the next may be opened
	queued []*link       // in order
	first  int           // of queued that has not been opened
}

// admit reports whether k may open now, and else queues it.
// A pause does not accumulate credit: connections after one are a gap apart again, because
// the plan bounds the burst that the target's accept queue sees.
func (d *dials) admit(k *link, now time.Duration) bool {
	if d.gap == 0 {
		return true
	}
	if d.first == len(d.queued) && d.next <= now {
		d.advance(now)
		return true
	}
	k.state = linkQueued
	if k.inLine {
		return false
	}
	k.inLine = true
	if d.first > len(d.queued)/2 {
		d.queued, d.first = append(d.queued[:0], d.queued[d.first:]...), 0
	}
	d.queued = append(d.queued, k)
	return false
}

// due returns the next link that may open by now; nil when none does.
func (d *dials) due(now time.Duration) *link {
	for ; d.first < len(d.queued) && d.queued[d.first].state != linkQueued; d.first++ {
		d.queued[d.first].inLine = false
	}
	if d.first == len(d.queued) {
		d.queued, d.first = d.queued[:0], 0
		return nil
	}
	if d.next > now {
		return nil
	}
	d.advance(now)
	k := d.queued[d.first]
	k.inLine = false
	d.first++
	return k
}

// advance plans the next one: on schedule if this one is late by less than a
// gap, and without making up for a pause.
func (d *dials) advance(now time.Duration) {
	if d.next += d.gap; d.next <= now {
		d.next = now + d.gap
	}
}

// wake is when due returns a link; ok is false if nothing is queued.
func (d *dials) wake() (at time.Duration, ok bool) { return d.next, d.first < len(d.queued) }
