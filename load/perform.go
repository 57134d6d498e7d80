package load

import (
	"errors"
	"time"

	"github.com/redline-go/redline/load/account"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/pace"
)

// mostBehind bounds the tickets that wait for a connection of their own. Those
// beyond stay with the arrivals and wait there, in order.
const mostBehind = 1 << 20

// handOut gives the due tickets of an open loop to free lanes. If all are busy, tickets
// wait in order: they are due whether or not they can be sent, and their latency counts
// from then.
func (l *loop) handOut(now time.Duration) {
	r := l.run
	if !r.plan.Open() {
		return
	}
	for {
		n, at, ok := l.arrivals.Peek()
		if at += r.start; !ok || at > now {
			return
		}
		var u *lane
		switch {
		case r.plan.PerConnection > 0:
			// A busy connection keeps its tickets: if a free one took them, connections would not
			// keep their rates.
			if u = l.owner(n); u.state != laneFree || u.wake > 0 || len(u.behind) > 0 {
				if l.behind == mostBehind {
					return
				}
				l.behind++
				u.behind = append(u.behind, pace.Ticket{N: n, At: at})
				l.take()
				continue
			}
		case len(l.idle) > 0:
			// The one freed last, so that no more connections are opened than the rate needs.
			u = l.idle[len(l.idle)-1]
			l.idle = l.idle[:len(l.idle)-1]
		default:
			return
		}
		l.take()
		u.number, u.intended = n, at
		l.begin(u)
	}
}

func (l *loop) take() {
	l.arrivals.Take()
	l.counted.Taken++
}

// owner returns the lane of a ticket whose connection is given.
func (l *loop) owner(n int64) *lane {
	return &l.groups[int(n%int64(l.run.connections))/len(l.run.loops)].lanes[0]
}

// again decides a lane's next step after its last request ended.
func (l *loop) again(u *lane) {
	// After failures without a byte sent a lane pauses, or the loop would spin on a target
	// that refuses.
	if u.backoff > 0 && l.run.plan.Open() {
		l.alarms.add(u, l.now()+u.backoff)
		return
	}
	if l.run.plan.Open() {
		l.rest(u)
		return
	}
	from := u.free
	if u.backoff > 0 {
		from = l.now() + u.backoff
	}
	l.schedule(u, from+pace.Think(l.run.plan.Think, &u.rng))
}

// rest frees a lane of an open loop for the next ticket.
func (l *loop) rest(u *lane) {
	switch {
	case l.run.plan.PerConnection == 0:
		l.idle = append(l.idle, u)
		l.freed = max(l.freed, u.free)
	case len(u.behind) > 0:
		l.ready = append(l.ready, u)
	}
}

// schedule plans the next request of a closed loop's lane, for the first time from then
// on at which the course of the load includes that lane.
func (l *loop) schedule(u *lane, from time.Duration) {
	r := l.run
	at, ok := r.pace.Active(u.id, max(0, from-r.start))
	if !ok || !r.spend(at) {
		return // this lane is over
	}
	// Due when the course includes the lane, and not before the think time is over.
	u.intended = max(at+r.start, from)
	if u.intended > u.free && u.intended > l.now() {
		l.alarms.add(u, u.intended)
		return
	}
	l.ready = append(l.ready, u)
}

// woken handles a lane whose alarm went off.
func (l *loop) woken(u *lane) {
	u.wake = 0
	if !l.run.plan.Open() {
		l.ready = append(l.ready, u)
		return
	}
	// The pause is redline's own: it must not count as lag of the next request.
	u.free = l.now() // it was not free while it paused
	l.rest(u)
}

// work begins the requests of lanes that are ready and hands out tickets to lanes that
// were freed. Lanes that thereby become ready, as after a message that ends when it was
// sent, are left for the next round: sockets would otherwise starve.
func (l *loop) work() {
	n := len(l.ready)
	for i := range n {
		l.begin(l.ready[i])
	}
	l.ready = l.ready[:copy(l.ready, l.ready[n:])]
	if now := l.freed; now > 0 {
		l.freed = 0
		l.handOut(now)
	}
}

