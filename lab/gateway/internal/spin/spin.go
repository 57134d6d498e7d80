// Package spin makes a request costlier by a fixed amount of work: a slow-down of a
// known size, for testing whether a comparison finds it.
//
// The amount is counted in rounds of arithmetic and not in time: work that is
// measured by a clock while it runs would take no longer on a slow machine, and
// a real slow-down does.
package spin

import "math/bits"

// Rounds is how much is done on every request. Zero does nothing.
type Rounds int

// Do takes the CPU for as long as the rounds last, some nanoseconds each. The
// result depends on every round, so none can be left out.
func (r Rounds) Do() uint64 {
	x := uint64(88172645463325252)
	for range r {
		// xorshift: each step waits for the one before it.
		x ^= x << 13
		x ^= x >> 7
		x = bits.RotateLeft64(x^x<<17, 1)
	}
	return x
}
