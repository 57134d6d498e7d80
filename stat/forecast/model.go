package forecast

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/optimize" // Nelder-Mead, kept and tested there
)

// model is a candidate fitted to a series.
type model interface {
	name() string
	// mean returns the forecast of the next steps.
	mean(steps int) []float64
	// path fills out with one possible future.
	path(rng *rand.Rand, out []float64)
}

// residuals are the one-step errors of a fit, from which futures are drawn.
type residuals []float64

// leastDrawn is the number of residuals needed to draw from them directly; fewer
// give only the spread of a normal distribution.
const leastDrawn = 40

// draw returns an error of the same spread and shape as those of the fit.
func (r residuals) draw(rng *rand.Rand) float64 {
	if len(r) >= leastDrawn {
		return r[rng.IntN(len(r))]
	}
	sum := 0.0
	for _, v := range r {
		sum += v * v
	}
	return rng.NormFloat64() * math.Sqrt(sum/float64(max(1, len(r))))
}

// centredAt0 removes the mean, so that drawn errors do not drift.
func centredAt0(values []float64) residuals {
	out := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(out) == 0 {
		return residuals{0}
	}
	m := mean(out)
	for i := range out {
		out[i] -= m
	}
	return out
}

// minimize returns the lowest point that Nelder-Mead finds from start, and its value. The
// function may return NaN or infinity where it is not defined.
func minimize(f func([]float64) float64, start []float64, evaluations int) ([]float64, float64) {
	if len(start) == 0 {
		return start, f(start)
	}
	guarded := func(x []float64) float64 {
		if v := f(x); !math.IsNaN(v) {
			return v
		}
		return math.Inf(1)
	}
	settings := &optimize.Settings{FuncEvaluations: evaluations,
		Converger: &optimize.FunctionConverge{Absolute: 1e-8, Relative: 1e-8, Iterations: 10 * len(start)}}
	// Running out of evaluations is an error there, with the best point so far.
	result, err := optimize.Minimize(optimize.Problem{Func: guarded}, start, settings,
		&optimize.NelderMead{SimplexSize: 0.5})
	if result == nil || err != nil && result.X == nil {
		return start, guarded(start)
	}
	return result.X, result.F
}

// between maps any number into (low, high), and back.
func between(x, low, high float64) float64 { return low + (high-low)/(1+math.Exp(-x)) }

func back(v, low, high float64) float64 {
	share := (v - low) / (high - low)
	return math.Log(share / (1 - share))
}

// logged is a model of a series' logarithms. Its mean is the median of the series.
type logged struct{ model }

func (l logged) name() string { return l.model.name() + " of logarithms" }

func (l logged) mean(steps int) []float64 { return exponentiated(l.model.mean(steps)) }

func (l logged) path(rng *rand.Rand, out []float64) {
	l.model.path(rng, out)
	exponentiated(out)
}

func exponentiated(values []float64) []float64 {
	for i, v := range values {
		values[i] = math.Exp(v)
	}
	return values
}

// inLogs is a series' logarithms; only for positive ones.
func inLogs(s Series) Series {
	out := Series{Values: make([]float64, len(s.Values)), Seasons: s.Seasons}
	for i, v := range s.Values {
		out.Values[i] = math.Log(v)
	}
	return out
}
