package load

import (
	"context"
	"sync"
	"time"
)

// ticket is one due request of an open loop.
type ticket struct {
	n        int64
	intended time.Duration // run time
}

// dispatcher hands out the tickets of an open loop in order. A free connection
// gets the next ticket when it falls due, the one that was free last first, so
// that only as many connections are in use as the load needs; another one is
// opened when none is free and the cap allows it. When all are busy the tickets
// wait, in order, and a connection that becomes free takes the next by itself.
type dispatcher struct {
	run *run

	mu      sync.Mutex
	next    ticket // the next to hand out
	more    bool   // whether there is one
	idle    []*opener
	live    int
	over    bool          // nothing is handed out any more
	waiting bool          // the dispatcher waits for a connection to become idle
	idled   chan struct{} // wakes it
	all     sync.WaitGroup
}

// opener is a connection of an open loop. Its tickets arrive through hand while
// it is in the idle list.
type opener struct {
	*connection
	hand chan ticket
}

// driveOpen runs an open loop until every ticket is answered or ctx ends. Who
// ends ctx must interrupt timer too.
func (r *run) driveOpen(ctx context.Context, timer waiter) {
	d := &dispatcher{run: r, idled: make(chan struct{}, 1)}
	at, more := r.pace.at(0)
	d.next.intended, d.more = r.start+at, more
	for ctx.Err() == nil {
		next, more := d.handOut(ctx)
		if !more {
			break
		}
		if next > 0 {
			timer.until(r.clock, next)
			continue
		}
		select {
		case <-d.idled:
		case <-ctx.Done():
		}
	}
	d.end()
	d.all.Wait()
}

// handOut gives every ticket that is due to a free connection, as far as there
// are any. It returns when the next ticket is due, or zero when one is due
// already and every connection busy, and false when there are no more.
func (d *dispatcher) handOut(ctx context.Context) (next time.Duration, more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.more {
		if d.next.intended > d.run.clock.Now() {
			return d.next.intended, true
		}
		var o *opener
		switch n := len(d.idle); {
		case n > 0:
			o = d.idle[n-1]
			d.idle = d.idle[:n-1]
		case d.live < d.run.width:
			o = &opener{connection: d.run.connect(d.live), hand: make(chan ticket, 1)}
			d.live++
			d.all.Go(func() { d.serve(ctx, o) })
		default:
			d.waiting = true
			return 0, true
		}
		o.hand <- d.next // never blocks: o holds no ticket
		d.advance()
	}
	return 0, false
}

// advance moves on to the next ticket.
func (d *dispatcher) advance() {
	d.next.n++
	at, ok := d.run.pace.at(d.next.n)
	d.next.intended, d.more = d.run.start+at, ok
	d.run.taken.Store(d.next.n)
}

// end lets the connections finish what they have and stop.
func (d *dispatcher) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	for _, o := range d.idle {
		close(o.hand)
	}
	d.idle = nil
}

// serve is one connection of an open loop.
func (d *dispatcher) serve(ctx context.Context, o *opener) {
	// A connection that did not exist could have been opened at any time, so
	// it counts as free since ever.
	t, free, ok := <-o.hand, time.Duration(0), true
	for ok && o.perform(ctx, t.n, t.intended, free, true) {
		free = o.x.Done
		if o.backoff > 0 {
			free = d.run.clock.Now()
		}
		t, ok = d.take(o, free)
	}
}

// take returns o's next ticket: one that is due already, or the one that it is
// handed while idle. False means that there will be none.
func (d *dispatcher) take(o *opener, free time.Duration) (ticket, bool) {
	d.mu.Lock()
	if d.over {
		d.mu.Unlock()
		return ticket{}, false
	}
	if d.more && d.next.intended <= free {
		t := d.next
		d.advance()
		d.mu.Unlock()
		return t, true
	}
	d.idle = append(d.idle, o)
	if d.waiting {
		d.waiting = false
		d.idled <- struct{}{} // never blocks: waiting is set once per receive
	}
	d.mu.Unlock()
	t, ok := <-o.hand
	return t, ok
}
