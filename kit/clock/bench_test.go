package clock_test

import (
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
