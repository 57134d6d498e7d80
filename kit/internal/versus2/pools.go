package main

import (
	"context"
	"sync"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
	"golang.org/x/sync/errgroup"

	"github.com/redline-go/redline/kit/workers"
)

// most bounds the workers of every way.
const most = 256

// pools measures handing over tasks that do nothing, and a burst of tasks that wait
// for 2 ms each. Starting and closing the pool is part of it.
func pools() []contest {
	nothing := func() {}
	wait := func() { time.Sleep(2 * time.Millisecond) }
	ways := func(task func()) []way {
		return []way{
			{"kit/workers", func(n int) { byWorkers(n, workers.Options{Max: most, Queue: 1024}, task) }},
			{"pond", func(n int) { byPond(n, task) }},
			{"ants", func(n int) { byAnts(n, task) }},
			{"errgroup, SetLimit", func(n int) { byGroup(n, task) }},
			{"channel, 2 goroutines", func(n int) { byFixed(n, 2, task) }},
			{"channel, 256 goroutines", func(n int) { byFixed(n, most, task) }},
		}
	}
	return []contest{
		{"workers, empty tasks", "task", 100_000, ways(nothing)},
		{"workers, tasks that wait 2 ms", "task", 1000, ways(wait)},
	}
}

func byWorkers(n int, o workers.Options, task func()) {
	p, err := workers.New(o)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for range n {
		_ = p.Submit(ctx, func(context.Context) { task() })
	}
	if err := p.Close(ctx); err != nil {
		panic(err)
	}
}

func byPond(n int, task func()) {
	p := pond.NewPool(most, pond.WithQueueSize(1024))
	for range n {
		_ = p.Go(task)
	}
	p.StopAndWait()
}

func byAnts(n int, task func()) {
	p, err := ants.NewPool(most)
	if err != nil {
		panic(err)
	}
	var all sync.WaitGroup
	all.Add(n)
	for range n {
		_ = p.Submit(func() { defer all.Done(); task() })
	}
	all.Wait()
	p.Release()
}

func byGroup(n int, task func()) {
	var g errgroup.Group
	g.SetLimit(most)
	for range n {
		g.Go(func() error { task(); return nil })
	}
	_ = g.Wait()
}

func byFixed(n, goroutines int, task func()) {
	c := make(chan func(), 1024)
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for f := range c {
				f()
			}
		})
	}
	for range n {
		c <- task
	}
	close(c)
	all.Wait()
}
