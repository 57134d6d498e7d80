package pace

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/redline-go/redline/scenario"
)

// Think draws how long a connection of a closed loop waits before its next request. The
// exponential distribution is not truncated, which would change its mean.
func Think(t scenario.Think, rng *rand.PCG) time.Duration {
	if t.Mean > 0 {
		return time.Duration(exponential(rng) * float64(t.Mean))
	}
	if t.Max <= t.Min {
		return t.Min
	}
	over, _ := bits.Mul64(rng.Uint64(), uint64(t.Max-t.Min)+1)
	return t.Min + time.Duration(over)
}

// MeanThink is the mean of Think.
func MeanThink(t scenario.Think) time.Duration {
	if t.Mean > 0 {
		return t.Mean
	}
	return (t.Min + max(t.Min, t.Max)) / 2
}

// exponential draws from the exponential distribution of mean 1, by inversion.
// The largest draw is 53 ln 2 = 36.7; one in 10^16 would be above.
func exponential(rng *rand.PCG) float64 {
	u := float64(rng.Uint64()>>11) * 0x1p-53 // in [0, 1), and 1-u is exact
	return -math.Log(1 - u)
}
