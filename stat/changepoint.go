package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ChangePoint returns the most likely place where the level of a sequence
// shifts: values[:at] came before, values[at:] after. p is the approximate
// probability of so large a shift if there is none (Pettitt 1979, equations 2.3
// and 3.2): p = 2 exp(-6 K^2 / (n^3 + n^2)), which its author finds accurate to
// two decimals for p below one half. It assumes no distribution, so it suits
// latencies with outliers. For few values it is too cautious; see PermutedChangePoint.
//
// Values must be in order of time and independent under the null hypothesis;
// Lag1 measures how far they are from that. at is 0 and p is 1 for fewer than four
// values, for a constant sequence, or when one is NaN.
func ChangePoint(values []float64) (at int, p float64) {
	if len(values) < 4 || slices.ContainsFunc(values, math.IsNaN) {
		return 0, 1
	}
	most, at := largestShift(values)
	if most == 0 {
		return 0, 1
	}
	n, k := float64(len(values)), float64(most)
	return at, min(1, 2*math.Exp(-6*k*k/(n*n*n+n*n)))
}

// PermutedChangePoint is ChangePoint with p as the part of 10,000 random orders of the values that have a shift at
// least as large, the given one included. Of 16 values Pettitt's formula gives a perfect shift after the seventh 0.008, where 2
// in 11,440 orders have it. Its time grows with the square of the number of values. The same values give the same p.
func PermutedChangePoint(values []float64) (at int, p float64) {
	at, p = ChangePoint(values)
	if p > 0.5 {
		return at, p
	}
	const orders = 10_000
	most, _ := largestShift(values)
	rng, order, asLarge := rand.New(rand.NewPCG(1979, 126)), slices.Clone(values), 1
	for range orders - 1 {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if k, _ := largestShift(order); k >= most {
			asLarge++
		}
	}
	return at, float64(asLarge) / orders
}

// largestShift returns the largest |U[t]|, where U[t] = sum over i <= t < j of sign(x[i] - x[j]), and the index after t.
// U[t] = U[t-1] + sum over j of sign(x[t] - x[j]).
func largestShift(values []float64) (most, at int) {
	u := 0
	for t := range len(values) - 1 {
		for _, v := range values {
			switch {
			case values[t] > v:
				u++
			case values[t] < v:
				u--
			}
		}
		if k := max(u, -u); k > most {
			most, at = k, t+1
		}
	}
	return most, at
}

// Lag1 returns the lag-1 autocorrelation coefficient r1 (Box and Jenkins, Time
// Series Analysis, section 2.1.4): near 0 for independent values, beyond
// 2/sqrt(n) for serial dependence, which makes intervals that assume
// independence too narrow. It is NaN for fewer than three values, for a constant
// sequence, or when one is NaN.
func Lag1(values []float64) float64 {
	if len(values) < 3 {
		return math.NaN()
	}
	mean := 0.0
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	product, square := 0.0, 0.0
	for i, v := range values {
		square += (v - mean) * (v - mean)
		if i > 0 {
			product += (v - mean) * (values[i-1] - mean)
		}
	}
	if square == 0 {
		return math.NaN()
	}
	return product / square
}