// begin begins a lane's next request: the first of the tickets behind it, or
// the one whose number and intended time are set.
func (l *loop) begin(u *lane) {
	r := l.run
	if len(u.behind) > 0 {
		// Not taken before now: requests that fall due meanwhile must come after it.
		u.number, u.intended = u.behind[0].N, u.behind[0].At
		if u.behind = u.behind[1:]; len(u.behind) == 0 {
			u.behind = nil
		}
		l.behind--
	}
	// The lane keeps its slot; all else is reset, so that nothing of the last answer can pass
	// for this one's.
	u.x = Exchange{Slot: u.x.Slot, Data: l.cursor(u)}
	if replay := r.plan.Replay; replay != nil {
		// A replayed line names its request and its row.
		u.x.Request = int(replay.Request[u.number])
		u.x.Data.Seek(int(replay.Row[u.number]))
	} else {
		u.x.Request = r.mix.Pick(&u.rng)
	}
	if !r.plan.Open() {
		u.number = l.counted.Begun*int64(len(r.loops)) + int64(l.index) // unique
	}
	// Ready once it is due and has a lane: the time from here until the bytes leave is the
	// generator's own delay.
	u.since = max(u.intended, u.free)
	u.begun, u.resent, u.drawn = u.since, 0, false
	l.under++
	l.counted.Begun++
	l.route(u, u.group.links[r.hostOf[u.x.Request]])
}

// route sends a lane's request over a link, now or when the link can take it.
func (l *loop) route(u *lane, k *link) {
	if k.state == linkOpen {
		room, over := k.wire.State()
		if room > 0 && k.head == nil {
			u.link = k
			l.send(u, k)
			return
		}
		// A connection that takes no more requests is replaced here rather than at its end, which
		// may never be announced.
		if over && k.under == 0 {
			l.close(k)
		} else if over {
			k = l.succeed(k)
		}
	}
	u.link = k
	k.enqueue(u)
	if k.state == linkClosed {
		l.open(k)
	}
}

// send hands a lane's request to the link's wire, which has room for it.
func (l *loop) send(u *lane, k *link) {
	if l.current != k {
		l.flush()
		l.current = k
	}
	// A request that goes out again keeps its trace: it is still the same request.
	if l.sampler.on && u.x.Sent == 0 && l.traced[u.x.Request] {
		u.x.Trace = l.sampler.next(l.now(), u.number)
		if u.x.Trace != nil && len(l.traced) > 1 {
			u.x.Trace.Request = u.x.Request + 1
		}
	}
	out, err := k.wire.Send(&u.x, l.out)
	u.drawn = u.x.Data != nil
	if err != nil {
		u.x.Err = err
		l.finish(u, l.now())
		return
	}
	l.out = out
	l.leaving = append(l.leaving, u)
	// Reused means idle before: if others are in progress, the peer is known to be there.
	u.state, u.reused = laneSent, k.used && k.under == 0
	k.used = true
	k.under++
}

// stamp notes that the bytes gathered for a link are sent now.
func (l *loop) stamp(k *link) {
	now := l.now()
	for _, u := range l.leaving {
		// A request that goes out again keeps its first time; one given up meanwhile has none.
		if u.link == k && u.state == laneSent && u.x.Sent == 0 {
			u.x.Sent = now
			u.own = max(0, now-u.since)
		}
	}
	l.leaving = l.leaving[:0]
}

// conclude takes an exchange that its wire completed.
func (l *loop) conclude(u *lane, k *link, now time.Duration) {
	k.under--
	if u.x.Err != nil && u.unseen() {
		l.resend(u, k)
		return
	}
	if len(u.x.Redirect) > 0 && u.x.Err == nil && l.run.follower != nil {
		// The next hop is part of the same request: its time continues.
		host, err := l.run.follower.Follow(&u.x)
		if err == nil {
			u.x.Redirect = nil
			l.leave(u, host)
			return
		}
		u.x.Err = err
	}
	l.finish(u, now)
}

