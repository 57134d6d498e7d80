package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// trend of an exponential smoothing form.
type trend int

const (
	level  trend = iota // none
	linear              // additive
	damped              // additive, fading by phi per step
)

// form is one of Hyndman's state-space forms.
type form struct {
	relative bool // errors are shares of the expected value
	trend    trend
	season   byte // 'N', 'A' or 'M'
	carry    bool // errors of one step carry over into the next (Taylor's AR(1) term)
}

func (f form) String() string {
	out := "A"
	if f.relative {
		out = "M"
	}
	name := "ETS(" + out + "," + []string{"N", "A", "Ad"}[f.trend] + "," + string(f.season) + ")"
	if f.carry {
		name += " with AR(1)"
	}
	return name
}

// ets is exponential smoothing in innovations form. With mu the expected value,
// y = mu + e, or y = mu (1 + e) where errors are relative; both have the same
// recursions in the plain error y - mu (Hyndman et al. 2008, table 2.2).
type ets struct {
	form
	alpha, beta, phi float64
	gamma            []float64 // per season
	rho              float64   // of the carried error

	seasons []int
	state
	errors residuals
}

// state of the smoothing before the next step.
type state struct {
	level, slope float64
	indices      [][]float64 // per season, by step modulo its length
	step         int
	carried      float64 // the last step's error without the part carried into it
}

func (s state) clone() state {
	out := s
	out.indices = make([][]float64, len(s.indices))
	for i := range s.indices {
		out.indices[i] = slices.Clone(s.indices[i])
	}
	return out
}

// expected returns the next value's expectation, with the level and the seasonal part
// that it is made of.
func (e *ets) expected(s *state) (mu, base, seasonal float64) {
	base = s.level + e.phi*s.slope
	if e.season == 'M' {
		seasonal = 1
		for i, m := range e.seasons {
			seasonal *= s.indices[i][s.step%m]
		}
		return base*seasonal + e.rho*s.carried, base, seasonal
	}
	for i := range s.indices {
		seasonal += s.indices[i][s.step%e.seasons[i]]
	}
	return base + seasonal + e.rho*s.carried, base, seasonal
}

// advance takes the error of the next value, 0 where it is unknown.
func (e *ets) advance(s *state, err, base, seasonal float64) {
	share := err
	if e.season == 'M' {
		share = err / seasonal
	}
	s.level, s.slope = base+e.alpha*share, e.phi*s.slope+e.beta*share
	for i, m := range e.seasons {
		if i >= len(s.indices) {
			break
		}
		if at := s.step % m; e.season == 'M' {
			s.indices[i][at] = max(1e-9, s.indices[i][at]*(1+e.gamma[i]*err/(base*seasonal)))
		} else {
			s.indices[i][at] += e.gamma[i] * err
		}
	}
	s.carried = e.rho*s.carried + err
	s.step++
}

// likelihood runs over the values and returns -2 log likelihood without its constant,
// with the number of known values; s is left after the last. Errors are appended
// to into unless it is nil.
func (e *ets) likelihood(values []float64, s *state, into *residuals) (minus2 float64, n int) {
	squares, logs := 0.0, 0.0
	for _, y := range values {
		mu, base, seasonal := e.expected(s)
		err := y - mu
		if math.IsNaN(y) {
			err = 0
		} else {
			scaled := err
			if e.relative {
				if mu <= 0 {
					return math.Inf(1), 0
				}
				scaled = err / mu
				logs += math.Log(mu)
			}
			squares += scaled * scaled
			n++
			if into != nil {
				*into = append(*into, scaled)
			}
		}
		e.advance(s, err, base, seasonal)
	}
	return float64(n)*math.Log(squares/float64(n)+math.SmallestNonzeroFloat64) + 2*logs, n
}

func (e *ets) name() string {
	name := e.form.String()
	if len(e.indices) > 1 {
		name = strings.Replace(name, "ETS", "double-season ETS", 1)
	}
	return name
}

func (e *ets) mean(steps int) []float64 {
	s, out := e.state.clone(), make([]float64, steps)
	for i := range out {
		mu, base, seasonal := e.expected(&s)
		out[i] = mu
		e.advance(&s, 0, base, seasonal)
	}
	return out
}

func (e *ets) path(rng *rand.Rand, out []float64) {
	s := e.state.clone()
	for i := range out {
		mu, base, seasonal := e.expected(&s)
		err := e.errors.draw(rng)
		if e.relative {
			err *= math.Abs(mu)
		}
		out[i] = mu + err
		e.advance(&s, err, base, seasonal)
	}
}
