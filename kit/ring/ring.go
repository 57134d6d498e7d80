// Package ring is a bounded queue for many producers and many consumers: what a
// buffered channel does between goroutines that pass many small values, at a
// fraction of the cost, because goroutines claim slots with one atomic operation each and
// take a lock only to sleep.
//
// Use a channel instead
//   - where the values are few: below about a million per second the channel is not
//     what costs;
//   - where a goroutine selects over several sources: a Ring cannot be part of a select;
//   - where the queue must have no room: an unbuffered channel hands over directly, a
//     Ring always stores.
//
// PutAll and TakeSome move several elements for about the cost of one claim, which is most of the gain:
// docs/kit/ring.md has the figures. The package offers no unbounded queue and no priorities.
//
// # Order
//
// Elements leave in the order in which their producers took a ticket, so that those
// of one producer never overtake each other. A producer that the scheduler stops
// between its ticket and its store holds up the elements behind its own: TryTake
// then answers ErrEmpty although Len is above zero, and Take waits.
//
// # Closing
//
// Close works as on a channel: what was put before is still taken, and after it Take
// answers ErrClosed. Where a channel panics a Ring returns: Put on a closed Ring is
// ErrClosed, and a second Close does nothing. Close may run concurrently with Put:
// an element whose Put returned nil will be taken, one whose Put returned an error
// is not in the queue.
//
// # Memory model
//
// The queue is Vyukov's bounded MPMC queue (1024cores.net, "Bounded MPMC queue"). A
// ticket t belongs to slot t modulo the capacity, whose state says whose turn it is: 2t free
// for the producer with ticket t, 2t+1 filled for the consumer with ticket t. The goroutine
// that moves tail (or head) from t to t+1 by compare-and-swap owns the slot until it stores
// the next state, and that store publishes:
//
//   - a producer writes the value, then stores 2t+1; a consumer that loads 2t+1 reads
//     the value. So Put happens before the Take that returns its element.
//   - a consumer clears the value, then stores 2(t+capacity); the producer of the next lap that
//     loads it overwrites the slot. So the read happens before the overwrite.
//
// A goroutine that finds nothing to do joins a line of sleepers, looks again, and
// only then sleeps. One that changes a slot stores its state, then reads the length
// of the line. Go's atomics are sequentially consistent, so one of the two sees the
// other: either the sleeper finds the slot, or the other side finds the sleeper.
// One change wakes one sleeper. Slots may become ready out of order, and then a
// sleeper is woken for a slot behind one that is not ready; so whoever takes the
// slot in front looks at the next one, and wakes for it.
package ring

import (
	"context"
	"errors"
	"iter"
	"math/bits"
	"runtime"
	"sync/atomic"
)

// Errors of calls that could not do their work.
var (
	// ErrClosed: the Ring was closed; from Take and TryTake also that nothing is left.
	ErrClosed = errors.New("ring: closed")
	// ErrFull comes from TryPut alone.
	ErrFull = errors.New("ring: full")
	// ErrEmpty comes from TryTake alone.
	ErrEmpty = errors.New("ring: empty")
)

// pad keeps neighbours off a cache line, and off the adjacent line, which the
// processor may fetch with it.
type pad [128]byte

// shut is the bit of Ring.tail that Close sets. It leaves 63 bits for tickets:
// centuries at a nanosecond each.
const shut = 1 << 63

// yields is how often a call that must wait lets others run before it sleeps. It
// pays where the other side is runnable; a core that spins on its own does not.
const yields = 4

// Ring is a bounded queue. Every method may be called from any goroutine. The zero
// value has no slots and panics: use New. A Ring must not be copied.
type Ring[T any] struct {
	_       pad
	tail    atomic.Uint64 // ticket of the next Put, and shut
	_       pad
	head    atomic.Uint64 // ticket of the next Take
	_       pad
	mask    uint64
	slots   []slot[T]
	_       pad
	takers  line // wait for an element
	putters line // wait for room
}

type slot[T any] struct {
	state atomic.Uint64 // 2t: free for ticket t; 2t+1: filled by ticket t
	value T
}

// New returns an empty Ring for at least capacity elements: the next power of two,
// see Cap. It panics if capacity is out of range or memory is lacking, as make does.
func New[T any](capacity int) *Ring[T] {
	if capacity < 1 || capacity > 1<<40 {
		panic("ring: capacity must be between 1 and 1<<40")
	}
	size := uint64(1) << bits.Len64(uint64(capacity)-1)
	r := &Ring[T]{mask: size - 1, slots: make([]slot[T], size)}
	for t := range r.slots {
		r.slots[t].state.Store(2 * uint64(t))
	}
	return r
}

// TryPut adds v without waiting. It returns ErrFull or ErrClosed, and then v is not
// in the queue.
func (r *Ring[T]) TryPut(v T) error {
	err := r.put(v)
	if r.putters.some() && err == nil {
		r.passRoom()
	}
	return err
}