// finish records a lane's request, which ended at now unless its wire says
// otherwise, and lets the lane go on.
func (l *loop) finish(u *lane, now time.Duration) {
	x := &u.x
	// A wire that failed before it sent sets no end of its own.
	if x.Done == 0 || x.Done < x.Sent {
		x.Done = now
	}
	s := account.Sample{
		Intended: u.intended, Sent: x.Sent, First: x.FirstByte, Done: x.Done, Own: u.own, ID: u.number,
		BytesIn: account.Clamp32(x.BytesIn), BytesOut: account.Clamp32(x.BytesOut), Failed: x.Failed,
		Request: int32(x.Request), Connection: int32(u.link.id), Status: uint16(x.Status),
	}
	// Never sent: there is no lag of sending, and the failure counts from when it was due.
	if x.Sent == 0 {
		s.Own = 0
		l.counted.Unsent++
	} else {
		s.Intended = l.run.intended(u)
		if x.Err == nil {
			l.counted.Longest = max(l.counted.Longest, int64(x.Done-x.Sent))
		}
	}
	if x.Err != nil {
		s.Kind, s.Message = l.run.failed(x.Err)
	}
	if x.Trace != nil {
		s.Trace = x.Trace.index
	}
	l.Ended.Add(l.run.steady, s.Intended)
	// The ring is full: the loop stops to empty it. Its next requests are then late, which
	// shows in the own lag, instead of this one being lost.
	for !l.Push(&s) {
		l.run.collector.Empty(l.Feed)
	}
	l.under--
	if u.drawn { // not when it was sent: it might be sent again
		x.Data.Next()
	}
	u.state, u.link, u.free = laneFree, nil, x.Done
	if x.Err != nil && x.Sent == 0 {
		u.pause()
	} else {
		u.backoff = 0
	}
	l.again(u)
}

// expire ends the requests whose timeout has passed. Lanes are not kept in the order of
// their deadlines: that would cost every request something for the sake of the few that
// time out. They are checked when the earliest deadline seen at the last check passes, or
// a whole timeout later: no request begun since then can expire before.
func (l *loop) expire(now time.Duration) {
	if now < l.scan {
		return
	}
	timeout := l.run.plan.Timeout
	earliest := now + timeout
	for i := range l.lanes {
		u := &l.lanes[i]
		if u.state == laneFree {
			continue
		}
		// A request on its way to another link times out there.
		if at := u.deadline(timeout); at > now || u.state == laneAgain {
			earliest = min(earliest, at)
		} else {
			l.giveUp(u, now)
		}
	}
	l.scan = max(earliest, now+leastScan)
}

// leastScan bounds how often all lanes are checked.
const leastScan = time.Millisecond

var errTimeout = &failure.Error{Kind: failure.Timeout, Err: errors.New("no answer within the timeout")}

// giveUp ends a request at its timeout.
func (l *loop) giveUp(u *lane, now time.Duration) {
	k := u.link
	u.x.Err, u.x.Done = errTimeout, now
	if u.state == laneWaiting {
		k.remove(u)
		l.finish(u, now)
		// Nobody waits for this connection any more: a hanging attempt would occupy it.
		if k.head == nil && k.opening() {
			k.skip()
			l.close(k)
		}
		return
	}
	if l.current != k {
		l.flush()
		l.current = k
	}
	// HTTP/2 resets the stream; HTTP/1 can only close the connection.
	out, keep := k.wire.Cancel(&u.x, l.out)
	l.out = out
	k.under--
	l.finish(u, now)
	if !keep {
		l.fail(k, errGivenUp, now)
	}
	l.advance(k, now)
}

var errGivenUp error = &failure.Error{Kind: failure.Reset, Err: errors.New("the connection was given up with a request that timed out")}
