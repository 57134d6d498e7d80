package ring_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/kit/ring"
)

// patience ends a test that hangs. No passing test comes near it.
const patience = time.Minute

// element says who put it, and as which.
type element struct{ producer, nth int }

// producer puts elements by every call there is, half of its waiting calls cut
// short, and remembers those that were accepted.
func producer(r *ring.Ring[element], id, n int) (accepted []element) {
	random := rand.New(rand.NewPCG(1, uint64(id)))
	for nth := 0; nth < n; {
		ctx, cancel := impatient(random)
		var batch []element
		var err error
		switch random.IntN(3) {
		case 0:
			batch = []element{{id, nth}}
			if err = r.TryPut(batch[0]); err != nil {
				batch = nil
			}
			nth++
		case 1:
			batch = []element{{id, nth}}
			if err = r.Put(ctx, batch[0]); err != nil {
				batch = nil
			}
			nth++
		case 2:
			for range 1 + random.IntN(7) {
				batch = append(batch, element{id, nth})
				nth++
			}
			var k int
			k, err = r.PutAll(ctx, batch)
			batch = batch[:k]
		}
		cancel()
		accepted = append(accepted, batch...)
		if err == ring.ErrClosed {
			break
		}
	}
	return accepted
}

// consumer takes by every call there is until the Ring is closed and empty.
func consumer(r *ring.Ring[element], id int) (taken []element) {
	random := rand.New(rand.NewPCG(2, uint64(id)))
	into := make([]element, 5)
	for {
		ctx, cancel := impatient(random)
		var n int
		var err error
		switch random.IntN(3) {
		case 0:
			into[0], err = r.TryTake()
			n = 1
		case 1:
			into[0], err = r.Take(ctx)
			n = 1
		case 2:
			n, err = r.TakeSome(ctx, into)
		}
		cancel()
		if err == nil {
			taken = append(taken, into[:n]...)
		}
		if err == ring.ErrClosed {
			return taken
		}
	}
}

// impatient is a context that half of the time ends soon, often in mid-wait.
func impatient(random *rand.Rand) (context.Context, context.CancelFunc) {
	if random.IntN(2) == 0 {
		return context.WithTimeout(context.Background(), patience)
	}
	return context.WithTimeout(context.Background(), time.Duration(random.IntN(30))*time.Microsecond)
}

func TestNothingIsLostDoubledOrReordered(t *testing.T) {
	const producers, consumers, each = 4, 4, 1500
	for _, capacity := range []int{1, 2, 8, 256} {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprintf("capacity %d/closed early %v", capacity, early), func(t *testing.T) {
				r := ring.New[element](capacity)
				var putting, taking sync.WaitGroup
				var accepted [producers][]element
				var taken [consumers][]element
				for p := range producers {
					putting.Go(func() { accepted[p] = producer(r, p, each) })
				}
				for c := range consumers {
					taking.Go(func() { taken[c] = consumer(r, c) })
				}
				if !early {
					putting.Wait()
				}
				r.Close()
				putting.Wait()
				taking.Wait()
				check(t, slices.Concat(accepted[:]...), taken[:])
			})
		}
	}
}

// check compares what was accepted with what consumers took: the same elements,
// each once, and for each consumer those of one producer in their order.
func check(t *testing.T, accepted []element, taken [][]element) {
	t.Helper()
	missing := map[element]bool{}
	for _, e := range accepted {
		missing[e] = true
	}
	for c, elements := range taken {
		last := map[int]int{}
		for _, e := range elements {
			if !missing[e] {
				t.Errorf("consumer %d took %v, which was not there: doubled, or never accepted", c, e)
			}
			delete(missing, e)
			if before, seen := last[e.producer]; seen && before >= e.nth {
				t.Errorf("consumer %d took element %d of producer %d after %d", c, e.nth, e.producer, before)
			}
			last[e.producer] = e.nth
		}
	}
	if len(missing) > 0 {
		t.Errorf("%d of %d accepted elements were lost", len(missing), len(accepted))
	}
}

// TestOneConsumerSeesProducersInOrder adds the case in which order is total.
func TestOneConsumerSeesProducersInOrder(t *testing.T) {
	r := ring.New[element](4)
	var putting sync.WaitGroup
	var accepted [3][]element
	for p := range accepted {
		putting.Go(func() { accepted[p] = producer(r, p, 2000) })
	}
	go func() { putting.Wait(); r.Close() }()
	taken := consumer(r, 0)
	check(t, slices.Concat(accepted[:]...), [][]element{taken})
}

// TestEveryWaiterIsServed has more takers asleep than the queue holds, and as many
// elements: a wake-up that gets lost leaves one asleep.
func TestEveryWaiterIsServed(t *testing.T) {
	for round := range 200 {
		r := ring.New[int](2)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		var all sync.WaitGroup
		var sum atomic.Int64
		for range 8 {
			all.Go(func() {
				v, err := r.Take(ctx)
				if err != nil {
					t.Errorf("round %d: Take: %v", round, err)
				}
				sum.Add(int64(v))
			})
			all.Go(func() {
				if err := r.Put(ctx, 1); err != nil {
					t.Errorf("round %d: Put: %v", round, err)
				}
			})
		}
		all.Wait()
		cancel()
		if sum.Load() != 8 || r.Len() != 0 {
			t.Fatalf("round %d: took %d of 8, %d left", round, sum.Load(), r.Len())
		}
	}
}

