package forecast

import (
	"math/rand/v2"
	"strings"
)

// combined is the weighted mean of several models' forecasts: the errors of different
// families cancel in part (Makridakis et al., "The M4 Competition", 2020).
type combined struct {
	members []model
	weights []float64   // sum 1
	means   [][]float64 // of the members, as far as they were asked for
}

func (c *combined) name() string {
	names := make([]string, len(c.members))
	for i, m := range c.members {
		names[i] = m.name()
	}
	return "mean of " + strings.Join(names, ", ")
}

// foresee makes the members' means reach as far as asked.
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
