package micro_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redline-go/redline/kit/counter"
	"github.com/redline-go/redline/lab/micro"
)

// neighbours are counters in one cache line; apart have a line each. Intel's prefetcher
// takes lines in pairs, so that 128 bytes keep them apart.
type (
	neighbours struct{ n [8]atomic.Int64 }
	apart      struct {
		n [8]struct {
			atomic.Int64
			_ [120]byte
		}
	}
)

func (c *neighbours) at(i int) *atomic.Int64 { return &c.n[i] }
func (c *apart) at(i int) *atomic.Int64      { return &c.n[i].Int64 }

type slots interface{ at(i int) *atomic.Int64 }

// BenchmarkFalseSharing counts on each CPU in a counter of its own.
func BenchmarkFalseSharing(b *testing.B) {
	counters := micro.Of[slots](new(neighbours), new(apart))
	var workers atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		n := counters.at(int(workers.Add(1)-1) % 8)
		for pb.Next() {
			n.Add(1)
		}
	})
}

func TestFalseSharing(t *testing.T) {
	for _, counters := range []slots{new(neighbours), new(apart)} {
		for i := range 8 {
			counters.at(i).Add(int64(i + 1))
		}
		for i := range 8 {
			if got := counters.at(i).Load(); got != int64(i+1) {
				t.Errorf("%T: counter %d holds %d", counters, i, got)
			}
		}
	}
}

type total interface {
	Inc()
	Value() int64
}

type locked struct {
	mu sync.Mutex
	n  int64
}

func (c *locked) Inc() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

func (c *locked) Value() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

type single struct{ n atomic.Int64 }

func (c *single) Inc()         { c.n.Add(1) }
func (c *single) Value() int64 { return c.n.Load() }

// BenchmarkAtomic counts in one counter from all CPUs: under a mutex, or atomically.
func BenchmarkAtomic(b *testing.B) { countFromAll(b, micro.Of[total](new(locked), new(single))) }

// BenchmarkSharded counts in one atomic word, or in one per CPU that is added up when it
// is read.
func BenchmarkSharded(b *testing.B) {
	countFromAll(b, micro.Of[total](new(single), counter.New(runtime.GOMAXPROCS(0))))
}

func countFromAll(b *testing.B, c total) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Inc()
		}
	})
	if got := c.Value(); got < int64(b.N) {
		b.Fatalf("%d of %d were counted", got, b.N)
	}
}

// TestCountersLoseNothing counts from many goroutines.
func TestCountersLoseNothing(t *testing.T) {
	const goroutines, each = 8, 5000
	for _, c := range []total{new(locked), new(single), counter.New(4)} {
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for range each {
					c.Inc()
				}
			})
		}
		all.Wait()
		if got := c.Value(); got != goroutines*each {
			t.Errorf("%T counted %d of %d", c, got, goroutines*each)
		}
	}
}
