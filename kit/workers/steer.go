package workers

import "time"

// call wakes steer if it rests and tasks wait without an idle worker. A submitter
// calls it after storing its task, a worker after it ceases to be idle, and steer
// looks once more after it announced that it rests: so of any two that race, one
// sees the other.
func (p *Pool) call() {
	if p.resting.Load() && p.short() && p.resting.CompareAndSwap(true, false) {
		p.called <- struct{}{} // has room: only the goroutine that cleared resting sends
	}
}

// short reports whether more tasks wait than workers are idle.
func (p *Pool) short() bool { return int64(p.queue.Len()) > p.idle.Load() }

// steer grows and shrinks the pool. It ticks only while there is something to
// decide, so an idle pool uses no CPU.
func (p *Pool) steer() {
	defer p.end()
	for {
		select {
		case <-p.called:
		case <-p.last:
			return
		}
		if !p.tick() {
			return
		}
	}
}

// tick decides every Tick until the pool is back at Min and idle, or without workers:
// then it returns false.
func (p *Pool) tick() bool {
	ticker := time.NewTicker(p.options.Tick)
	defer ticker.Stop()
	finished := p.finished.Load()
	spare, since := p.idle.Load(), time.Now()
	for {
		select {
		case <-ticker.C:
		case <-p.last:
			return false
		}
		before := finished
		finished = p.finished.Load()
		n := p.wanted(finished != before)
		p.grow(n)
		p.grown.Add(uint64(n))
		spare = min(spare, p.idle.Load())
		if time.Since(since) < p.options.Idle {
			continue
		}
		p.retire(spare)
		spare, since = p.idle.Load(), time.Now()
		if p.workers.Load() > int64(p.options.Min) || p.short() {
			continue
		}
		p.resting.Store(true)
		if !p.short() || !p.resting.CompareAndSwap(true, false) {
			return true // or someone who came between has called
		}
	}
}

// wanted returns how many workers to add.
func (p *Pool) wanted(finishing bool) int {
	waiting := p.queue.Len()
	workers := int(p.workers.Load())
	room := p.options.Max - workers
	if waiting == 0 || p.idle.Load() > 0 || room <= 0 {
		return 0
	}
	switch {
	case p.options.CPU() < p.options.Ceiling:
		return min(workers, waiting, room)
	case !finishing:
		return 1
	}
	return 0
}

// retire asks n workers to leave; mayLeave keeps Min. The requests go through the
// queue: an idle worker finds one soon, and if the queue is full none is made.
func (p *Pool) retire(n int64) {
	for ; n > 0; n-- {
		if p.queue.TryPut(nil) != nil {
			return
		}
	}
}

// grow adds n workers, also to drain the queue, but none after the last has gone.
func (p *Pool) grow(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed && p.staying == 0 {
		return
	}
	p.alive += n
	p.staying += n
	p.peak = max(p.peak, p.staying)
	p.workers.Add(int64(n))
	for range n {
		go p.work()
	}
}

// end notes that a goroutine of the pool ends.
func (p *Pool) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alive--
	if p.alive == 0 {
		close(p.gone)
	}
}
