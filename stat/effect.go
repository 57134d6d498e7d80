package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// signedRankEfficiency is the asymptotic relative efficiency of the signed-rank
// test to the t test under normality, 3/pi (HWC section 3.10); it is no less
// than 0.864 for any continuous symmetric distribution.
const signedRankEfficiency = 3 / math.Pi

// DetectableEffect returns the smallest shift of location that a two-sided
// signed-rank test of n differences with standard deviation sd finds at level
// alpha with the given power: (t[1-alpha/2] + t[power]) sd / sqrt(n 3/pi), with
// Student's t of n-1 degrees of freedom, because sd is an estimate (Lehmann,
// Nonparametrics, section 4.3; Jennison and Turnbull, section 4.2 for the form).
// Outliers make it larger than necessary, never smaller; Spread gives an sd that is
// robust against them.
//
// It is NaN for n below 2, a negative sd, or levels outside (0, 1).
func DetectableEffect(sd float64, n int, alpha, power float64) float64 {
	if n < 2 || !(sd >= 0) || !(alpha > 0 && alpha < 1) || !(power > 0 && power < 1) {
		return math.NaN()
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}
	return (t.Quantile(1-alpha/2) + t.Quantile(power)) * sd / math.Sqrt(float64(n)*signedRankEfficiency)
}

// Spread returns the standard deviation of values by the median absolute
// deviation from their median times 1.4826, its value under normality (HWC
// section 3.10, comment 20; Hampel 1974): half of the values may be outliers. It
// is NaN for fewer than two values, or values that are not finite.
func Spread(values []float64) float64 {
	if len(values) < 2 || !finite(values) {
		return math.NaN()
	}
	middle := Median(values)
	off := make([]float64, len(values))
	for i, v := range values {
		off[i] = math.Abs(v - middle)
	}
	return Median(off) / normalQuantile(0.75)
}

// Deviation returns the sample standard deviation, with n-1 in the denominator;
// NaN for fewer than two values.
func Deviation(values []float64) float64 {
	n := float64(len(values))
	if n < 2 {
		return math.NaN()
	}
	mean, square := 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	return math.Sqrt(square / (n - 1))
}

func sortBy(indices []int, key []float64) {
	slices.SortStableFunc(indices, func(a, b int) int {
		switch {
		case key[a] < key[b]:
			return -1
		case key[a] > key[b]:
			return 1
		}
		return 0
	})
}
