package stat

import "math"

// ChangePoint returns the most likely place where the level of a sequence
// shifts: values[:at] came before, values[at:] after. p is the approximate
// probability of so large a shift if there is none (Pettitt 1979, equations 2.3
// and 3.2): p = 2 exp(-6 K^2 / (n^3 + n^2)), which its author finds accurate to
// two decimals for p below one half. It assumes no distribution, so it suits
// latencies with outliers.
//
// Values must be in order of time and independent under the null hypothesis;
// Lag1 measures how far they are from that. at is 0 and p is 1 for fewer than four
// values, for a constant sequence, or when one is NaN.
func ChangePoint(values []float64) (at int, p float64) {
	n := len(values)
	if n < 4 {
		return 0, 1
	}
	// U[t] = sum over i <= t < j of sign(x[i] - x[j]), by U[t] = U[t-1] + sum
	// over j of sign(x[t] - x[j]).
	u, best := 0.0, 0.0
	for t := range n - 1 {
		for _, v := range values {
			switch {
			case math.IsNaN(v):
				return 0, 1
			case values[t] > v:
				u++
			case values[t] < v:
				u--
			}
		}
		if math.Abs(u) > best {
			best, at = math.Abs(u), t+1
		}
	}
	if best == 0 {
		return 0, 1
	}
	f := float64(n)
	return at, min(1, 2*math.Exp(-6*best*best/(f*f*f+f*f)))
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
