package load

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"time"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/socket"
)

// open starts connecting a closed link. Lanes wait in its queue meanwhile.
func (l *loop) open(k *link) {
	if now := l.now(); l.dialing.admit(k, now) {
		l.dial(k, now)
	}
}

// dial finds out where a link goes, at once for an address in numbers or a name
// that was looked up before.
func (l *loop) dial(k *link, now time.Duration) {
	r := l.run
	if addrs, ok := r.resolver.known(r.hosts[k.host].Address); ok {
		l.resolved(k, addrs, nil, now)
		return
	}
	// A lookup blocks, so it runs in a goroutine of its own. Its answer finds the link by
	// generation: the request that it was for may have timed out meanwhile, and the link may be
	// opening again.
	k.state = linkResolving
	k.generation++
	generation := k.generation
	l.apart.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, r.plan.Timeout)
		defer cancel()
		addrs, err := r.resolver.lookup(ctx, r.hosts[k.host].Address)
		l.post(func() {
			if k.state == linkResolving && k.generation == generation {
				l.resolved(k, addrs, err, l.now())
			}
		})
	})
}

// resolved continues with the addresses of a link's host.
func (l *loop) resolved(k *link, addrs []netip.AddrPort, err error, now time.Duration) {
	k.addrs, k.attempt, k.last, k.err = addrs, k.first, k.first+len(addrs), nil
	if err != nil {
		l.fail(k, err, now)
		return
	}
	l.connect(k, now)
}

// connect tries the next address of the host. Connections spread over a name's
// addresses, and go on to the next one where there is no listener (localhost is ::1
// and 127.0.0.1) or no answer.
func (l *loop) connect(k *link, now time.Duration) {
	r := l.run
	for {
		// The link's number picks the first address, so that links spread evenly over a name's
		// addresses without a counter that loops share.
		to := k.addrs[(k.id+k.attempt)%len(k.addrs)]
		k.attempt++
		// Each source address has ports of its own: with several, one host opens more
		// connections to one target than a port range holds (some 28,000).
		var source netip.Addr
		if n := len(r.plan.Sources); n > 0 {
			source = r.plan.Sources[k.id%n]
		}
		fd, err := socket.Connect(to, source)
		// Registered before it is connected: the poller then reports when the attempt is over.
		if err == nil {
			k.state, k.fd, k.writing = linkConnecting, fd, true
			k.generation++
			if err = l.poll.Add(fd, k.token()); err == nil {
				l.watch(k, now)
				return
			}
		}
		// Refused at once, as on loopback: the next address is tried in the same turn.
		if !l.another(k, err, now) {
			return
		}
	}
}

// another readies a link that failed to reach an address for the next one. Without one it fails the
// link with the error of the first, which the user is most likely to mean.
func (l *loop) another(k *link, err error, now time.Duration) bool {
	if k.err == nil {
		k.err = err
	}
	if k.attempt == k.last {
		l.fail(k, k.err, now)
		return false
	}
	l.release(k)
	return true
}

// connected is called when a connection attempt is over.
func (l *loop) connected(k *link) {
	// The poller reports only that the attempt is over; SO_ERROR has its outcome (connect(2)).
	to := k.addrs[(k.id+k.attempt-1)%len(k.addrs)]
	now := l.now()
	if err := socket.Connected(k.fd, to); err != nil {
		if l.another(k, err, now) {
			l.connect(k, now)
		}
		return
	}
	config := l.run.hosts[k.host].TLS
	if config == nil {
		k.writing = false
		l.opened(k, now)
		return
	}
	// The handshake takes a millisecond of CPU and two round trips, and crypto/tls
	// blocks in it: it runs in a goroutine of its own, with the socket out of the poller.
	// A socket that stays in the poller would report the handshake's own records to the loop.
	l.poll.Forget(k.fd)
	k.state, k.tls = linkShaking, socket.NewTLS(k.fd, config)
	// Copied for the goroutine: the link's fields belong to the loop.
	t, generation, shaking := k.tls, k.generation, l.run.shaking[k.host]
	l.apart.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, l.run.plan.Timeout)
		defer cancel()
		var err error
		// Handshakes queue here: running more of them at once would only delay them all.
		select {
		case shaking <- struct{}{}:
			err = t.Handshake(ctx)
			<-shaking
		case <-ctx.Done():
			err = ctx.Err()
		}
		l.post(func() { l.shaken(k, t, generation, err) })
	})
}

