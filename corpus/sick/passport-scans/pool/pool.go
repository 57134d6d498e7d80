// Package pool does jobs on a fixed number of workers.
package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Errors of Do.
var (
	ErrFull   = errors.New("pool: the queue is full")
	ErrClosed = errors.New("pool: closed")
)

type outcome[Out any] struct {
	value Out
	err   error
}

type job[In, Out any] struct {
	ctx  context.Context
	in   In
	done chan outcome[Out]
}

// Pool does jobs.
type Pool[In, Out any] struct {
	do      func(context.Context, In) (Out, error)
	workers sync.WaitGroup

	mu     sync.RWMutex // guards closed against sends on jobs
	closed bool
	jobs   chan job[In, Out]
}

// New starts workers that do jobs; up to queue more wait.
func New[In, Out any](workers, queue int, do func(context.Context, In) (Out, error)) *Pool[In, Out] {
	p := &Pool[In, Out]{do: do, jobs: make(chan job[In, Out], queue)}
	for range workers {
		p.workers.Go(p.work)
	}
	return p
}

func (p *Pool[In, Out]) work() {
	for j := range p.jobs {
		if err := j.ctx.Err(); err != nil {
			j.done <- outcome[Out]{err: err}
			continue
		}
		j.done <- p.attempt(j)
	}
}

func (p *Pool[In, Out]) attempt(j job[In, Out]) (o outcome[Out]) {
	defer func() {
		if v := recover(); v != nil {
			o.err = fmt.Errorf("pool: job panicked: %v", v)
		}
	}()
	o.value, o.err = p.do(j.ctx, j.in)
	return o
}

// Do has a job done and returns what came of it.
func (p *Pool[In, Out]) Do(ctx context.Context, in In) (Out, error) {
	j := job[In, Out]{ctx, in, make(chan outcome[Out], 1)}
	if err := p.submit(j); err != nil {
		var zero Out
		return zero, err
	}
	select {
	case o := <-j.done:
		return o.value, o.err
	case <-ctx.Done():
		var zero Out
		return zero, ctx.Err()
	}
}

func (p *Pool[In, Out]) submit(j job[In, Out]) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return ErrClosed
	}
	select {
	case p.jobs <- j:
		return nil
	default:
		return ErrFull
	}
}

// Close ends the workers once all jobs are done.
func (p *Pool[In, Out]) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.jobs)
	}
	p.mu.Unlock()
	p.workers.Wait()
}
