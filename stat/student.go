package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// StudentInterval returns the mean of values with its Student's t interval at a confidence, and the
// two-sided p-value of a mean of zero. It assumes normal values; heavier tails make the test of a
// few values reject less often, not more (Benjamini, Is the t test really conservative when the
// parent distribution is long-tailed?, JASA 1983).
//
// ok is false, and all but the mean NaN, for fewer than two values, values that are not finite, or
// a confidence outside (0, 1). Values without any spread have p = 0, unless they are all zero.
func StudentInterval(values []float64, confidence float64) (estimate, low, high, p float64, ok bool) {
	n := float64(len(values))
	if len(values) == 0 || !finite(values) {
		return math.NaN(), math.NaN(), math.NaN(), math.NaN(), false
	}
	estimate = mean(values)
	if n < 2 || !(confidence > 0 && confidence < 1) {
		return estimate, math.NaN(), math.NaN(), math.NaN(), false
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}
	half := Deviation(values) / math.Sqrt(n)
	switch {
	case half > 0:
		p = 2 * t.Survival(math.Abs(estimate)/half)
	case estimate == 0:
		p = 1
	}
	half *= t.Quantile((1 + confidence) / 2)
	return estimate, estimate - half, estimate + half, p, true
}

// studentT returns the two-sided p-value of Student's t test with the variance
// pooled over both parts. Welch's form was tried and rejected: two values that
// happen to be alike, at the end of a history, then have no variance and differ
// from anything. Parts without any spread differ for certain or not at all.
func studentT(a, b []float64) float64 {
	na, nb := float64(len(a)), float64(len(b))
	va, vb := math.Pow(Deviation(a), 2), math.Pow(Deviation(b), 2)
	pooled := ((na-1)*va + (nb-1)*vb) / (na + nb - 2)
	difference := math.Abs(mean(a) - mean(b))
	if pooled == 0 {
		if difference == 0 {
			return 1
		}
		return 0
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: na + nb - 2}
	return 2 * t.Survival(difference/math.Sqrt(pooled*(1/na+1/nb)))
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
