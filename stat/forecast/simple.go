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

// theta is Assimakopoulos and Nikolopoulos' method of 2000, as simple exponential
// smoothing with half the slope of the line through the series as drift (Hyndman
// and Billah, "Unmasking the Theta method", 2003), on values without their season.
type theta struct {
	pattern
	alpha, level, slope float64
	n                   int
	errors              residuals
}

func fitTheta(s Series) (model, error) {
	values := s.filled()
	p := decompose(values, s.Seasons, s.positive())
	adjusted := p.adjusted(values)
	t := &theta{pattern: p, n: len(values)}
	_, t.slope = line(adjusted)
	run := func(alpha, first float64, into *[]float64) (squares, last float64) {
		last = first
		for _, v := range adjusted {
			e := v - last
			squares += e * e
			if into != nil {
				*into = append(*into, e)
			}
			last += alpha * e
		}
		return squares, last
	}
	spread := math.Sqrt(variance(adjusted)) + 1e-12
	x, _ := minimize(func(x []float64) float64 {
		squares, _ := run(between(x[0], 0, 1), adjusted[0]+spread*x[1], nil)
		return math.Log(squares + 1e-300)
	}, []float64{0, 0}, 300)
	var errs []float64
	t.alpha = between(x[0], 0, 1)
	_, t.level = run(t.alpha, adjusted[0]+spread*x[1], &errs)
	t.errors = centredAt0(errs)
	return t, nil
}

func (t *theta) name() string { return "Theta" }

// drift is the forecast's rise over the level after the given number of steps.
func (t *theta) drift(steps int) float64 {
	// The term in alpha brings the smoothed level, which lags behind a slope, up to date.
	late := (1 - math.Pow(1-t.alpha, float64(t.n))) / max(t.alpha, 1e-9)
	return t.slope / 2 * (float64(steps-1) + late)
}

func (t *theta) mean(steps int) []float64 {
	out := make([]float64, steps)
	for i := range out {
		out[i] = t.restore(t.level+t.drift(i+1), t.n+i)
	}
	return out
}

func (t *theta) path(rng *rand.Rand, out []float64) {
	level := t.level
	for i := range out {
		e := t.errors.draw(rng)
		out[i] = t.restore(level+t.drift(i+1)+e, t.n+i)
		level += t.alpha * e
	}
}
