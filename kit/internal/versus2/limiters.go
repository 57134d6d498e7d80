package main

import (
	"sync"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"golang.org/x/sync/semaphore"

	"github.com/redline-go/redline/kit/shed"
)

// limiters measures admission and release, by one goroutine and by four.
func limiters() []contest {
	l, err := shed.New(shed.Options{Initial: 200})
	if err != nil {
		panic(err)
	}
	s := semaphore.NewWeighted(200)
	f := adaptivelimiter.NewBuilder[any]().WithLimits(1, 1000, 200).Build()
	loops := []struct {
		name string
		once func()
	}{
		{"kit/shed", func() {
			if p, err := l.Acquire(); err == nil {
				p.Done()
			}
		}},
		{"x/sync/semaphore, fixed", func() {
			if s.TryAcquire(1) {
				s.Release(1)
			}
		}},
		{"failsafe-go adaptivelimiter", func() {
			if p, ok := f.TryAcquirePermit(); ok {
				p.Record()
			}
		}},
	}
	one, four := contest{"shed, one goroutine", "request", 100_000, nil}, contest{"shed, four goroutines", "request", 100_000, nil}
	for _, loop := range loops {
		one.ways = append(one.ways, way{loop.name, func(n int) {
			for range n {
				loop.once()
			}
		}})
		four.ways = append(four.ways, way{loop.name, func(n int) {
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range n / 4 {
						loop.once()
					}
				})
			}
			all.Wait()
		}})
	}
	return []contest{one, four}
}
