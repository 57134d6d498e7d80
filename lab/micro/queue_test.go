package micro_test

import (
	"context"
	"sync"
	"testing"

	"github.com/redline-go/redline/kit/ring"
	"github.com/redline-go/redline/kit/workers"
	"github.com/redline-go/redline/lab/micro"
)

const (
	queueCapacity = 1024
	producers     = 2
	consumers     = 2
)

// hand passes n numbers through a queue from two producers to two consumers and returns
// their sum.
type hand func(n int) (sum int64)

func byChannel(n int) int64 {
	queue := make(chan int64, queueCapacity)
	return pass(n, func(v int64) { queue <- v }, func() { close(queue) }, func(take func(int64)) {
		for v := range queue {
			take(v)
		}
	})
}

func byRing(n int) int64 {
	queue, ctx := ring.New[int64](queueCapacity), context.Background()
	return pass(n, func(v int64) { _ = queue.Put(ctx, v) }, queue.Close, func(take func(int64)) {
		for v := range queue.All(ctx) {
			take(v)
		}
	})
}

// by is how many numbers a batch holds.
const by = 32

func byBatches(n int) int64 {
	queue, ctx := ring.New[int64](queueCapacity), context.Background()
	pending := make([][]int64, producers)
	return passBy(n, func(p int, v int64, last bool) {
		if pending[p] = append(pending[p], v); last || len(pending[p]) == by {
			_, _ = queue.PutAll(ctx, pending[p])
			pending[p] = pending[p][:0]
		}
	}, queue.Close, func(take func(int64)) {
		into := make([]int64, by)
		for {
			n, err := queue.TakeSome(ctx, into)
			if err != nil {
				return
			}
			for _, v := range into[:n] {
				take(v)
			}
		}
	})
}

func pass(n int, put func(int64), done func(), each func(take func(int64))) int64 {
	return passBy(n, func(_ int, v int64, _ bool) { put(v) }, done, each)
}

// passBy is pass for a put that takes the number's producer as well, and whether it is that producer's last.
func passBy(
	n int, put func(producer int, v int64, last bool), done func(), each func(take func(int64)),
) int64 {
	var putting, taking sync.WaitGroup
	for p := range producers {
		putting.Go(func() {
			for i := p; i < n; i += producers {
				put(p, int64(i+1), i+producers >= n)
			}
		})
	}
	sums := make([]struct {
		n int64
		_ [120]byte
	}, consumers)
	for c := range consumers {
		taking.Go(func() { each(func(v int64) { sums[c].n += v }) })
	}
	putting.Wait()
	done()
	taking.Wait()
	total := int64(0)
	for _, s := range sums {
		total += s.n
	}
	return total
}

// BenchmarkRing passes numbers one by one: through a buffered channel, or kit's ring.
func BenchmarkRing(b *testing.B) {
	if got, want := micro.Of[hand](byChannel, byRing)(b.N), sumTo(b.N); got != want {
		b.Fatalf("the sum is %d, not %d", got, want)
	}
}

// BenchmarkRingBatch passes numbers one by one through a buffered channel, or by 32 through kit's
// ring.
func BenchmarkRingBatch(b *testing.B) {
	if got, want := micro.Of[hand](byChannel, byBatches)(b.N), sumTo(b.N); got != want {
		b.Fatalf("the sum is %d, not %d", got, want)
	}
}

func sumTo(n int) int64 { return int64(n) * int64(n+1) / 2 }

// TestQueuesPassAll: nothing is lost and nothing comes twice.
func TestQueuesPassAll(t *testing.T) {
	const n = 20_000
	for name, f := range map[string]hand{"channel": byChannel, "ring": byRing, "batches": byBatches} {
		for _, n := range []int{n, 1, 33} {
			if got := f(n); got != sumTo(n) {
				t.Errorf("%s of %d: the sum is %d, not %d", name, n, got, sumTo(n))
			}
		}
	}
}

// chore is what a task does: enough not to be optimised away.
func chore(i int64) int64 { return i*2654435761 ^ i>>3 }

// BenchmarkGoroutines runs small tasks: each on a goroutine of its own, or on kit's workers.
func BenchmarkGoroutines(b *testing.B) {
	run, end := micro.Of(onGoroutines, onWorkers)(b)
	for b.Loop() {
		run(256)
	}
	end()
}

type batchOfTasks func(n int) (sum int64)

func onGoroutines(testing.TB) (batchOfTasks, func()) {
	return func(n int) int64 {
		var done sync.WaitGroup
		results := make([]int64, n)
		for i := range n {
			done.Go(func() { results[i] = chore(int64(i)) })
		}
		done.Wait()
		return add(results)
	}, func() {}
}

func onWorkers(tb testing.TB) (batchOfTasks, func()) {
	pool, err := workers.New(workers.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	ctx := context.Background()
	return func(n int) int64 {
			var done sync.WaitGroup
			done.Add(n)
			results := make([]int64, n)
			for i := range n {
				if err := pool.Submit(ctx, func(context.Context) { results[i] = chore(int64(i)); done.Done() }); err != nil {
					tb.Error(err)
					done.Done()
				}
			}
			done.Wait()
			return add(results)
		}, func() {
			if err := pool.Close(ctx); err != nil {
				tb.Error(err)
			}
		}
}

func add(all []int64) (sum int64) {
	for _, v := range all {
		sum += v
	}
	return sum
}

func TestTasksAllRun(t *testing.T) {
	ways := map[string]func(testing.TB) (batchOfTasks, func()){"goroutines": onGoroutines, "workers": onWorkers}
	want := int64(0)
	for i := range int64(500) {
		want += chore(i)
	}
	for name, way := range ways {
		run, end := way(t)
		if got := run(500); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
		end()
	}
}
