package machine

import (
	"context"
	"runtime"
	"time"
)

// beyond is more memory than caches of a core hold.
const beyond = 64 << 20

func copying(_ context.Context, _ *input, d time.Duration) (float64, error) {
	from, to := make([]byte, beyond), make([]byte, beyond)
	copy(to, from) // the pages are there before the clock runs
	each := repeated(d, beyond, func() { copy(to, from) })
	kept.Add(int64(to[beyond-1]))
	return 1e9 / each, nil
}

// chasing reads memory in an order in which each place names the next, so that no load
// begins before the last one ended.
func chasing(_ context.Context, in *input, d time.Duration) (float64, error) {
	const line, n = 16, beyond / 64 // uint32s per cache line, and lines
	next := make([]uint32, n*line)
	order := in.rng.Perm(n)
	for i := range order {
		next[order[i]*line] = uint32(order[(i+1)%n] * line)
	}
	at, steps := uint32(0), 100_000
	each := repeated(d, steps, func() {
		for range steps {
			at = next[at]
		}
	})
	kept.Add(int64(at))
	return each, nil
}

// cell is of 64 bytes, with a pointer as most objects have one.
type cell struct {
	next *cell
	_    [56]byte
}

var latest *cell

func allocating(_ context.Context, _ *input, d time.Duration) (float64, error) {
	const n = 50_000
	each := repeated(d, n, func() {
		for i := range n {
			c := &cell{}
			if i%8 != 0 { // chains of eight live for a moment
				c.next = latest
			}
			latest = c
		}
	})
	latest = nil
	return each, nil
}

var large []byte

func allocatingLarge(_ context.Context, _ *input, d time.Duration) (float64, error) {
	each := repeated(d, 10, func() {
		for range 10 {
			large = make([]byte, 10_000_000)
			large[len(large)/2]++
		}
	})
	large = nil
	return each, nil
}

func collecting(_ context.Context, _ *input, d time.Duration) (float64, error) {
	const n = 32 << 20 / 64
	var heap *cell
	for range n {
		heap = &cell{next: heap}
	}
	each := repeated(d, 1, runtime.GC)
	runtime.KeepAlive(heap)
	return each, nil
}
