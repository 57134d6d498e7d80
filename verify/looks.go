package verify

import (
	"cmp"
	"math"

	"github.com/redline-go/redline/stat"
)

const (
	// LeastPairs is where the signed-rank test can first decide one metric at 2 %,
	// the default of Rules.Alpha: 2/2^7.
	LeastPairs = 7
	// mostLooks at growing data, each after so many more pairs at least. A look
	// costs a little of the last one's power, and saves the pairs that a clear
	// case does not need.
	mostLooks, leastBetween = 9, 4
)

// Least returns the fewest pairs that can decide: n differences of one sign have
// the probability 2/2^n, which Holm's method multiplies by the number of metrics
// that decide.
func (r Rules) Least() int {
	n := LeastPairs
	for math.Ldexp(2*float64(r.deciding()), -n) > r.primary(r.looked()) {
		n++
	}
	return n
}

// looks is how many looks are planned.
func (r Rules) looks() int { return max(1, cmp.Or(r.Looks, 4)) }

// Plan returns the rules of a session with a number of pairs at its last look: with as
// many looks as pay, unless their number is given.
func (r Rules) Plan(most int) Rules {
	if r.Looks == 0 {
		r.Looks = max(1, min(mostLooks, most/leastBetween))
	}
	r.Looks, r.Planned = r.looks(), most
	return r
}

// Due returns how many pairs a planned look needs, from 1, and whether it is the last.
func (r Rules) Due(look int) (pairs int, last bool) {
	return r.Planned * look / r.looks(), look >= r.looks()
}

// Roughly returns the rules for a glance between looks: few resamples, and percentiles
// by the blocks' own. It is quick, because it runs on the machine that is measured.
func (r Rules) Roughly() Rules {
	r.rough = true
	return r
}

// look is one look at a session's data.
type look struct {
	level     float64 // two-sided significance of a test at this look
	bound     float64 // two-sided level of the interval whose upper limit a pass needs
	final     float64 // level of the last look, for one of all deciding metrics
	planned   int     // pairs at the last look
	resamples int
	rough     bool
	seed      uint64
}

// at returns the n-th look, at a number of pairs.
func (r Rules) at(pairs, n int) look {
	looks := r.looks()
	n = min(n, looks)
	levels, bounds := r.levels(), stat.OBrienFleming(looks, 2*boundLevel)
	l := look{
		level: levels[n-1], bound: bounds[n-1], final: r.primary(levels[looks-1]) / float64(max(1, r.deciding())),
		planned: cmp.Or(r.Planned, pairs*looks/n), resamples: resamples, rough: r.rough, seed: r.Seed,
	}
	if r.rough {
		l.resamples = roughly
	}
	return l
}

// soonShare is the part of the error rate that the look after a third of the pairs spends in addition, which
// O'Brien and Fleming's levels leave almost none: a difference of two margins then need not wait for half of them.
const soonShare = 0.05

// levels are the two-sided significance levels of the looks. Together they keep the error rate, because that of
// the additional test is taken from the others' (Bonferroni).
func (r Rules) levels() []float64 {
	looks := r.looks()
	if looks < 3 {
		return stat.OBrienFleming(looks, r.looked())
	}
	levels, soon := stat.OBrienFleming(looks, r.looked()*(1-soonShare)), (looks+2)/3-1
	levels[soon] = max(levels[soon], r.looked()*soonShare)
	return levels
}

func (r Rules) deciding() (n int) {
	for _, m := range r.Metrics {
		if !m.Advisory {
			n++
		}
	}
	return n
}

func (r Rules) guards() (n int) {
	for _, m := range r.Metrics {
		if m.Guard {
			n++
		}
	}
	if r.failing {
		n++
	}
	return n
}

// guardShare is the part of a look's error rate that guards share: they only have to find what is
// far beyond the margin.
const guardShare = 0.1

// failures is the one-sided level of the test of failed requests, which is a guard's, at a look's
// two-sided level.
func (r Rules) failures(level float64) float64 {
	return level * guardShare / float64(max(1, r.guards())) / 2
}

// primary is what of a look's level is left for the metrics that decide.
func (r Rules) primary(level float64) float64 {
	if r.guards() > 0 {
		return level * (1 - guardShare)
	}
	return level
}

// significant reports which metrics a look's tests find changed, by their p-values: the chance of
// any false one among those that decide and the guards is the level (Holm's method among the first,
// Bonferroni's for the others). Further advisory metrics are each tested at the level.
func (r Rules) significant(p []float64, level float64) []bool {
	deciding, out := make([]float64, len(p)), make([]bool, len(p))
	for i, m := range r.Metrics {
		if deciding[i] = p[i]; m.Advisory {
			deciding[i] = math.NaN()
		}
	}
	for i, adjusted := range stat.Holm(deciding) {
		switch m := r.Metrics[i]; {
		case m.Guard:
			out[i] = p[i] <= level*guardShare/float64(r.guards())
		case m.Advisory:
			out[i] = p[i] <= level
		default:
			out[i] = adjusted <= r.primary(level)
		}
	}
	return out
}
