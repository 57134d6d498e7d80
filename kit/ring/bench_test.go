package ring_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redline-go/redline/kit/ring"
)

// pass moves n values from producers to consumers and returns when all have arrived.
func pass(n, producers, consumers int, put func(int), take func() bool, close func()) {
	var putting, taking sync.WaitGroup
	for p := range producers {
		putting.Go(func() {
			for i := p; i < n; i += producers {
				put(i)
			}
		})
	}
	for range consumers {
		taking.Go(func() {
			for take() {
			}
		})
	}
	putting.Wait()
	close()
	taking.Wait()
}

func BenchmarkPass(b *testing.B) {
	for _, n := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("%dx%d/ring", n, n), func(b *testing.B) {
			r := ring.New[int](1024)
			ctx := context.Background()
			b.ReportAllocs()
			pass(b.N, n, n, func(v int) { _ = r.Put(ctx, v) },
				func() bool { _, err := r.Take(ctx); return err == nil }, r.Close)
		})
		b.Run(fmt.Sprintf("%dx%d/channel", n, n), func(b *testing.B) {
			c := make(chan int, 1024)
			b.ReportAllocs()
			pass(b.N, n, n, func(v int) { c <- v }, func() bool { _, ok := <-c; return ok }, func() { close(c) })
		})
	}
}

func BenchmarkUncontended(b *testing.B) {
	b.Run("ring", func(b *testing.B) {
		r := ring.New[int](1024)
		ctx := context.Background()
		for i := range b.N {
			_ = r.Put(ctx, i)
			_, _ = r.Take(ctx)
		}
	})
	b.Run("channel", func(b *testing.B) {
		c := make(chan int, 1024)
		for i := range b.N {
			c <- i
			<-c
		}
	})
}

// BenchmarkFloor is what no queue of this kind can do without: a value costs a claim by
// compare-and-swap and a publishing store at either end, here on lines that nobody else wants.
func BenchmarkFloor(b *testing.B) {
	var lines [4]struct {
		n atomic.Uint64
		_ [120]byte
	}
	for i := range uint64(b.N) {
		lines[0].n.CompareAndSwap(i, i+1)
		lines[1].n.Store(i)
		lines[2].n.CompareAndSwap(i, i+1)
		lines[3].n.Store(i)
	}
}