// shaken continues after a TLS handshake. The socket was the handshake's until now;
// if the link was given up meanwhile, the handshake has closed it.
func (l *loop) shaken(k *link, t *socket.TLS, generation int32, err error) {
	if k.tls != t || k.generation != generation || k.state != linkShaking {
		return
	}
	now := l.now()
	k.writing = false
	if err == nil {
		err = l.poll.Add(k.fd, k.token())
	} else {
		err = failure.OfHandshake(err)
	}
	if err != nil {
		l.fail(k, err, now)
		return
	}
	l.opened(k, now)
	if k.state == linkOpen {
		l.readable(k, false) // tickets and first frames may have come with the handshake
	}
}

// opened begins to use a connection.
func (l *loop) opened(k *link, now time.Duration) {
	// Not used yet: an end before the first answer is a target that refuses, while one after
	// it is a keep-alive that ran out.
	k.state, k.used = linkOpen, false
	l.counted.Dials++
	l.counted.Open++
	// The target closed the connection before it while idle: this one replaces it and is not
	// an additional one.
	if k.parted {
		k.parted = false
		l.counted.Reconnects++
	}
	// A wire outlives its connections, so that its buffers are made once per link.
	if k.wire == nil {
		k.wire = l.run.Protocol.Wire(k.host)
		k.drainer, _ = k.wire.(Drainer)
	}
	if l.current != k {
		l.flush()
		l.current = k
	}
	l.out = k.wire.Open(l.out)
	l.advance(k, now)
}

// advance sends requests that wait for a link as far as it has room, and replaces the
// connection when its wire is over.
// It turns freed room into requests, so whatever ends an exchange or opens a link calls it
// last.
func (l *loop) advance(k *link, now time.Duration) {
	if k.state != linkOpen {
		return
	}
	room, over := k.wire.State()
	for room > 0 && k.head != nil && k.state == linkOpen {
		u := k.dequeue()
		// A request that waited for the link is ready once the link is.
		u.since = max(u.since, now)
		l.send(u, k)
		room, over = k.wire.State()
	}
	switch {
	case !over || k.state != linkOpen:
	case k.under > 0: // the peer still answers those in progress (GOAWAY, "Connection: close")
		if k.head != nil {
			l.open(l.succeed(k))
		}
	case !k.used && k.head != nil:
		l.fail(k, errUnused, now) // opening it again at once would spin
	default:
		if l.current == k {
			l.flush() // what the wire sends last
		}
		if k.state != linkOpen {
			return // writing failed, and fail did the rest
		}
		l.close(k)
		if k.head != nil {
			l.open(k)
		}
	}
}

var errUnused = &failure.Error{Kind: failure.EOF, Err: errors.New("the target ended the connection before it took a request")}

// mostReads bounds the consecutive reads of one link, so that others get their turn.
const mostReads = 16

