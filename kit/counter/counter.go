// Package counter counts without making cores wait for each other: a counter in shards, each on its own cache
// lines.
//
// # When not to use it
//
// Not where one atomic.Int64 is not contended: that is 8 bytes and reads in one load, where a Counter has 128 bytes
// per shard and Value reads them all. Not where Value is called as often as Add, as in a limiter: there the
// sum costs more than the contention. Not where each goroutine already has its own place, such as a worker
// with an index: a [Padded] per worker is cheaper and simpler. And not before a profile shows an atomic
// instruction among the hottest: two cores that add to one counter some 10,000 times per second never meet.
//
// # How a shard is chosen
//
// By the address of the calling goroutine's stack, which differs between goroutines that run at once, hashed. So
// goroutines that add at the same time mostly add to different shards; two that share one lose only time,
// because each shard is atomic. No P is looked up: a goroutine that moves between cores keeps its shard, and
// pays for moving one cache line.
//
// Tried and rejected:
//
//   - The P's number from runtime.procPin by linkname: exact, and one runtime release from not linking.
//   - A token from sync.Pool that names the shard, which is per P by the pool's own design (xsync.Counter does so): no collisions,
//     but Get and Put cost more than the addition.
//   - A random shard per addition, by math/rand/v2: the shard's line was last written by another core about every other time, so that it
//     still moves.
//   - Plain, not atomic, shards: needs the P pinned, which only the runtime can do.
//
// docs/kit/counter.md has their figures.
package counter

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// line is the span that two cores may contend for: cache lines of 64 bytes, which x86 fetches in pairs, and of 128
// bytes on Apple's and some server ARM cores.
const line = 128

// MaxShards bounds a Counter's memory, to 128 KiB. More shards than goroutines that run at once gain nothing.
const MaxShards = 1024

// Padded is an atomic integer with cache lines of its own, for counters that lie side by side in an array or a struct
// and that different cores write: without the padding each addition takes the line from the other core. The
// zero value is 0 and ready for use; it must not be copied after first use. In an array, an element's padding
// keeps its neighbours off; a Padded at the beginning of a struct or of an array shares no line with what
// lies before it if that is at least 64 bytes away, which the padding on both sides ensures.
type Padded struct {
	_ [line - 8]byte
	atomic.Int64
	_ [line - 8]byte
}

// shard is Padded without the padding before: its neighbours are shards.
type shard struct {
	n atomic.Int64
	_ [line - 8]byte
}

// Counter is an integer that many goroutines add to and few read. The zero value is 0 and ready for use: its first Add
// makes four shards for each P. All methods may be called by any number of goroutines. A Counter must not be copied
// after first use.
type Counter struct {
	shards atomic.Pointer[[]shard] // its length a power of two; nil before the first Add
}

// New returns a Counter with at least so many shards: a power of two, at most MaxShards. Zero and below mean four for
// each P, as in the zero value: with hashing, two of two goroutines then meet in one of eight cases.
func New(shards int) *Counter {
	c := &Counter{}
	c.shards.Store(lay(shards))
	return c
}

func lay(shards int) *[]shard {
	if shards <= 0 {
		shards = 4 * runtime.GOMAXPROCS(0)
	}
	shards = min(shards, MaxShards)
	made := make([]shard, 1<<bits.Len(uint(shards-1)))
	return &made
}

// Add adds delta, which may be negative. The sum wraps around as an int64 does.
func (c *Counter) Add(delta int64) {
	shards := c.shards.Load()
	if shards == nil {
		shards = c.first()
	}
	// The address is only hashed, never followed. Goroutines' stacks are at least 2 KiB apart, and frames of one
	// goroutine mostly within one such block: below that, bits say how deep the call is.
	var here byte
	hash := uint64(uintptr(unsafe.Pointer(&here))) >> 11 * 0x9E3779B97F4A7C15 // Knuth, TAOCP 6.4: multiplication by 2^64/phi
	(*shards)[hash>>32&uint64(len(*shards)-1)].n.Add(delta)
}

//go:noinline
func (c *Counter) first() *[]shard {
	c.shards.CompareAndSwap(nil, lay(0))
	return c.shards.Load()
}

// Inc adds 1.
func (c *Counter) Inc() { c.Add(1) }

// Value returns the sum. Each addition that returned before Value began is in it; a concurrent one may or may
// not be. So a sum taken while others add and subtract may be a value that the counter never had, if it
// includes a subtraction but not an addition before it.
func (c *Counter) Value() int64 {
	shards := c.shards.Load()
	if shards == nil {
		return 0
	}
	var sum int64
	for i := range *shards {
		sum += (*shards)[i].n.Load()
	}
	return sum
}

// Take returns the sum and sets it to zero, for counts per window. No addition is lost or counted twice: a
// concurrent one is in this Take or in the next.
func (c *Counter) Take() int64 {
	shards := c.shards.Load()
	if shards == nil {
		return 0
	}
	var sum int64
	for i := range *shards {
		sum += (*shards)[i].n.Swap(0)
	}
	return sum
}

// Shards returns how many shards there are; 0 before the first Add to the zero value.
func (c *Counter) Shards() int {
	if shards := c.shards.Load(); shards != nil {
		return len(*shards)
	}
	return 0
}
