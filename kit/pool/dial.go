package pool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// provide starts a dial for each waiter without one, as far as MaxOpen and the breaker
// allow, and fails waiters that cannot get a connection. It is called with the lock
// held, whenever one of these has changed.
func (p *Pool[C]) provide() {
	if p.closed {
		return
	}
	for p.waiters.len > p.dialing && p.open < p.config.MaxOpen {
		probe, ok := p.breaker.allow(p.elapsed())
		if !ok {
			break
		}
		p.open++
		p.dialing++
		go p.dial(probe)
	}
	if p.open > 0 {
		return
	}
	for w := p.waiters.pop(); w != nil; w = p.waiters.pop() {
		p.stats.Refused++
		w.ready <- grant[C]{err: p.breaker.err}
	}
}

// elapsed is the exact clock, in nanoseconds since the pool was made.
func (p *Pool[C]) elapsed() int64 { return int64(time.Since(p.start)) }

// dial opens one connection, for whoever has waited longest when it is open.
func (p *Pool[C]) dial(probe bool) {
	var conn C
	err := errors.New("pool: Dial ended its goroutine")
	defer func() { p.dialed(conn, err, probe) }()
	conn, err = p.tryDial()
}

// tryDial calls Dial, and turns a panic into an error: nobody above could recover it.
func (p *Pool[C]) tryDial() (conn C, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("pool: Dial panicked: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(p.ctx, p.config.DialTimeout)
	defer cancel()
	if conn, err = p.config.Dial(ctx); err != nil {
		return conn, fmt.Errorf("pool: dial: %w", err)
	}
	if any(conn) == nil {
		err = errors.New("pool: Dial returned neither a connection nor an error")
	}
	return conn, err
}

// dialed accounts for a dial that has ended.
func (p *Pool[C]) dialed(conn C, err error, probe bool) {
	p.mu.Lock()
	p.dialing--
	if err != nil {
		p.stats.DialErrors++
		if !p.closed && p.breaker.failed(p.elapsed(), err, probe) {
			p.stats.Breaks++
			p.breaker.wake = time.AfterFunc(p.config.Cooldown, p.resume)
		}
		if w := p.waiters.pop(); w != nil {
			w.ready <- grant[C]{err: err}
		}
		p.vacate()
		p.mu.Unlock()
		return
	}
	p.stats.Dialed++
	p.breaker.succeeded()
	p.sweepOn()
	e := &entry[C]{pool: p, conn: conn}
	if limit := int64(p.config.MaxLifetime); limit > 0 {
		e.expires = p.elapsed() + limit - rand.Int64N(limit/5+1)
	}
	if w := p.waiters.pop(); w != nil {
		w.ready <- grant[C]{lease: e.lend(), fresh: true}
		p.provide()
		p.mu.Unlock()
		return
	}
	why := p.keep(e)
	p.provide()
	p.mu.Unlock()
	if why != none {
		p.drop(e, why)
	}
}

// resume dials again for waiters once the cooldown is over.
func (p *Pool[C]) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.provide()
}
