package forecast

import (
	"errors"
	"math"
)

var errUnfit = errors.New("the model does not fit the series")

// forms returns the forms to try: without multiplicative trends, which explode, and
// without additive errors on a multiplicative season, which are unstable
// (Hyndman et al. 2008, section 2.5).
func forms(s Series) (out []form) {
	positive := s.positive()
	seasons := []byte{'N'}
	if len(s.Seasons) > 0 {
		seasons = append(seasons, 'A')
		if positive {
			seasons = append(seasons, 'M')
		}
	}
	for _, season := range seasons {
		for _, t := range []trend{level, linear, damped} {
			if season != 'M' {
				out = append(out, form{trend: t, season: season})
			}
			if positive {
				out = append(out, form{relative: true, trend: t, season: season})
			}
		}
	}
	return out
}

// fitETS fits all forms with one season or none, and averages them by Akaike's criterion. Of two
// seasons the longest is taken.
func fitETS(s Series) (model, error) {
	if len(s.Seasons) > 1 {
		s.Seasons = s.Seasons[len(s.Seasons)-1:]
	}
	return bestETS(s, forms(s))
}

// fitDouble is exponential smoothing with all seasons at once and errors that carry
// over; fitETS is for one season.
func fitDouble(s Series) (model, error) {
	if len(s.Seasons) < 2 {
		return nil, errUnfit
	}
	return bestETS(s, []form{{season: 'A', carry: true}, {season: 'A', carry: true, trend: damped}})
}

func bestETS(s Series, tried []form) (model, error) {
	var all []scored
	for _, f := range tried {
		of := s
		if f.season == 'N' {
			of.Seasons = nil
		}
		if e, criterion := fitForm(of, f); !math.IsInf(criterion, 0) && !math.IsNaN(criterion) {
			all = append(all, scored{e, criterion})
		}
	}
	return akaike(all)
}

// evaluationsETS bounds the search: a form has six to nine parameters.
const evaluationsETS = 600

// fitForm maximises the likelihood over smoothing parameters and the first level and
// slope; the first seasonal indices are those of decompose.
func fitForm(s Series, f form) (*ets, float64) {
	filled := s.filled()
	p := decompose(filled, s.Seasons, f.season == 'M')
	first, slope := opening(p.adjusted(filled), s.longest(), f.trend)
	spread := math.Sqrt(variance(filled)) + 1e-9
	start := vector(f, len(s.Seasons))
	build := func(x []float64) *ets {
		e := smoothing(f, len(s.Seasons), x)
		e.seasons = s.Seasons
		e.state = state{level: first + spread*x[len(x)-2], indices: p.indices}
		if f.trend != level {
			e.slope = slope + spread/10*x[len(x)-1]
		}
		return e
	}
	fresh := func(x []float64) (*ets, state) {
		e := build(x)
		return e, e.state.clone()
	}
	x, _ := minimize(func(x []float64) float64 {
		e, run := fresh(x)
		minus2, _ := e.likelihood(s.Values, &run, nil)
		return minus2
	}, start, evaluationsETS)
	e, run := fresh(x)
	var errs residuals
	minus2, n := e.likelihood(s.Values, &run, &errs)
	k := float64(len(x)) + 1
	for _, m := range s.Seasons {
		k += float64(m - 1)
	}
	if f.trend == level {
		k-- // the slope is not used
	}
	e.state, e.errors = run, centredAt0(errs)
	return e, corrected(minus2, k, float64(n))
}

// corrected is Akaike's criterion with the correction for few values, if there are
// enough for that.
func corrected(minus2, k, n float64) float64 {
	out := minus2 + 2*k
	if n-k-1 > 0 {
		return out + 2*k*(k+1)/(n-k-1)
	}
	return out + 2*k*(k+1)
}

// opening estimates the level before the first value and the slope from the first
// values without their season.
func opening(adjusted []float64, m int, t trend) (first, slope float64) {
	n := min(len(adjusted), max(10, 2*m))
	if t == level {
		return mean(adjusted[:n]), 0
	}
	intercept, slope := line(adjusted[:n])
	return intercept - slope, slope
}

// vector is where the search begins: parameters mapped to all numbers, in the order in
// which smoothing reads them, and the shifts of first level and slope.
func vector(f form, seasons int) []float64 {
	x := []float64{back(0.3, 0, 1)}
	if f.trend != level {
		x = append(x, back(0.1, 0, 1))
	}
	if f.trend == damped {
		x = append(x, back(0.95, 0.8, 0.98))
	}
	for range seasons {
		x = append(x, back(0.1, 0, 1))
	}
	if f.carry {
		x = append(x, back(0.5, -0.98, 0.98))
	}
	return append(x, 0, 0)
}

// smoothing reads the parameters: alpha; beta below alpha; phi; gamma below 1 - alpha;
// rho.
func smoothing(f form, seasons int, x []float64) *ets {
	e := &ets{form: f, alpha: between(x[0], 0, 1)}
	x = x[1:]
	if f.trend != level {
		e.beta, e.phi = between(x[0], 0, e.alpha), 1
		x = x[1:]
	}
	if f.trend == damped {
		e.phi = between(x[0], 0.8, 0.98)
		x = x[1:]
	}
	for i := range seasons {
		e.gamma = append(e.gamma, between(x[i], 0, 1-e.alpha))
	}
	x = x[seasons:]
	if f.carry {
		e.rho = between(x[0], -0.98, 0.98)
	}
	return e
}
