package ring

import (
	"context"
	"testing"
	"testing/synctest"
)

// Values returns what lies in the slots, for tests.
func (r *Ring[T]) Values() []T {
	values := make([]T, len(r.slots))
	for i := range r.slots {
		values[i] = r.slots[i].value
	}
	return values
}

// TestSlotsFilledOutOfOrder stops a producer between its ticket and its store while
// another completes, and two takers sleep: both wake-ups come to takers that find
// the first slot empty or only one element to take.
func TestSlotsFilledOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r := New[int](4)
		taken := make(chan int, 2)
		for range 2 {
			go func() {
				if v, err := r.Take(ctx); err == nil {
					taken <- v
				}
			}()
		}
		synctest.Wait()
		stalled := r.tail.Add(1) - 1
		if err := r.TryPut(2); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := r.TryTake(); err != ErrEmpty || r.Len() != 2 {
			t.Errorf("behind a stalled producer: %v, Len %d", err, r.Len())
		}
		r.slots[stalled].value = 1
		r.slots[stalled].state.Store(2*stalled + 1)
		r.takers.wake(1)
		synctest.Wait()
		if len(taken) != 2 {
			t.Errorf("%d of 2 takers were woken", len(taken))
		}
	})
}

// TestSlotsFreedOutOfOrder is the same for those who wait for room.
func TestSlotsFreedOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r := New[int](2)
		_, _ = r.PutAll(ctx, []int{1, 2})
		put := make(chan int, 2)
		for v := range 2 {
			go func() {
				if err := r.Put(ctx, v); err == nil {
					put <- v
				}
			}()
		}
		synctest.Wait()
		stalled := r.head.Add(1) - 1
		if v, err := r.TryTake(); v != 2 || err != nil {
			t.Fatal(v, err)
		}
		synctest.Wait()
		r.slots[stalled].state.Store(2 * (stalled + 2))
		r.putters.wake(1)
		synctest.Wait()
		if len(put) != 2 {
			t.Errorf("%d of 2 putters were woken", len(put))
		}
	})
}

// TestCloseWhileAProducerIsBetween: takers wait for the element of a producer that
// got its ticket before Close, and all end after it.
func TestCloseWhileAProducerIsBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r := New[int](4)
		stalled := r.tail.Add(1) - 1
		ends := make(chan error, 3)
		for range cap(ends) {
			go func() { _, err := r.Take(ctx); ends <- err }()
		}
		synctest.Wait()
		r.Close()
		synctest.Wait()
		if len(ends) != 0 {
			t.Fatalf("%d takers ended before the last element", len(ends))
		}
		if _, err := r.TryTake(); err != ErrEmpty {
			t.Errorf("TryTake: %v", err)
		}
		r.slots[stalled].state.Store(2*stalled + 1)
		r.takers.wake(1)
		synctest.Wait()
		if len(ends) != 3 {
			t.Fatalf("%d of 3 takers ended", len(ends))
		}
		served := 0
		for range 3 {
			if err := <-ends; err == nil {
				served++
			} else if err != ErrClosed {
				t.Error(err)
			}
		}
		if served != 1 {
			t.Errorf("%d takers got the one element", served)
		}
	})
}

// TestCancelledSleeperPassesOn: a taker is woken and cancelled at once; the element
// it was woken for belongs to the other.
func TestCancelledSleeperPassesOn(t *testing.T) {
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			r := New[int](4)
			first, drop := context.WithCancel(ctx)
			taken := make(chan int, 2)
			for _, ctx := range []context.Context{first, ctx} {
				go func() {
					if v, err := r.Take(ctx); err == nil {
						taken <- v
					}
				}()
				synctest.Wait()
			}
			go drop()
			_ = r.TryPut(1)
			synctest.Wait()
			if len(taken) != 1 {
				t.Fatal("an element is there, and a taker sleeps")
			}
		})
	}
}

// TestTicketsOfManyLaps starts far on, where the sums no longer fit 32 bits.
func TestTicketsOfManyLaps(t *testing.T) {
	r := New[int](2)
	const lap = 1 << 60
	r.tail.Store(lap)
	r.head.Store(lap)
	for i := range r.slots {
		r.slots[i].state.Store(2 * (lap + uint64(i)))
	}
	for v := range 10 {
		if err := r.TryPut(v); err != nil {
			t.Fatal(err)
		}
		if got, err := r.TryTake(); got != v || err != nil {
			t.Fatal(got, err)
		}
	}
}
