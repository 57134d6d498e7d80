// Package pipe joins functions to a pipeline whose stages work at the same time.
package pipe

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("pipe: closed")

// Step turns a value into the next stage's.
type Step[In, Out any] func(context.Context, In) (Out, error)

// Parcel is a value on its way, with whoever waits for it.
type Parcel[T any] struct {
	ctx   context.Context
	Value T
	fail  func(error)
}

// Stage runs step on all that comes in, and hands on what succeeds. The channel
// that it returns is closed when in is closed and all of it is done.
func Stage[In, Out any](in <-chan Parcel[In], backlog int, step Step[In, Out]) <-chan Parcel[Out] {
	out := make(chan Parcel[Out], backlog)
	go func() {
		defer close(out)
		for p := range in {
			if err := p.ctx.Err(); err != nil {
				p.fail(err)
				continue
			}
			v, err := step(p.ctx, p.Value)
			if err != nil {
				p.fail(err)
				continue
			}
			out <- Parcel[Out]{p.ctx, v, p.fail}
		}
	}()
	return out
}

// Intake is the beginning of a pipeline.
type Intake[T any] struct {
	mu     sync.RWMutex
	closed bool
	ch     chan Parcel[T]
}

// NewIntake makes an intake; its channel goes into the first stage.
func NewIntake[T any](backlog int) (*Intake[T], <-chan Parcel[T]) {
	in := &Intake[T]{ch: make(chan Parcel[T], backlog)}
	return in, in.ch
}

// Put hands in a value. fail is called at most once, if a stage refuses it.
func (in *Intake[T]) Put(ctx context.Context, v T, fail func(error)) error {
	in.mu.RLock()
	defer in.mu.RUnlock()
	if in.closed {
		return ErrClosed
	}
	select {
	case in.ch <- Parcel[T]{ctx, v, fail}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close takes in no more.
func (in *Intake[T]) Close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed {
		in.closed = true
		close(in.ch)
	}
}
