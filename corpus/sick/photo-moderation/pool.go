package main

import (
	"context"
	"errors"
	"sync"
)

// ErrBusy says that the queue of a pool is full.
var ErrBusy = errors.New("busy")

type job[In, Out any] struct {
	ctx  context.Context
	in   In
	done chan<- outcome[Out]
}

type outcome[Out any] struct {
	out Out
	err error
}

// Pool runs a function on a fixed number of goroutines.
type Pool[In, Out any] struct {
	run  func(context.Context, In) (Out, error)
	jobs chan job[In, Out]
	wg   sync.WaitGroup
}

// NewPool starts the goroutines of a pool.
func NewPool[In, Out any](workers, queue int, run func(context.Context, In) (Out, error)) *Pool[In, Out] {
	p := &Pool[In, Out]{run: run, jobs: make(chan job[In, Out], queue)}
	for range workers {
		p.wg.Go(p.work)
	}
	return p
}

func (p *Pool[In, Out]) work() {
	for j := range p.jobs {
		if err := j.ctx.Err(); err != nil {
			j.done <- outcome[Out]{err: err}
			continue
		}
		out, err := p.run(j.ctx, j.in)
		j.done <- outcome[Out]{out, err}
	}
}

// Do runs the function for in and waits for what it returns.
func (p *Pool[In, Out]) Do(ctx context.Context, in In) (none Out, err error) {
	done := make(chan outcome[Out], 1)
	select {
	case p.jobs <- job[In, Out]{ctx, in, done}:
	default:
		return none, ErrBusy
	}
	select {
	case o := <-done:
		return o.out, o.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// Close ends the goroutines once the queue is empty.
func (p *Pool[In, Out]) Close() {
	close(p.jobs)
	p.wg.Wait()
}
