package clock_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/clock"
)

// mutexed is a cached time as it is often written: under a read lock.
type mutexed struct {
	mu  sync.RWMutex
	now time.Time
}

func (m *mutexed) Now() time.Time {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.now
}

var sink time.Time

// BenchmarkNow reads on one goroutine, and on every P at once.
func BenchmarkNow(b *testing.B) {
	coarse := clock.Start(0)
	defer coarse.Stop()
	var stopped clock.Clock
	cached := &mutexed{now: time.Now()}
	b.Run("from=one/clock=coarse", func(b *testing.B) {
		for b.Loop() {
			sink = coarse.Now()
		}
	})
	b.Run("from=one/clock=time.Now", func(b *testing.B) {
		for b.Loop() {
			sink = time.Now()
		}
	})
	b.Run("from=one/clock=stopped", func(b *testing.B) {
		for b.Loop() {
			sink = stopped.Now()
		}
	})
	b.Run("from=one/clock=mutex", func(b *testing.B) {
		for b.Loop() {
			sink = cached.Now()
		}
	})
	for name, now := range map[string]func(*testing.PB) time.Time{
		"coarse": func(pb *testing.PB) (t time.Time) {
			for pb.Next() {
				t = coarse.Now()
			}
			return t
		},
		"time.Now": func(pb *testing.PB) (t time.Time) {
			for pb.Next() {
				t = time.Now()
			}
			return t
		},
		"mutex": func(pb *testing.PB) (t time.Time) {
			for pb.Next() {
				t = cached.Now()
			}
			return t
		},
	} {
		b.Run("from=all/clock="+name, func(b *testing.B) { b.RunParallel(func(pb *testing.PB) { now(pb) }) })
	}
}

// BenchmarkAge lets a clock of 1 ms tick beside as many spinning goroutines as the name says, and reports how old its
// readings are. One operation is one reading.
func BenchmarkAge(b *testing.B) {
	for _, spinning := range []int{0, 4} {
		b.Run(fmt.Sprintf("spinning=%d", spinning), func(b *testing.B) {
			c := clock.Start(0)
			defer c.Stop()
			done := make(chan struct{})
			var spin sync.WaitGroup
			defer spin.Wait()
			defer close(done)
			for range spinning {
				spin.Go(func() {
					for n := 0; ; n++ {
						if n&0xfffff == 0 {
							select {
							case <-done:
								return
							default:
							}
						}
					}
				})
			}
			var ages []time.Duration
			for b.Loop() {
				time.Sleep(300 * time.Microsecond)
				reading := c.Now() // first: the real clock is read after it
				ages = append(ages, time.Since(reading))
			}
			slices.Sort(ages)
			for name, age := range map[string]time.Duration{
				"p50-us": ages[len(ages)/2], "p99-us": ages[len(ages)*99/100], "max-us": ages[len(ages)-1], "widest-us": c.Stats().Widest,
			} {
				b.ReportMetric(float64(age.Microseconds()), name)
			}
		})
	}
}
