package pool

import (
	"context"
	"fmt"
	"io"
	"time"
)

// grant is what a waiter gets: a connection or the reason why there is none.
type grant[C io.Closer] struct {
	lease Lease[C]
	fresh bool // dialled for the waiter
	err   error
}

// waiter is one caller of Get in the queue. Whoever removes it sends one grant.
type waiter[C io.Closer] struct {
	ready      chan grant[C] // of capacity 1
	queued     bool
	prev, next *waiter[C]
}

// queue holds waiters in order of arrival. Its zero value is empty.
type queue[C io.Closer] struct {
	first, last *waiter[C]
	len         int
}

func (q *queue[C]) push(w *waiter[C]) {
	w.queued, w.prev = true, q.last
	if q.last == nil {
		q.first = w
	} else {
		q.last.next = w
	}
	q.last = w
	q.len++
}

func (q *queue[C]) remove(w *waiter[C]) {
	if w.prev == nil {
		q.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.queued, w.prev, w.next = false, nil, nil
	q.len--
}

// pop removes and returns the longest waiter, or returns nil.
func (q *queue[C]) pop() *waiter[C] {
	w := q.first
	if w != nil {
		q.remove(w)
	}
	return w
}

// wait queues the caller until a connection is released or dialled for it. It is called
// with the lock held, and returns without.
func (p *Pool[C]) wait(ctx context.Context) (Lease[C], error) {
	w := &waiter[C]{ready: make(chan grant[C], 1)}
	p.stats.Waits++
	p.waiters.push(w)
	p.provide()
	p.mu.Unlock()

	begun := time.Now()
	reused := false
	defer func() {
		waited := time.Since(begun)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stats.WaitTime += waited
		if reused {
			p.stats.Reused++
		}
	}()
	var limit <-chan time.Time
	if p.config.MaxWait > 0 {
		timer := time.NewTimer(p.config.MaxWait)
		defer timer.Stop()
		limit = timer.C
	}
	var err error
	select {
	case g := <-w.ready:
		reused = g.err == nil && !g.fresh
		return g.lease, g.err
	case <-ctx.Done():
		err = fmt.Errorf("pool: waiting for a connection: %w", ctx.Err())
	case <-limit:
		err = ErrMaxWait
	}
	p.mu.Lock()
	p.stats.GaveUp++
	if w.queued {
		p.waiters.remove(w)
		p.mu.Unlock()
		return Lease[C]{}, err
	}
	p.mu.Unlock()
	// A grant arrived at the same moment: pass it on to the next waiter.
	g := <-w.ready
	g.lease.Release()
	return Lease[C]{}, err
}
