package verify

import (
	"math"
	"time"

	"github.com/redline-go/redline/stat"
)

// Components is where the noise of CPU per request comes from: standard deviations on the
// logarithmic scale, 0.04 is 4 %.
type Components struct {
	Launch float64 `json:"launch"` // of a side's level from launch to launch
	Turn   float64 `json:"turn"`   // of one turn of a side
	Drift  float64 `json:"drift"`  // of the level that both sides have in common, from pair to pair
	// Order is by how much the side that was launched second takes more, and OrderError the
	// standard error of that.
	Order      float64 `json:"order"`
	OrderError float64 `json:"order_error"`
	// Warming is by how much more CPU a request takes in the last third of a launch than in the first, without the first turn, on
	// both sides: below 0 for services that are still warming up.
	Warming float64 `json:"warming"`
	Pairs   int     `json:"pairs"` // that it was estimated from
}

// EstimateComponents takes the noise of pairs of launches apart by their turns, by the method of
// moments of a nested analysis of variance (Searle, Casella and McCulloch, Variance Components,
// section 3.6, with unequal numbers of turns by their harmonic mean): what differs between a pair's
// turns is the turns', and what its mean deviates by beyond their share is the launches'. Twice a
// side's variance is that of a difference. Variances below zero count as zero.
//
// ok is false for fewer than four pairs that have turns, two of each side and as many of both.
func EstimateComponents(pairs []Pair) (c Components, ok bool) {
	var d, second, level []float64 // per pair: mean difference, +1 where b came second, common level
	within, freedom, inverse := 0.0, 0.0, 0.0
	for _, p := range pairs {
		turns, n := p.turnDifferences(), float64(len(p.A.Turns))
		if len(turns) < 2 {
			continue
		}
		sum := 0.0
		for i := range turns {
			sum += (math.Log(p.A.Turns[i]) + math.Log(p.B.Turns[i])) / 2
		}
		order := 1.0
		if p.BFirst {
			order = -1
		}
		d, second, level = append(d, average(turns)), append(second, order), append(level, sum/n)
		within += (n - 1) * math.Pow(stat.Deviation(turns), 2)
		freedom, inverse = freedom+n-1, inverse+1/n
	}
	n := float64(len(d))
	if len(d) < 4 {
		return c, false
	}
	within /= freedom
	inverse /= n
	slope, left, used := regressed(d, second)
	between := left / (n - used)
	c = Components{Pairs: len(d), Order: slope, OrderError: math.Sqrt(between / n), Warming: warming(pairs)}
	launch := math.Max(0, between-within*inverse) / 2
	c.Launch, c.Turn = math.Sqrt(launch), math.Sqrt(within/2)
	c.Drift = math.Sqrt(math.Max(0, math.Pow(stat.Deviation(level), 2)-(launch+within/2*inverse)/2))
	return c, true
}

// turnDifferences returns the logarithmic differences of a pair's turns, + as more for b; nil where
// the sides did not take as many, or one of them is no measured value.
func (p Pair) turnDifferences() (out []float64) {
	if len(p.A.Turns) != len(p.B.Turns) {
		return nil
	}
	for i, a := range p.A.Turns {
		d := math.Log(p.B.Turns[i] / a)
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return nil
		}
		out = append(out, d)
	}
	return out
}

// regressed fits values by a mean and a slope over signs, and returns the slope, the sum of squares
// that is left, and how many parameters that took: with all signs alike there is no slope.
func regressed(values, signs []float64) (slope, left, parameters float64) {
	y, x := average(values), average(signs)
	product, square := 0.0, 0.0
	for i := range values {
		product += (values[i] - y) * (signs[i] - x)
		square += (signs[i] - x) * (signs[i] - x)
	}
	if parameters = 1; square > 0 {
		slope, parameters = product/square, 2
	}
	for i := range values {
		left += math.Pow(values[i]-y-slope*(signs[i]-x), 2)
	}
	return slope, left, parameters
}

func average(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// usual is what a plan supposes before it has pairs of its own, with the weight of so many: a few
// pairs say next to nothing of the variance between launches. Measured on the order gateway, see
// docs/verify.md.
var usual = Components{Launch: 0.03, Turn: 0.165, Pairs: 8}

// Turns returns how many turns of either side a pair of launches should have: launch is what a pair
// costs before its first turn, turn what a turn of both sides does. The variance of a session of
// given length is least for sqrt(launch/turn x turn variance/launch variance) turns (Cochran,
// Sampling Techniques, section 10.6, two-stage sampling with cost). Pairs that c lacks count as
// usual ones.
func (c Components) Turns(launch, turn time.Duration) int {
	mix := func(own, prior float64) float64 {
		n, p := float64(c.Pairs), float64(usual.Pairs)
		return (n*own*own + p*prior*prior) / (n + p)
	}
	ratio := mix(c.Turn, usual.Turn) / mix(c.Launch, usual.Launch)
	return int(math.Round(math.Sqrt(ratio * math.Max(0, launch.Seconds()) / turn.Seconds())))
}

// Deviation returns the standard deviation of the difference of a pair with a number of turns, on
// the logarithmic scale.
func (c Components) Deviation(turns int) float64 {
	return math.Sqrt(2 * (c.Launch*c.Launch + c.Turn*c.Turn/float64(turns)))
}

// Foresee returns the smallest change that a session of a number of pairs detects in four of five,
// by the first metric that decides, in the noise of earlier sessions' pairs. ok is false where they
// are too few, or do not have it.
func (r Rules) Foresee(earlier [][]Pair, planned int) (metric Metric, mde float64, ok bool) {
	r.Early = true
	r = r.Plan(planned)
	for _, m := range r.Metrics {
		if !m.Advisory {
			mde := detectable(m.noise(earlier...), r.at(planned, r.looks()), math.Log1p(m.Margin)/2)
			return m, math.Expm1(mde), !math.IsNaN(mde)
		}
	}
	return metric, 0, false
}