// readable reads a link to the end of its input: a short read, or the end of the
// stream if the peer is over. If answers share a connection it reads until nothing is
// left, because more arrive while some are handled, and the output of all of them
// then goes out in one write.
func (l *loop) readable(k *link, over bool) {
	// A peer that is over sends no further event, and what it sent before its end must be
	// read to the end of the stream now.
	over = over || l.run.streams > 1
	for range mostReads {
		if k.state != linkOpen {
			return
		}
		if k.tls != nil {
			if !l.readTLS(k) || !over {
				return
			}
			continue
		}
		n, err := socket.Read(k.fd, l.in)
		if err == socket.ErrAgain {
			return
		}
		now := l.now()
		switch {
		case err != nil:
			l.fail(k, err, now)
		case n == 0:
			l.shut(k, now)
		default:
			l.receive(k, l.in[:n], now)
			// A short read has emptied the socket: asking again would cost a system call to learn
			// that. Edge-triggered, the next bytes bring an event.
			if n < len(l.in) && !over {
				return
			}
		}
	}
	// Edge-triggered: the kernel does not repeat an event for bytes that are already there
	// (epoll(7)), so the loop itself must come back.
	l.unread = append(l.unread, unread{k, k.generation})
}

// unread is a link that had its turn and may have more.
type unread struct {
	link       *link
	generation int32
}

// readOn gives another turn to links that may have more: no event will follow.
func (l *loop) readOn() {
	// Two slices take turns, because reading on may put a link on the list again.
	rest := l.unread
	l.unread = l.spareUnread[:0]
	for _, u := range rest {
		if u.link.generation == u.generation && u.link.state == linkOpen {
			l.readable(u.link, true)
			l.work()
			l.flush()
		}
	}
	l.spareUnread = rest
}

// readTLS takes the bytes of one read of the socket, and reports whether it
// brought anything.
func (l *loop) readTLS(k *link) (found bool) {
	if l.ahead == nil {
		l.ahead = make([]byte, readBuffer)
	}
	// Read ahead of crypto/tls: it asks for a record's head and body separately, which would
	// be two system calls per record.
	k.tls.Ready(l.ahead)
	for k.state == linkOpen {
		n, err := k.tls.Read(l.in)
		if n > 0 {
			l.receive(k, l.in[:n], l.now())
			if found = true; k.state != linkOpen || !k.tls.More() {
				return true
			}
			continue // its output is sent with that of the next record
		}
		switch {
		case err == nil:
		case errors.Is(err, socket.ErrAgain):
			return found
		case errors.Is(err, io.EOF):
			l.shut(k, l.now())
			return found
		default:
			l.fail(k, err, l.now())
			return found
		}
	}
	return found
}

// receive passes arrived bytes to the link's wire and takes the exchanges that it completes.
func (l *loop) receive(k *link, b []byte, now time.Duration) {
	if l.current != k {
		l.flush()
		l.current = k
	}
	var err error
	l.out, l.ends, err = k.wire.Receive(b, now, l.out, l.ends[:0])
	// Answers that came before a violation count: their requests succeeded.
	for _, x := range l.ends {
		l.conclude(&k.group.lanes[x.Slot], k, now)
	}
	if err != nil {
		l.fail(k, err, now)
	}
	l.goOn(k, now)
}

// goOn follows redirects and sends requests that wait for the link.
func (l *loop) goOn(k *link, now time.Duration) {
	l.follow()
	l.work()
	l.advance(k, now)
}