// TryTake removes the oldest element without waiting. It returns ErrEmpty, or
// ErrClosed once the Ring is closed and nothing is left.
func (r *Ring[T]) TryTake() (T, error) {
	v, err := r.take()
	if r.takers.some() && err != ErrEmpty {
		r.passElements()
	}
	return v, err
}

// Put adds v, and waits for room until ctx is done. It returns ErrClosed or ctx's
// error, also if ctx was done before, and then v is not in the queue.
func (r *Ring[T]) Put(ctx context.Context, v T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := r.TryPut(v)
	if err == nil {
		return nil
	}
	return r.putPatiently(ctx, v, err)
}

func (r *Ring[T]) putPatiently(ctx context.Context, v T, err error) error {
	for i := 0; err == ErrFull && i < yields; i++ {
		runtime.Gosched()
		err = r.TryPut(v)
	}
	if err != ErrFull {
		return err
	}
	stopped := r.putters.sleep(ctx, func() bool { err = r.put(v); return err != ErrFull })
	r.passRoom()
	if stopped != nil {
		return stopped
	}
	return err
}

// Take removes the oldest element, and waits for one until ctx is done. It returns
// ErrClosed once the Ring is closed and nothing is left, or ctx's error, also if ctx
// was done before; then it has removed nothing.
func (r *Ring[T]) Take(ctx context.Context) (v T, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	v, err = r.TryTake()
	if err == nil {
		return v, nil
	}
	return r.takePatiently(ctx, v, err)
}

func (r *Ring[T]) takePatiently(ctx context.Context, v T, err error) (T, error) {
	for i := 0; err == ErrEmpty && i < yields; i++ {
		runtime.Gosched()
		v, err = r.TryTake()
	}
	if err != ErrEmpty {
		return v, err
	}
	stopped := r.takers.sleep(ctx, func() bool { v, err = r.take(); return err != ErrEmpty })
	r.passElements()
	if stopped != nil {
		return v, stopped
	}
	return v, err
}

// All yields elements as Take returns them, until the Ring is closed and empty or
// ctx is done. Several goroutines may range over the same Ring and share its elements.
func (r *Ring[T]) All(ctx context.Context) iter.Seq[T] {
	return func(yield func(T) bool) {
		for {
			v, err := r.Take(ctx)
			if err != nil || !yield(v) {
				return
			}
		}
	}
}

// Close ends Put: those that wait return ErrClosed. What is in the queue can still
// be taken. Closing again does nothing.
func (r *Ring[T]) Close() {
	if r.tail.Or(shut)&shut == 0 {
		r.putters.wake(all)
		r.takers.wake(all)
	}
}

// Len returns the number of elements a moment ago: those whose Put has begun and
// whose Take has not.
func (r *Ring[T]) Len() int {
	// Head first: it never overtakes a tail that is read after it.
	head := r.head.Load()
	return int(min(r.tail.Load()&^shut-head, r.mask+1))
}

// Cap returns the maximum number of elements.
func (r *Ring[T]) Cap() int { return int(r.mask + 1) }

func (r *Ring[T]) put(v T) error {
	for {
		t := r.tail.Load()
		if t&shut != 0 {
			return ErrClosed
		}
		s := &r.slots[t&r.mask]
		switch state := s.state.Load(); {
		case state == 2*t:
			if r.tail.CompareAndSwap(t, t+1) {
				s.value = v
				s.state.Store(2*t + 1)
				if r.takers.some() {
					r.takers.wake(1)
				}
				return nil
			}
		case state < 2*t:
			return ErrFull // the element of the previous lap is still there
		}
		// Another producer was faster: tail has moved.
	}
}

func (r *Ring[T]) take() (v T, err error) {
	for {
		t := r.head.Load()
		s := &r.slots[t&r.mask]
		switch state := s.state.Load(); {
		case state == 2*t+1:
			if r.head.CompareAndSwap(t, t+1) {
				v, s.value = s.value, v
				s.state.Store(2 * (t + r.mask + 1))
				if r.putters.some() {
					r.putters.wake(1)
				}
				return v, nil
			}
		case state < 2*t+1:
			// Shut with this ticket as the next: no producer will ever fill the slot.
			if r.tail.Load() == t|shut {
				return v, ErrClosed
			}
			return v, ErrEmpty
		}
	}
}

// passRoom wakes a putter if the next slot is free: the wake-up for it may have gone
// to one that found the previous slot still taken.
func (r *Ring[T]) passRoom() {
	if !r.putters.some() {
		return
	}
	t := r.tail.Load()
	if t&shut != 0 {
		r.putters.wake(all)
	} else if r.slots[t&r.mask].state.Load() == 2*t {
		r.putters.wake(1)
	}
}

// passElements wakes a taker if the next slot is filled, and all if none ever will be.
func (r *Ring[T]) passElements() {
	if !r.takers.some() {
		return
	}
	t := r.head.Load()
	if r.tail.Load() == t|shut {
		r.takers.wake(all)
	} else if r.slots[t&r.mask].state.Load() == 2*t+1 {
		r.takers.wake(1)
	}
}
