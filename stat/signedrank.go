package stat

import (
	"math"
	"slices"
	"sort"
	"sync"
)

// exactSignedRank is the largest sample for which the null distribution is
// enumerated. At 50 the normal approximation is within 1e-4 of it at the tails
// that matter, and the counts still fit a float64 without loss of order.
const exactSignedRank = 50

// signedRankMass returns P(T+ = t) for t from 0 to n(n+1)/2, T+ being the Wilcoxon signed-rank statistic of n values
// without ties under the null hypothesis of symmetry about zero (HWC section 3.1, comment 7). Each rank is in the
// sum with probability one half, so the distribution for n follows from that for
// n-1 by one convolution step; probabilities instead of counts avoid overflow.
func signedRankMass(n int) []float64 {
	mass := make([]float64, n*(n+1)/2+1)
	mass[0] = 1
	top := 0
	for rank := 1; rank <= n; rank++ {
		top += rank
		for t := top; t >= 0; t-- {
			with := 0.0
			if t >= rank {
				with = mass[t-rank]
			}
			mass[t] = (mass[t] + with) / 2
		}
	}
	return mass
}

func signedRankMoments(n int) (mean, sd float64) {
	f := float64(n)
	return f * (f + 1) / 4, math.Sqrt(f * (f + 1) * (2*f + 1) / 24)
}

// SignedRankInterval returns the Hodges-Lehmann estimate of the location of d
// and the interval of Walsh averages whose coverage is at least the confidence
// (HWC section 3.3, equation 3.28; Tukey's construction): with k the largest
// count for which P(T+ < k) stays below (1-confidence)/2, the k-th Walsh
// average from either end. It is exact up to 50 values; ties make it wider,
// never narrower.
//
// ok is false when no interval of that confidence exists: fewer than 6 values at
// 95 % (2^-n is the smallest tail), values that are not finite, or a confidence
// outside (0, 1). The estimate is then still given where there is one, and low
// and high are NaN.
func SignedRankInterval(d []float64, confidence float64) (estimate, low, high float64, ok bool) {
	w, finite := newWalsh(d)
	if !finite {
		return math.NaN(), math.NaN(), math.NaN(), false
	}
	estimate = w.median()
	k := signedRankDepth(len(d), confidence)
	if k < 1 {
		return estimate, math.NaN(), math.NaN(), false
	}
	return estimate, w.kth(k), w.kth(w.total() + 1 - k), true
}

// signedRankDepth returns how deep from either end the interval's limits lie;
// 0 when even the extremes do not reach the confidence.
func signedRankDepth(n int, confidence float64) int {
	if !(confidence > 0 && confidence < 1) {
		return 0
	}
	tail := (1 - confidence) / 2
	if n > exactSignedRank {
		mean, sd := signedRankMoments(n)
		return max(0, int(math.Floor(mean+0.5+sd*normalQuantile(tail))))
	}
	// The slack keeps tails that are exactly the level, such as 2^-n, on the side
	// where arithmetic without rounding would put them.
	cdf := signedRankTable(n)
	return sort.Search(len(cdf), func(t int) bool { return cdf[t] > tail*(1+1e-12) })
}

// SignedRankTest returns the two-sided p-value of the Wilcoxon signed-rank test
// that d is symmetric about zero. Zeros are dropped and ties get mean ranks
// (HWC section 3.1, "Ties"); with ties or zeros the distribution is conditional
// on them and enumerated for up to 50 values, else normal with the tie
// correction. It is 1 when nothing but zeros is left, NaN for values that are
// not finite.
func SignedRankTest(d []float64) float64 {
	if !finite(d) {
		return math.NaN()
	}
	ranks, positive := signedRanks(d)
	if len(ranks) == 0 {
		return 1
	}
	if n := len(ranks); n <= exactSignedRank && untied(ranks) {
		cdf, t := signedRankTable(n), positive/2
		return min(1, 2*min(cdf[t], cdf[n*(n+1)/2-t]))
	}
	lower := signedRankTail(ranks, positive)
	total := 0
	for _, r := range ranks {
		total += r
	}
	upper := signedRankTail(ranks, total-positive)
	return min(1, 2*min(lower, upper))
}

// untied reports whether doubled ranks are 2, 4, 6 and so on.
func untied(doubled []int) bool {
	for i, r := range doubled {
		if r != 2*(i+1) {
			return false
		}
	}
	return true
}

// tables holds P(T+ <= t) by n: simulations test thousands of samples of one size.
var tables [exactSignedRank + 1]struct {
	once sync.Once
	cdf  []float64
}

func signedRankTable(n int) []float64 {
	table := &tables[n]
	table.once.Do(func() {
		table.cdf = signedRankMass(n)
		for t := 1; t < len(table.cdf); t++ {
			table.cdf[t] += table.cdf[t-1]
		}
	})
	return table.cdf
}

// signedRanks returns twice the mean ranks of the absolute values that are not
// zero (so that halves stay whole numbers) and twice T+.
func signedRanks(d []float64) (doubled []int, positive int) {
	values := make([]float64, 0, len(d))
	for _, v := range d {
		if v != 0 {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, func(a, b float64) int {
		switch x, y := math.Abs(a), math.Abs(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	doubled = make([]int, len(values))
	for from := 0; from < len(values); {
		to := from + 1
		for to < len(values) && math.Abs(values[to]) == math.Abs(values[from]) {
			to++
		}
		for i := from; i < to; i++ {
			doubled[i] = from + 1 + to
			if values[i] > 0 {
				positive += doubled[i]
			}
		}
		from = to
	}
	return doubled, positive
}

// signedRankTail returns P(sum of a random half of the ranks <= t).
func signedRankTail(doubled []int, t int) float64 {
	if len(doubled) > exactSignedRank {
		mean, variance := 0.0, 0.0
		for _, r := range doubled {
			mean += float64(r) / 2
			variance += float64(r) * float64(r) / 4
		}
		return normalCDF((float64(t) + 1 - mean) / math.Sqrt(variance))
	}
	top := 0
	for _, r := range doubled {
		top += r
	}
	mass := make([]float64, top+1)
	mass[0] = 1
	for _, rank := range doubled {
		for s := top; s >= 0; s-- {
			with := 0.0
			if s >= rank {
				with = mass[s-rank]
			}
			mass[s] = (mass[s] + with) / 2
		}
	}
	sum := 0.0
	for _, p := range mass[:t+1] {
		sum += p
	}
	return sum
}

func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
