package pool

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// Pool lends connections. [New] makes one; the zero value does not work. Its methods may
// be called from any number of goroutines. A pool that is no longer needed must be
// closed: until then its idle connections stay open.
type Pool[C io.Closer] struct {
	config Config[C]
	start  time.Time
	// dialling ends when the pool is closed.
	ctx    context.Context
	cancel context.CancelFunc

	mu sync.Mutex
	// idle is a stack: the last one released is the first one lent, so that the
	// others reach MaxIdleTime. While anybody waits it is empty.
	idle    []*entry[C]
	waiters queue[C]
	open    int // connections idle, lent, being dialled or being closed
	dialing int
	now     int64 // the coarse clock, in nanoseconds since start
	sweeper *time.Timer
	swept   bool // sweeper is running
	breaker breaker
	closed  bool
	drained chan struct{} // closed when closed and open is 0
	stats   Stats
	dropped [reasons]int64
}

// entry is one connection. It is lent again and again, each time under another number.
type entry[C io.Closer] struct {
	pool      *Pool[C]
	conn      C
	lease     uint64
	idleSince int64
	expires   int64 // 0 is never
}

// Lease is a connection on loan. Copies of it stand for the same loan. The zero Lease
// has no connection, and may be released.
type Lease[C io.Closer] struct {
	// Conn is the connection. It must not be used after Release or Discard, nor closed
	// by the borrower.
	Conn   C
	entry  *entry[C]
	number uint64
}

// New makes a pool. It dials nothing before the first Get. The error reports an
// invalid Config.
func New[C io.Closer](config Config[C]) (*Pool[C], error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pool[C]{config: config, start: time.Now(), drained: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.breaker = breaker{limit: config.BreakAfter, cooldown: int64(config.Cooldown)}
	return p, nil
}

// Get lends a connection, and waits for one while all are lent. The caller must call
// Release or Discard on the lease. The error wraps the context's, [ErrMaxWait],
// [ErrClosed], [ErrBreaker], or that of the dial for this caller.
func (p *Pool[C]) Get(ctx context.Context) (Lease[C], error) {
	if err := ctx.Err(); err != nil {
		return Lease[C]{}, fmt.Errorf("pool: %w", err)
	}
	p.mu.Lock()
	p.stats.Gets++
	for {
		if p.closed {
			p.mu.Unlock()
			return Lease[C]{}, ErrClosed
		}
		last := len(p.idle) - 1
		if last < 0 {
			return p.wait(ctx)
		}
		e := p.idle[last]
		p.idle[last] = nil
		p.idle = p.idle[:last]
		lease := e.lend()
		if p.config.Check == nil || p.now-e.idleSince < int64(p.config.CheckAfter) {
			p.stats.Reused++
			p.mu.Unlock()
			return lease, nil
		}
		p.mu.Unlock()
		if p.sound(ctx, lease) {
			return lease, nil
		}
		if err := ctx.Err(); err != nil {
			return Lease[C]{}, fmt.Errorf("pool: %w", err)
		}
		p.mu.Lock()
	}
}

// lend begins a loan. It is called with the lock held.
func (e *entry[C]) lend() Lease[C] {
	e.lease++
	return Lease[C]{e.conn, e, e.lease}
}

// sound checks a connection that was idle for long, and drops it unless the check
// succeeds. If the check was interrupted it is dropped too, because its protocol state
// is unknown.
func (p *Pool[C]) sound(ctx context.Context, lease Lease[C]) bool {
	ok := false
	defer func() { // Check may panic
		p.mu.Lock()
		p.stats.Checks++
		if ok {
			p.stats.Reused++
		}
		p.mu.Unlock()
		if !ok {
			lease.end(unsound)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, p.config.CheckTimeout)
	defer cancel()
	ok = p.config.Check(ctx, lease.Conn) == nil
	return ok
}

// Release gives the connection back. Once a lease has been released or discarded, a
// further Release or Discard of it does nothing, so that either may be deferred.
func (l Lease[C]) Release() { l.end(none) }

// Discard gives the connection back as broken: it is closed, and its place is free for
// another. After an error of its protocol a connection must be discarded, never released.
func (l Lease[C]) Discard() { l.end(broken) }

// end ends a loan, once, and closes the connection if there is a reason to.
func (l Lease[C]) end(why reason) {
	e := l.entry
	if e == nil {
		return
	}
	p := e.pool
	p.mu.Lock()
	if e.lease != l.number {
		p.mu.Unlock()
		return
	}
	e.lease++
	if why == none {
		why = p.keep(e)
	}
	p.mu.Unlock()
	if why != none {
		p.drop(e, why)
	}
}

// keep passes a connection to the longest waiter, or makes it idle. It returns why it
// must be closed instead, or none. It is called with the lock held.
func (p *Pool[C]) keep(e *entry[C]) reason {
	switch {
	case p.closed:
		return shutdown
	case e.expires != 0 && e.expires <= p.now:
		return lifetime
	}
	if w := p.waiters.pop(); w != nil {
		w.ready <- grant[C]{lease: e.lend()}
		return none
	}
	if len(p.idle) >= p.config.MaxIdle {
		return surplus
	}
	e.idleSince = p.now
	p.idle = append(p.idle, e)
	return none
}

// drop closes a connection that is neither idle nor lent. Its place is free only
// afterwards: until then its socket is open.
func (p *Pool[C]) drop(e *entry[C], why reason) {
	failed := true
	defer func() { // Close may panic
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dropped[why]++
		if failed {
			p.stats.CloseErrors++
		}
		p.vacate()
	}()
	failed = e.conn.Close() != nil
}

// vacate frees the place of one connection. It is called with the lock held.
func (p *Pool[C]) vacate() {
	p.open--
	if p.closed && p.open == 0 {
		close(p.drained)
	}
	p.provide()
}

// Close closes the idle connections, fails waiters with [ErrClosed], and ends dials in
// progress. Connections on loan are closed when they are released. A second Close does
// nothing. The error is always nil; Stats counts the errors of closing.
func (p *Pool[C]) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	idle := p.idle
	p.idle = nil
	for w := p.waiters.pop(); w != nil; w = p.waiters.pop() {
		w.ready <- grant[C]{err: ErrClosed}
	}
	if p.sweeper != nil {
		p.sweeper.Stop()
	}
	p.breaker.stop()
	if p.open == 0 {
		close(p.drained)
	}
	p.mu.Unlock()
	p.cancel()
	for _, e := range idle {
		p.drop(e, shutdown)
	}
	return nil
}

// Shutdown closes the pool, and waits until the last connection on loan has been
// released and closed. When ctx ends first, its error is wrapped.
func (p *Pool[C]) Shutdown(ctx context.Context) error {
	_ = p.Close()
	select {
	case <-p.drained:
		return nil
	case <-ctx.Done():
		if open := p.Stats().Open; open > 0 {
			return fmt.Errorf("pool: %d connections are still open: %w", open, ctx.Err())
		}
		return nil
	}
}
