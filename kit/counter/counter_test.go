package counter

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// Nothing is lost or counted twice, whoever adds, and however the sum is read.
func TestConcurrentSum(t *testing.T) {
	const adders, each = 16, 20_000
	for name, c := range map[string]*Counter{"zero value": {}, "one shard": New(1), "usual": New(0)} {
		var wg sync.WaitGroup
		start := make(chan struct{})
		for range adders {
			wg.Go(func() {
				<-start
				for range each {
					c.Inc()
					c.Add(3)
					c.Add(-2)
				}
			})
		}
		close(start)
		wg.Wait()
		if got := c.Value(); got != 2*adders*each {
			t.Errorf("%s: %d, want %d", name, got, 2*adders*each)
		}
	}
}

// Each addition is in exactly one Take.
func TestTakeBesideAdd(t *testing.T) {
	const adders, each = 4, 50_000
	c := New(0)
	var adding, taking sync.WaitGroup
	var done atomic.Bool
	var taken int64
	taking.Go(func() {
		for !done.Load() {
			if n := c.Take(); n < 0 {
				t.Errorf("took %d of a counter that only grows", n)
				return
			} else {
				taken += n
			}
			runtime.Gosched()
		}
	})
	for range adders {
		adding.Go(func() {
			for range each {
				c.Inc()
			}
		})
	}
	adding.Wait()
	done.Store(true)
	taking.Wait()
	if got := taken + c.Take(); got != adders*each {
		t.Errorf("took %d in all, want %d", got, adders*each)
	}
	if c.Value() != 0 || c.Take() != 0 {
		t.Error("a counter that was emptied is not 0")
	}
}

// A sum of a counter that only grows never shrinks.
func TestValueGrows(t *testing.T) {
	c := New(64)
	var adding sync.WaitGroup
	var done atomic.Bool
	for range 4 {
		adding.Go(func() {
			for !done.Load() {
				c.Inc()
			}
		})
	}
	last := int64(0)
	for range 2_000 {
		now := c.Value()
		if now < last {
			t.Errorf("%d after %d", now, last)
			break
		}
		last = now
	}
	done.Store(true)
	adding.Wait()
}

// The sum wraps as an int64 does, even when shards overflow and the sum does not.
func TestOverflow(t *testing.T) {
	c := New(8)
	c.Add(math.MaxInt64)
	c.Add(1)
	if got := c.Value(); got != math.MinInt64 {
		t.Errorf("%d, want %d", got, int64(math.MinInt64))
	}
	c.Add(-1)
	if got := c.Value(); got != math.MaxInt64 {
		t.Errorf("%d, want %d", got, int64(math.MaxInt64))
	}
	var apart sync.WaitGroup // from another goroutine, mostly into another shard
	apart.Go(func() { c.Add(math.MinInt64) })
	apart.Wait()
	if got := c.Take(); got != -1 {
		t.Errorf("%d, want -1", got)
	}
}

func TestShardCounts(t *testing.T) {
	usual := New(0).Shards()
	if usual < 4*runtime.GOMAXPROCS(0) || usual&(usual-1) != 0 {
		t.Errorf("%d shards by default", usual)
	}
	for asked, want := range map[int]int{
		math.MinInt: usual, -1: usual, 0: usual, 1: 1, 2: 2, 3: 4, 5: 8, 1000: 1024, MaxShards: MaxShards,
		MaxShards + 1: MaxShards, math.MaxInt: MaxShards,
	} {
		c := New(asked)
		if got := c.Shards(); got != want {
			t.Errorf("asked for %d shards: %d, want %d", asked, got, want)
		}
		c.Add(7)
		if c.Value() != 7 {
			t.Errorf("%d shards: sum %d, want 7", asked, c.Value())
		}
	}
}

func TestZeroValue(t *testing.T) {
	var c Counter
	if c.Value() != 0 || c.Take() != 0 || c.Shards() != 0 {
		t.Error("the zero value is not empty")
	}
	c.Inc()
	if c.Value() != 1 || c.Shards() != New(0).Shards() {
		t.Errorf("sum %d in %d shards after the first addition", c.Value(), c.Shards())
	}
}

// Goroutines that live at once spread over the shards: were they all on one, the
// counter would be an atomic with a longer way to it.
func TestGoroutinesSpread(t *testing.T) {
	const goroutines = 256
	c := New(8)
	var all, added sync.WaitGroup
	all.Add(1)
	added.Add(goroutines)
	for range goroutines {
		go func() {
			c.Inc()
			added.Done()
			all.Wait() // lives on, so that no other goroutine gets its stack
		}()
	}
	added.Wait()
	defer all.Done()
	for i := range *c.shards.Load() {
		// 32 each is even. None at all has a chance of 1e-15 if the hash spreads.
		if n := (*c.shards.Load())[i].n.Load(); n == 0 || n > goroutines/2 {
			t.Errorf("shard %d has %d of %d additions", i, n, goroutines)
		}
	}
}

// Additions of one goroutine go to few shards, so that their lines stay with the core:
// one, unless the runtime moves the stack meanwhile, which it does a few times at most.
func TestGoroutineStays(t *testing.T) {
	c := New(64)
	for range 1000 {
		c.Inc()
	}
	used := 0
	for i := range *c.shards.Load() {
		if (*c.shards.Load())[i].n.Load() != 0 {
			used++
		}
	}
	if used > 8 {
		t.Errorf("1000 additions of one goroutine are in %d of 64 shards", used)
	}
}

func TestAdditionAllocatesNothing(t *testing.T) {
	c := New(0)
	if n := testing.AllocsPerRun(100, func() { c.Inc(); c.Value() }); n != 0 {
		t.Errorf("%v allocations per addition", n)
	}
}

// Two neighbours never share a cache line, nor a pair of them.
func TestPadding(t *testing.T) {
	if size := unsafe.Sizeof(shard{}); size != line {
		t.Errorf("a shard has %d bytes, want %d", size, line)
	}
	var row [2]Padded
	apart := uintptr(unsafe.Pointer(&row[1].Int64)) - uintptr(unsafe.Pointer(&row[0].Int64))
	if apart < line {
		t.Errorf("neighbours are %d bytes apart, want %d", apart, line)
	}
	beside := struct {
		before byte
		n      Padded
		after  byte
	}{}
	at := uintptr(unsafe.Pointer(&beside.n.Int64))
	if at-uintptr(unsafe.Pointer(&beside.before)) < line-8 || uintptr(unsafe.Pointer(&beside.after))-at < line {
		t.Error("the fields beside a Padded share its line")
	}
	row[1].Add(5)
	if row[0].Load() != 0 || row[1].Load() != 5 {
		t.Error("a Padded is not an atomic integer")
	}
}
