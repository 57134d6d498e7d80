package forecast

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// combined is the weighted mean of several models' forecasts: the errors of different
// families cancel in part (Makridakis et al., "The M4 Competition", 2020).
type combined struct {
	members []model
	weights []float64   // sum 1
	means   [][]float64 // of the members, as far as requested
	alike   bool        // forms of one family
}

// mostAlike bounds the forms of a family that are averaged; forms below leastWeight hardly count
// and are left out.
const (
	mostAlike   = 4
	leastWeight = 0.1
)

// form of a family that was fitted, with its criterion.
type scored struct {
	model
	criterion float64
}

// akaike averages the forms of a family by their Akaike weights: how probable each is among those that
// were fitted (Kolassa, "Combining exponential smoothing forecasts using Akaike weights", 2011). With a
// hundred values the criterion does not distinguish a trend from none, and choosing the wrong one doubles
// the error. Criteria must be of the same values.
func akaike(all []scored) (model, error) {
	if len(all) == 0 {
		return nil, errUnfit
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.criterion, b.criterion) })
	out, sum := &combined{alike: true}, 0.0
	for _, s := range all[:min(mostAlike, len(all))] {
		if w := math.Exp((all[0].criterion - s.criterion) / 2); w >= leastWeight {
			out.members, out.weights = append(out.members, s.model), append(out.weights, w)
			sum += w
		}
	}
	if len(out.members) == 1 {
		return all[0].model, nil
	}
	for i := range out.weights {
		out.weights[i] /= sum
	}
	return out, nil
}

func (c *combined) name() string {
	if c.alike {
		return fmt.Sprintf("%s and %d like it", c.members[0].name(), len(c.members)-1)
	}
	names := make([]string, len(c.members))
	for i, m := range c.members {
		names[i] = m.name()
	}
	return "mean of " + strings.Join(names, ", ")
}

// foresee extends the members' means to the given number of steps.
func (c *combined) foresee(steps int) {
	if len(c.means) > 0 && len(c.means[0]) >= steps {
		return
	}
	c.means = nil
	for _, m := range c.members {
		c.means = append(c.means, m.mean(steps))
	}
}

func (c *combined) average(i int) float64 {
	sum := 0.0
	for j, m := range c.means {
		sum += c.weights[j] * m[i]
	}
	return sum
}

func (c *combined) mean(steps int) []float64 {
	c.foresee(steps)
	out := make([]float64, steps)
	for i := range out {
		out[i] = c.average(i)
	}
	return out
}

// path takes one member's path and moves it to the mean of all: members share the
// errors of the series, so that their average would vary too little.
func (c *combined) path(rng *rand.Rand, out []float64) {
	c.foresee(len(out))
	chosen, share := 0, rng.Float64()
	for ; chosen < len(c.members)-1 && share >= c.weights[chosen]; chosen++ {
		share -= c.weights[chosen]
	}
	c.members[chosen].path(rng, out)
	for i := range out {
		out[i] += c.average(i) - c.means[chosen][i]
	}
}
