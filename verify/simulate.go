package verify

import (
	"math"
	"math/rand/v2"

	"github.com/redline-go/redline/stat"
)

// simulations is how many sessions without a difference estimate the false
// positive rate; a rate of 1 % then has a standard error of 0.3 %.
const simulations = 1000

// shifts is how many sessions estimate the smallest detectable effect; their
// 80 % quantile is then within some hundredths of itself.
const shifts = 300

// leastNoise is how many residuals noise is drawn from at least.
const leastNoise = 6

// Errors returns the detectable change of a session with a number of pairs and how
// often it errs, by a side's comparison with itself: by which metrics identical
// sides differed, the smallest effect that is found, and, by simulation with the
// same noise, how often the rules call a regression if there is none. The noise
// is that of the pairs compared as well, less their location; nil has that of aa
// alone.
func Errors(aa, compared []Pair, planned int, r Rules) AA {
	out := AA{Pairs: len(aa), Different: differing(aa, r)}
	if len(aa)+len(compared) == 0 {
		return out
	}
	r.Planned = planned
	at := r.at(planned, r.looks())
	var residuals [][]float64
	judged := r
	judged.Metrics = nil
	for _, m := range r.Metrics {
		noise := m.noise(aa, compared)
		if m.Advisory && !m.Guard || len(noise) == 0 || len(residuals) > 0 && len(noise) != len(residuals[0]) {
			continue // it fails no session, or is missing on a side
		}
		residuals, judged.Metrics = append(residuals, noise), append(judged.Metrics, m)
		if out.MDE == 0 && !m.Advisory {
			if mde := detectable(noise, at, math.Log1p(m.Margin)/2); !math.IsNaN(mde) {
				out.MDE = math.Expm1(mde)
			}
		}
	}
	out.FalsePositive = judged.falsePositives(residuals, planned)
	return out
}

// differing lists the deciding metrics by which a side differed from itself, at
// 5 % all together.
func differing(aa []Pair, r Rules) []string {
	out, p := []string{}, make([]float64, len(r.Metrics))
	for i, m := range r.Metrics {
		p[i] = math.NaN()
		if d, ok := m.differences(aa); ok && !m.Advisory && math.Abs(stat.HodgesLehmann(d)) >= math.Log1p(m.Margin)/2 {
			p[i] = stat.SignedRankTest(d)
		}
	}
	for i, adjusted := range stat.Holm(p) {
		if adjusted <= 0.05 {
			out = append(out, r.Metrics[i].Name)
		}
	}
	return out
}

// detectable returns the smallest shift of location that the session's rules
// call a change in four of five simulated sessions of the planned pairs: the
// interval must exclude zero, and the estimate pass the least. Noise is drawn
// from the residuals with random signs, so that one stalled launch counts for
// its effect on ranks, not for that on a standard deviation.
//
// Each simulated session needs a certain shift, because the interval moves along
// with it; the answer is their 80 % quantile. It is NaN for too little noise to
// draw from, or pairs too few to decide.
func detectable(residuals []float64, at look, least float64) float64 {
	if len(residuals) < leastNoise || at.planned < LeastPairs {
		return math.NaN()
	}
	rng := rand.New(rand.NewPCG(at.seed, 3))
	needed, d := make([]float64, min(at.resamples, shifts)), make([]float64, at.planned)
	for i := range needed {
		for k := range d {
			d[k] = float64(1-2*rng.IntN(2)) * residuals[rng.IntN(len(residuals))]
		}
		estimate, low, _, ok := stat.SignedRankInterval(d, 1-at.final)
		if !ok {
			return math.NaN()
		}
		needed[i] = max(-low, least-estimate)
	}
	return stat.Quantile(needed, power)
}

// falsePositives returns the part of simulated sessions that end as regressions
// though both sides are the same: differences are drawn from those of identical
// sides with random signs, all metrics of a pair together, because they move
// together.
func (r Rules) falsePositives(residuals [][]float64, pairs int) float64 {
	if len(residuals) == 0 || len(residuals[0]) == 0 || pairs < LeastPairs {
		return 0
	}
	rng := rand.New(rand.NewPCG(r.Seed, 2))
	levels := r.levels()
	d := make([][]float64, len(residuals))
	wrong := 0
	for range simulations {
		for i := range d {
			d[i] = d[i][:0]
		}
		for range pairs {
			from, sign := rng.IntN(len(residuals[0])), float64(1-2*rng.IntN(2))
			for i := range d {
				d[i] = append(d[i], sign*residuals[i][from])
			}
		}
		if r.calledWorse(d, levels) {
			wrong++
		}
	}
	return float64(wrong) / simulations
}

// calledWorse reports whether any of the looks at a session's differences by each metric would
// call a regression.
func (r Rules) calledWorse(d [][]float64, levels []float64) bool {
	pairs := len(d[0])
	for i, m := range r.Metrics {
		if first := d[i][:min(pairs, EarlyPairs)]; r.Early && first[0] > 0 && r.doubtless(m, first) {
			return true
		}
	}
	for look, level := range levels {
		n := pairs * (look + 1) / len(levels)
		if n < LeastPairs {
			continue
		}
		p := make([]float64, len(d))
		for i := range d {
			p[i] = stat.SignedRankTest(d[i][:n])
		}
		for i, significant := range r.significant(p, level) {
			least := math.Log1p(r.Metrics[i].Margin)
			if !r.Metrics[i].Guard {
				least /= 2
			}
			if significant && stat.HodgesLehmann(d[i][:n]) >= least {
				return true
			}
		}
	}
	return false
}