// shut is called when the peer sends no more.
func (l *loop) shut(k *link, now time.Duration) {
	var err error
	l.ends, err = k.wire.Shut(now, l.ends[:0])
	for _, x := range l.ends {
		l.conclude(&k.group.lanes[x.Slot], k, now)
	}
	switch {
	// An idle connection may be closed at any time, which is not a failure (RFC 9112,
	// section 9.5); closing one that never took a request is.
	case k.under == 0 && k.used:
		err = nil
	case k.under == 0 && err == nil:
		err = errUnused
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	l.fail(k, err, now)
	l.goOn(k, now)
}

// fail closes a link's socket and ends the requests in progress on it. Those that
// wait for the link fail only if it could not be opened, or its wire's own handshake
// failed. Without an error and without requests in progress, the target had the right
// to close it.
func (l *loop) fail(k *link, err error, now time.Duration) {
	// What failed decides who fails: on a link that never opened, those that wait for it; on
	// one that carried requests, those it carries.
	opened := k.state == linkOpen && (k.used || err == nil)
	if opened && k.under == 0 && err != errGivenUp {
		k.parted = true
	}
	again := opened && l.run.repeater != nil
	if l.current == k { // there is no reader any more
		l.drop()
	}
	l.close(k)
	if k.under > 0 {
		k.under = 0
		for i := range k.group.lanes {
			u := &k.group.lanes[i]
			if u.state != laneSent || u.link != k {
				continue
			}
			// Only on a connection that had been idle, and only a request that does no harm if it
			// is read twice: one that may have taken effect is never repeated.
			if again && l.lost(u, err) {
				l.resend(u, k)
			} else {
				u.x.Err, u.x.Done = err, now
				l.finish(u, now)
			}
		}
	}
	if !opened {
		for u := k.dequeue(); u != nil; u = k.dequeue() {
			u.x.Err, u.x.Done = err, now
			l.finish(u, now)
		}
		return
	}
	if k.head != nil {
		l.open(k)
	}
}

// close closes a link's socket.
func (l *loop) close(k *link) {
	if k.state == linkOpen {
		l.counted.Open--
	}
	// Bytes gathered for it would go out on whatever link is current next.
	if l.current == k {
		l.drop()
	}
	l.release(k)
	k.state = linkClosed
	k.generation++
	if k.draining {
		k.draining = false
		l.spares = append(l.spares, k)
	}
}

// drop forgets the bytes gathered for the current link.
func (l *loop) drop() { l.current, l.out, l.leaving = nil, l.out[:0], l.leaving[:0] }

// release gives the socket back. During a handshake it belongs to the handshake, and
// is closed when that sees its context end.
func (l *loop) release(k *link) {
	if k.tls != nil {
		k.tls.Close() // the socket too, once the handshake has finished with it
	} else if k.fd >= 0 {
		socket.Close(k.fd)
	}
	k.fd, k.tls, k.out, k.writing = -1, nil, nil, false
}

// flush writes the bytes gathered for the current link.
func (l *loop) flush() {
	k := l.current
	l.current = nil
	if k == nil || len(l.out) == 0 {
		return
	}
	out := l.out
	l.out = l.out[:0]
	// Stamped before the write: the generator is done with the request here, and a slow system
	// call must not look like its lag.
	l.stamp(k)
	if k.tls != nil {
		err := k.tls.Write(out)
		if err == nil {
			k.writing = k.tls.Kept()
			l.drained(k, k.tls.Kept())
			return
		}
		l.fail(k, err, l.now())
		return
	}
	// Bytes leave in order, so these follow those that the kernel had no room for.
	if len(k.out) > 0 {
		k.out = append(k.out, out...)
		return
	}
	n, err := socket.Write(k.fd, out)
	if n == len(out) {
		l.drained(k, false)
		return
	}
	if err != nil && err != socket.ErrAgain {
		l.fail(k, err, l.now())
		return
	}
	k.out = append(k.out, out[n:]...)
	k.writing = true
}

// writable writes the bytes that the kernel had no room for.
func (l *loop) writable(k *link) {
	if k.tls != nil {
		done, err := k.tls.Flush()
		if err != nil {
			l.fail(k, err, l.now())
			return
		}
		k.writing = !done
		l.drained(k, !done)
		return
	}
	n, err := socket.Write(k.fd, k.out)
	if err != nil && err != socket.ErrAgain {
		l.fail(k, err, l.now())
		return
	}
	if k.out = k.out[n:]; len(k.out) == 0 {
		k.out = nil
		k.writing = false
		l.drained(k, false)
	}
}

// drained notifies a wire that asked for it that everything was written.
func (l *loop) drained(k *link, kept bool) {
	if k.drainer == nil || kept || k.state != linkOpen {
		return
	}
	now := l.now()
	l.sent = k.drainer.Drained(now, l.sent[:0])
	for _, x := range l.sent {
		l.conclude(&k.group.lanes[x.Slot], k, now)
	}
}
