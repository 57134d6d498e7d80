package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/redline-go/redline/kit/ring"
)

const (
	room  = 1024
	batch = 32
)

// pass moves n values from producers to consumers and returns when all have arrived.
func pass(n, each int, produce func(first, step, n int), consume func(), end func()) {
	var putting, taking sync.WaitGroup
	for p := range each {
		putting.Go(func() { produce(p, each, n) })
	}
	for range each {
		taking.Go(consume)
	}
	putting.Wait()
	end()
	taking.Wait()
}

func rings() []contest {
	var all []contest
	for _, each := range []int{1, 2, 4} {
		channel := way{"channel", func(n int) { byChannel(n, each) }}
		all = append(all, contest{fmt.Sprintf("ring %dx%d", each, each), "value", 400_000, []way{
			{"kit/ring Put, Take", func(n int) { byOne(n, each) }},
			channel,
			{"xsync.MPMCQueue, Gosched", func(n int) { byXsync(n, each) }},
		}}, contest{fmt.Sprintf("ring %dx%d by 32", each, each), "value", 400_000, []way{
			{"kit/ring PutAll, TakeSome", func(n int) { byBatch(n, each) }},
			channel,
			{"channel of slices", func(n int) { bySlices(n, each) }},
		}})
	}
	return append(all, contest{"ring, nobody else", "put and take", 1_000_000, []way{
		{"kit/ring", func(n int) {
			r, ctx := ring.New[int](room), context.Background()
			for i := range n {
				_ = r.Put(ctx, i)
				_, _ = r.Take(ctx)
			}
		}},
		{"channel", func(n int) {
			c := make(chan int, room)
			for i := range n {
				c <- i
				<-c
			}
		}},
		{"xsync.MPMCQueue", func(n int) {
			q := xsync.NewMPMCQueue[int](room)
			for i := range n {
				q.TryEnqueue(i)
				q.TryDequeue()
			}
		}},
	}})
}

func byOne(n, each int) {
	r, ctx := ring.New[int](room), context.Background()
	pass(n, each, func(first, step, n int) {
		for i := first; i < n; i += step {
			_ = r.Put(ctx, i)
		}
	}, func() {
		for {
			if _, err := r.Take(ctx); err != nil {
				return
			}
		}
	}, r.Close)
}

func byBatch(n, each int) {
	r, ctx := ring.New[int](room), context.Background()
	pass(n, each, func(first, step, n int) {
		values := make([]int, 0, batch)
		for i := first; i < n; i += step {
			if values = append(values, i); len(values) == batch {
				_, _ = r.PutAll(ctx, values)
				values = values[:0]
			}
		}
		_, _ = r.PutAll(ctx, values)
	}, func() {
		into := make([]int, batch)
		for {
			if _, err := r.TakeSome(ctx, into); err != nil {
				return
			}
		}
	}, r.Close)
}

func byChannel(n, each int) {
	c := make(chan int, room)
	pass(n, each, func(first, step, n int) {
		for i := first; i < n; i += step {
			c <- i
		}
	}, func() {
		for range c {
		}
	}, func() { close(c) })
}

func bySlices(n, each int) {
	c := make(chan []int, room/batch)
	pass(n, each, func(first, step, n int) {
		values := make([]int, 0, batch)
		for i := first; i < n; i += step {
			if values = append(values, i); len(values) == batch {
				c <- values
				values = make([]int, 0, batch)
			}
		}
		c <- values
	}, func() {
		for range c {
		}
	}, func() { close(c) })
}

// byXsync waits as that queue's documentation suggests: by trying again.
func byXsync(n, each int) {
	q := xsync.NewMPMCQueue[int](room)
	var ended atomic.Bool
	pass(n, each, func(first, step, n int) {
		for i := first; i < n; i += step {
			for !q.TryEnqueue(i) {
				runtime.Gosched()
			}
		}
	}, func() {
		for {
			if _, ok := q.TryDequeue(); !ok {
				if ended.Load() {
					return
				}
				runtime.Gosched()
			}
		}
	}, func() { ended.Store(true) })
}
