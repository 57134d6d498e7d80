// Package pool runs jobs on a fixed number of goroutines.
package pool

import (
	"container/list"
	"errors"
	"sync"
)

// ErrClosed is returned by Do after Close.
var ErrClosed = errors.New("pool is closed")

type job struct {
	run  func() error
	err  error
	over bool
}

// Pool is a queue of jobs with its workers.
type Pool struct {
	mu     sync.Mutex
	work   *sync.Cond // a job was queued, or the pool closed
	over   *sync.Cond // a job is over
	queue  list.List
	closed bool
	wg     sync.WaitGroup
}

// New starts a pool.
func New(workers int) *Pool {
	p := &Pool{}
	p.work = sync.NewCond(&p.mu)
	p.over = sync.NewCond(&p.mu)
	for range workers {
		p.wg.Add(1)
		go p.worker()
	}
	return p
}

func (p *Pool) worker() {
	defer p.wg.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for p.queue.Len() == 0 && !p.closed {
			p.work.Wait()
		}
		if p.queue.Len() == 0 {
			return
		}
		j := p.queue.Remove(p.queue.Front()).(*job)
		p.mu.Unlock()
		err := j.run()
		p.mu.Lock()
		j.err, j.over = err, true
		p.over.Broadcast()
	}
}

// Do runs f on a worker and returns its error.
func (p *Pool) Do(f func() error) error {
	j := &job{run: f}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.queue.PushBack(j)
	p.work.Signal()
	for !j.over {
		p.over.Wait()
	}
	return j.err
}

// Close lets the workers end what is queued and waits for them.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.work.Broadcast()
	p.mu.Unlock()
	p.wg.Wait()
}
