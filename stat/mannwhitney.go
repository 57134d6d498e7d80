package stat

import (
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats" // the exact U distribution, ties included; what golang.org/x/perf stands on
)

// MannWhitney returns the two-sided p-value of the Mann-Whitney U test that two
// independent samples come from one distribution (HWC section 4.1): exact up to 50
// values per side (25 with ties), normal with tie correction beyond. It is 1 if
// all values are equal, NaN if a sample is empty or has values that are not
// finite.
func MannWhitney(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 || !finite(a) || !finite(b) {
		return math.NaN()
	}
	result, err := moremath.MannWhitneyUTest(a, b, moremath.LocationDiffers)
	if err != nil {
		return 1 // all values are equal: nothing else is refused above
	}
	return math.Min(1, result.P)
}

// ShiftInterval returns the Hodges-Lehmann estimate of by how much b exceeds a, the median of all
// differences b[j] - a[i] (HWC section 4.2), with its interval of the given confidence by
// Moses' construction (HWC section 4.3, equation 4.34, with the large-sample
// approximation of the depth, equation 4.35): limits are order statistics of the
// differences b[j] - a[i]. Values of each sample are taken as independent.
//
// ok is false, and the limits NaN, when the samples are too small for the confidence; the estimate is NaN as well
// where MannWhitney is. Time and memory grow with len(a) len(b).
func ShiftInterval(a, b []float64, confidence float64) (estimate, low, high float64, ok bool) {
	n, m := float64(len(a)), float64(len(b))
	if len(a) == 0 || len(b) == 0 || !finite(a) || !finite(b) || !(confidence > 0 && confidence < 1) {
		return math.NaN(), math.NaN(), math.NaN(), false
	}
	differences := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, y-x)
		}
	}
	slices.Sort(differences)
	estimate = quantileSorted(differences, 0.5)
	depth := int(math.Floor(n*m/2 + normalQuantile((1-confidence)/2)*math.Sqrt(n*m*(n+m+1)/12)))
	if depth < 1 {
		return estimate, math.NaN(), math.NaN(), false
	}
	return estimate, differences[depth-1], differences[len(differences)-depth], true
}
