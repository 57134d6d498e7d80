package stat

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv" // the normal and t distributions, tested elsewhere
)

// OBrienFleming returns the two-sided significance level to test at in each of
// looks equally spaced looks at growing data, so that the probability of ever
// rejecting a true null hypothesis is alpha (O'Brien and Fleming 1979; Jennison
// and Turnbull, section 2.3). Early looks are strict: of three at 5 % the levels
// are 0.0005, 0.014 and 0.045. The critical value of look k is C sqrt(looks/k),
// where C is found by Armitage, McPherson and Rowe's recursive integration over
// the sequence of partial sums of normal increments.
//
// It is nil when looks is below 1 or above 100, or alpha outside (0, 0.5].
func OBrienFleming(looks int, alpha float64) []float64 {
	if looks < 1 || looks > 100 || !(alpha > 0 && alpha <= 0.5) {
		return nil
	}
	type plan struct {
		looks int
		alpha float64
	}
	if known, ok := boundaries.Load(plan{looks, alpha}); ok {
		return slices.Clone(known.([]float64))
	}
	// The boundary lies between that of one look and Bonferroni's.
	low, high := normalQuantile(1-alpha/2), normalQuantile(1-alpha/(2*float64(looks)))
	for range 60 {
		if mid := (low + high) / 2; crossing(looks, mid) > alpha {
			low = mid
		} else {
			high = mid
		}
	}
	levels := make([]float64, looks)
	for k := range levels {
		z := high * math.Sqrt(float64(looks)/float64(k+1))
		levels[k] = 2 * distuv.UnitNormal.Survival(z)
	}
	boundaries.Store(plan{looks, alpha}, slices.Clone(levels))
	return levels
}

// boundaries caches what was computed: sessions ask for the same one at every look,
// and it takes tens of milliseconds.
var boundaries sync.Map

// crossing returns the probability that a random walk S_k of unit normal steps
// ever leaves |S_k| < c sqrt(looks) for k up to looks: the O'Brien-Fleming
// boundary is constant on the scale of the sums.
func crossing(looks int, c float64) float64 {
	bound := c * math.Sqrt(float64(looks))
	// Simpson's rule over the walk's density inside the boundary; its scale is
	// one step, so a tenth of one is fine enough for seven digits.
	points := 2*int(math.Ceil(bound/0.1)) + 1
	step := 2 * bound / float64(points-1)
	x, weight := make([]float64, points), make([]float64, points)
	for i := range x {
		x[i] = -bound + float64(i)*step
		switch {
		case i == 0 || i == points-1:
			weight[i] = step / 3
		case i%2 == 1:
			weight[i] = 4 * step / 3
		default:
			weight[i] = 2 * step / 3
		}
	}
	density := make([]float64, points)
	for i := range density {
		density[i] = distuv.UnitNormal.Prob(x[i])
	}
	next := make([]float64, points)
	for range looks - 1 {
		for i := range next {
			sum := 0.0
			for j := range density {
				sum += weight[j] * density[j] * distuv.UnitNormal.Prob(x[i]-x[j])
			}
			next[i] = sum
		}
		density, next = next, density
	}
	inside := 0.0
	for i := range density {
		inside += weight[i] * density[i]
	}
	return 1 - inside
}

// Holm adjusts p-values for multiple testing, so that the chance of one or more
// false rejections stays at the level that the adjusted values are compared with
// (Holm 1979): the i-th smallest of m is multiplied by m-i+1,
// and none may be less than a smaller one's. It needs no independence. NaN, a
// test that could not be made, stays NaN and does not count.
func Holm(p []float64) []float64 {
	adjusted := make([]float64, len(p))
	var order []int
	for i, v := range p {
		adjusted[i] = math.NaN()
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	sortBy(order, p)
	least := 0.0
	for rank, i := range order {
		least = max(least, math.Min(1, p[i]*float64(len(order)-rank)))
		adjusted[i] = least
	}
	return adjusted
}
