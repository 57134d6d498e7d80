package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap returns the percentile interval of a statistic over resamples with
// replacement (Efron and Tibshirani, section 13.3). n is the number of units to
// draw from; statistic gets the indices drawn, which it must not keep, and may
// return NaN for a resample that has no value (those are left out). Resampling
// indices rather than values lets a unit be anything: a number, a pair of block
// histograms.
//
// ok is false, and the limits NaN, when n or rounds is below 2, the confidence
// is outside (0, 1), or more than half of the resamples had no value.
func Bootstrap(rng *rand.Rand, n, rounds int, confidence float64, statistic func(indices []int) float64) (low, high float64, ok bool) {
	if n < 2 || rounds < 2 || !(confidence > 0 && confidence < 1) {
		return math.NaN(), math.NaN(), false
	}
	indices := make([]int, n)
	values := make([]float64, 0, rounds)
	for range rounds {
		for i := range indices {
			indices[i] = rng.IntN(n)
		}
		if v := statistic(indices); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if 2*len(values) <= rounds {
		return math.NaN(), math.NaN(), false
	}
	slices.Sort(values)
	tail := (1 - confidence) / 2
	return quantileSorted(values, tail), quantileSorted(values, 1-tail), true
}

// Quantile returns the q-quantile of values by linear interpolation of the order
// statistics (Hyndman and Fan's type 7, as numpy and R do). NaN values are left
// out; it is NaN when none is left or q is outside [0, 1].
func Quantile(values []float64, q float64) float64 {
	present := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) {
			present = append(present, v)
		}
	}
	if len(present) == 0 || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	slices.Sort(present)
	return quantileSorted(present, q)
}

// Median returns the median of the values that are not NaN; NaN for none.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

func quantileSorted(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	fraction := at - float64(below)
	return sorted[below]*(1-fraction) + sorted[below+1]*fraction
}
