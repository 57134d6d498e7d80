package pool

import "time"

// sweepOn starts the timer that moves the coarse clock and ends what is too old. It
// runs while connections are open. It is called with the lock held.
func (p *Pool[C]) sweepOn() {
	tick := p.config.tick()
	if tick == 0 || p.swept || p.closed {
		return
	}
	p.swept = true
	p.now = p.elapsed()
	if p.sweeper == nil {
		p.sweeper = time.AfterFunc(tick, p.sweep)
		return
	}
	p.sweeper.Reset(tick)
}

// sweep moves the coarse clock, and closes idle connections that have reached a limit.
// The clock moves nowhere else, so that an idle connection is within its limits whenever
// Get looks.
func (p *Pool[C]) sweep() {
	p.mu.Lock()
	if p.closed || p.open == 0 {
		p.swept = false
		p.mu.Unlock()
		return
	}
	p.now = p.elapsed()
	var aged, rusty []*entry[C]
	kept := p.idle[:0]
	for _, e := range p.idle {
		switch {
		case e.expires != 0 && e.expires <= p.now:
			aged = append(aged, e)
		case p.config.MaxIdleTime > 0 && p.now-e.idleSince >= int64(p.config.MaxIdleTime):
			rusty = append(rusty, e)
		default:
			kept = append(kept, e)
		}
	}
	clear(p.idle[len(kept):])
	p.idle = kept
	// Before closing, which may take long: the clock must go on.
	p.sweeper.Reset(p.config.tick())
	p.mu.Unlock()
	for _, e := range aged {
		p.drop(e, lifetime)
	}
	for _, e := range rusty {
		p.drop(e, unused)
	}
}
