package forecast

import (
	"math"
	"math/rand/v2"
)

// naive repeats the last season, or the last value without one.
type naive struct {
	last   []float64
	errors residuals
}

func fitNaive(s Series) (model, error) {
	values, m := s.filled(), s.longest()
	n := naive{last: values[len(values)-m:]}
	var errs []float64
	for i := m; i < len(s.Values); i++ {
		if d := s.Values[i] - s.Values[i-m]; !math.IsNaN(d) {
			errs = append(errs, d)
		}
	}
	n.errors = centredAt0(errs)
	return n, nil
}

func (n naive) name() string {
	if len(n.last) > 1 {
		return "seasonal naive"
	}
	return "naive"
}

func (n naive) mean(steps int) []float64 {
	out := make([]float64, steps)
	for i := range out {
		out[i] = n.last[i%len(n.last)]
	}
	return out
}

func (n naive) path(rng *rand.Rand, out []float64) {
	for i := range out {
		before := n.last[i%len(n.last)]
		if i >= len(n.last) {
			before = out[i-len(n.last)]
		}
		out[i] = before + n.errors.draw(rng)
	}
}