func TestCapacityIsABound(t *testing.T) {
	for _, c := range []struct{ asked, got int }{{1, 1}, {2, 2}, {3, 4}, {1000, 1024}} {
		r := ring.New[int](c.asked)
		n := 0
		for r.TryPut(n) == nil {
			n++
		}
		if n != c.got || r.Cap() != c.got || r.Len() != c.got {
			t.Errorf("New(%d) holds %d, Cap %d, Len %d: want %d", c.asked, n, r.Cap(), r.Len(), c.got)
		}
		for want := range n {
			if v, err := r.TryTake(); v != want || err != nil {
				t.Errorf("New(%d): took %d, %v, want %d", c.asked, v, err, want)
			}
		}
		if _, err := r.TryTake(); err != ring.ErrEmpty {
			t.Errorf("empty: %v", err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, capacity := range []int{0, -1, 1<<40 + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("New(%d) did not panic", capacity)
				}
			}()
			ring.New[int](capacity)
		}()
	}
}

func TestCloseIsLikeAChannels(t *testing.T) {
	ctx := context.Background()
	r := ring.New[int](4)
	if n, err := r.PutAll(ctx, []int{1, 2, 3}); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	r.Close()
	r.Close() // does nothing
	if err := r.Put(ctx, 4); err != ring.ErrClosed {
		t.Errorf("Put after Close: %v", err)
	}
	if err := r.TryPut(4); err != ring.ErrClosed {
		t.Errorf("TryPut after Close: %v", err)
	}
	if n, err := r.PutAll(ctx, []int{4}); n != 0 || err != ring.ErrClosed {
		t.Errorf("PutAll after Close: %d, %v", n, err)
	}
	if got := slices.Collect(r.All(ctx)); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("left after Close: %v", got)
	}
	if _, err := r.Take(ctx); err != ring.ErrClosed {
		t.Errorf("Take when drained: %v", err)
	}
	if n, err := r.TakeSome(ctx, make([]int, 2)); n != 0 || err != ring.ErrClosed {
		t.Errorf("TakeSome when drained: %d, %v", n, err)
	}
}

func TestCloseWakesAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		full, empty := ring.New[int](1), ring.New[int](1)
		_ = full.TryPut(7)
		var errs [6]error
		for i := range 3 {
			go func() { errs[i] = full.Put(ctx, i) }()
			go func() { _, errs[3+i] = empty.Take(ctx) }()
		}
		synctest.Wait()
		full.Close()
		empty.Close()
		synctest.Wait()
		for i, err := range errs {
			if err != ring.ErrClosed {
				t.Errorf("waiter %d: %v", i, err)
			}
		}
		if v, err := full.TryTake(); v != 7 || err != nil {
			t.Errorf("what was in the closed queue: %d, %v", v, err)
		}
	})
}

func TestContextEndsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r := ring.New[int](2)
		if _, err := r.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Take: %v", err)
		}
		// Done before: nothing changes, though there is room and an element.
		_ = r.TryPut(1)
		if err := r.Put(ctx, 2); !errors.Is(err, context.DeadlineExceeded) || r.Len() != 1 {
			t.Errorf("Put: %v, Len %d", err, r.Len())
		}
		if _, err := r.Take(ctx); !errors.Is(err, context.DeadlineExceeded) || r.Len() != 1 {
			t.Errorf("Take: %v, Len %d", err, r.Len())
		}
		short, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if n, err := r.PutAll(short, []int{2, 3}); n != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("PutAll: %d, %v", n, err)
		}
	})
}

// TestTakenElementsAreLetGo: the Ring must not keep alive what was taken from it.
func TestTakenElementsAreLetGo(t *testing.T) {
	r := ring.New[*int](4)
	ctx := context.Background()
	_, _ = r.PutAll(ctx, []*int{new(int), new(int), new(int)})
	_, _ = r.TryTake()
	_, _ = r.TakeSome(ctx, make([]*int, 2))
	for i, v := range r.Values() {
		if v != nil {
			t.Errorf("slot %d still points to its element", i)
		}
	}
}

// TestABatchWakes: takers that sleep are woken for every element of a batch, and
// putters for every slot that a batch frees.
func TestABatchWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r := ring.New[int](4)
		var taken, put atomic.Int32
		for range 3 {
			go func() {
				if _, err := r.Take(ctx); err == nil {
					taken.Add(1)
				}
			}()
		}
		synctest.Wait()
		_, _ = r.PutAll(ctx, []int{1, 2, 3})
		synctest.Wait()
		_, _ = r.PutAll(ctx, []int{1, 2, 3, 4})
		for range 3 {
			go func() {
				if r.Put(ctx, 5) == nil {
					put.Add(1)
				}
			}()
		}
		synctest.Wait()
		_, _ = r.TakeSome(ctx, make([]int, 3))
		synctest.Wait()
		if taken.Load() != 3 || put.Load() != 3 {
			t.Errorf("woken: %d of 3 takers, %d of 3 putters", taken.Load(), put.Load())
		}
	})
}
