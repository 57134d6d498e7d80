package ring

import (
	"context"
	"runtime"
)

// PutAll adds the elements of vs in their order, and waits for room until ctx is
// done. Elements of other producers may come between them. It returns how many are
// in the queue, the first n of vs, and an error if that is not all: ErrClosed or
// ctx's.
func (r *Ring[T]) PutAll(ctx context.Context, vs []T) (n int, err error) {
	for n < len(vs) {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		k, err := r.putWaiting(ctx, vs[n:])
		n += k
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// putWaiting adds at least one of vs.
func (r *Ring[T]) putWaiting(ctx context.Context, vs []T) (n int, err error) {
	// Deferred, because the wake-up that this call used may have been for others too.
	defer r.passRoom()
	for range yields {
		if n, err = r.putSome(vs); err != ErrFull {
			return n, err
		}
		runtime.Gosched()
	}
	stopped := r.putters.sleep(ctx, func() bool { n, err = r.putSome(vs); return err != ErrFull })
	if stopped != nil {
		return 0, stopped
	}
	return n, err
}

// TakeSome moves the oldest elements into into, in their order: as many as are
// there and fit, and at least one, for which it waits until ctx is done. It returns
// how many. The error is ErrClosed once the Ring is closed and nothing is left, or
// ctx's; then n is 0. An empty into returns at once.
func (r *Ring[T]) TakeSome(ctx context.Context, into []T) (n int, err error) {
	if err := ctx.Err(); err != nil || len(into) == 0 {
		return 0, err
	}
	defer r.passElements()
	for range yields {
		if n, err = r.takeSome(into); err != ErrEmpty {
			return n, err
		}
		runtime.Gosched()
	}
	stopped := r.takers.sleep(ctx, func() bool { n, err = r.takeSome(into); return err != ErrEmpty })
	if stopped != nil {
		return 0, stopped
	}
	return n, err
}

// putSome claims the free slots in front, at most one per element, by one step of
// tail. A slot that is free for a ticket stays free until that ticket is claimed, so
// what was counted before the step still holds after it.
func (r *Ring[T]) putSome(vs []T) (int, error) {
	for {
		t := r.tail.Load()
		if t&shut != 0 {
			return 0, ErrClosed
		}
		n := uint64(0)
		for n < uint64(len(vs)) && r.slots[(t+n)&r.mask].state.Load() == 2*(t+n) {
			n++
		}
		if n == 0 {
			if r.slots[t&r.mask].state.Load() < 2*t {
				return 0, ErrFull
			}
			continue
		}
		if !r.tail.CompareAndSwap(t, t+n) {
			continue
		}
		for i, v := range vs[:n] {
			s := &r.slots[(t+uint64(i))&r.mask]
			s.value = v
			s.state.Store(2*(t+uint64(i)) + 1)
		}
		r.takers.wake(int(n))
		return int(n), nil
	}
}

// takeSome is putSome's counterpart on the filled slots in front.
func (r *Ring[T]) takeSome(into []T) (int, error) {
	var zero T
	for {
		t := r.head.Load()
		n := uint64(0)
		for n < uint64(len(into)) && r.slots[(t+n)&r.mask].state.Load() == 2*(t+n)+1 {
			n++
		}
		if n == 0 {
			if r.slots[t&r.mask].state.Load() > 2*t {
				continue
			}
			if r.tail.Load() == t|shut {
				return 0, ErrClosed
			}
			return 0, ErrEmpty
		}
		if !r.head.CompareAndSwap(t, t+n) {
			continue
		}
		for i := range into[:n] {
			s := &r.slots[(t+uint64(i))&r.mask]
			into[i], s.value = s.value, zero
			s.state.Store(2 * (t + uint64(i) + r.mask + 1))
		}
		r.putters.wake(int(n))
		return int(n), nil
	}
}
