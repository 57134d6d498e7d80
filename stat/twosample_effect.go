package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// DetectableShift is DetectableEffect for two independent samples of n and m
// values with one standard deviation: the smallest shift between them that a
// two-sided Mann-Whitney test finds at level alpha with the given power,
// (t[1-alpha/2] + t[power]) sd sqrt((1/n + 1/m) pi/3), with Student's t of n+m-2
// degrees of freedom (Lehmann, Nonparametrics, section 2.3; the efficiency to
// the t test is that of signed ranks).
//
// It is NaN for fewer than two values on a side, a negative sd, or levels outside
// (0, 1).
func DetectableShift(sd float64, n, m int, alpha, power float64) float64 {
	if min(n, m) < 2 || !(sd >= 0) || !(alpha > 0 && alpha < 1) || !(power > 0 && power < 1) {
		return math.NaN()
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n + m - 2)}
	return (t.Quantile(1-alpha/2) + t.Quantile(power)) * sd * math.Sqrt((1/float64(n)+1/float64(m))/signedRankEfficiency)
}
