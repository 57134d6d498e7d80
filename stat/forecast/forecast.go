package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Defaults of Options.
const (
	DefaultPaths    = 2000
	DefaultInterval = 0.8
	backtestPaths   = 300
)

// Options say what is forecast; the zero value of all but Horizon is usable.
type Options struct {
	Horizon  int     // steps; at least 1
	Interval float64 // share of futures within the intervals; zero means DefaultInterval
	Paths    int     // simulated; zero means DefaultPaths
	// Seed of the simulation: the same seed gives the same figures.
	Seed uint64
	// Holidays number the days that are unlike others, from 1, for each step of history and
	// horizon; 0 is an ordinary day. The models do not see the values of holidays in the
	// history; future holidays are taken to differ by as much as those did. Nil means none.
	Holidays []int
}

// Forecast is the continuation of a series. All slices have a value per step.
type Forecast struct {
	Model     string // the chosen candidate's form
	Middle    []float64
	Low, High []float64 // of the interval
	Interval  float64
	// Trials are all candidates of the backtest: their weighted mean, then best first.
	Trials []Trial
	// Origins of the backtest, and steps that each forecast.
	Origins, Ahead int
	// Held is the share of the backtest's values that lay within the intervals before
	// they were stretched by Stretch. NaN if nothing varied.
	Held, Stretch float64

	// HolidayFactor is the median factor by which the history's holidays differed from
	// what their season predicted; 1 without any.
	HolidayFactor float64

	paths [][]float64
}

// Choose backtests all candidates and forecasts with the first trial that fits. The
// error wraps ErrShort if the history is too short.
func Choose(s Series, o Options) (*Forecast, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	o.Horizon = max(1, o.Horizon)
	if o.Interval <= 0 || o.Interval >= 1 {
		o.Interval = DefaultInterval
	}
	if o.Paths <= 0 {
		o.Paths = DefaultPaths
	}
	s, factors := apart(s, o.Holidays)
	runs, trials, err := backtest(s, o.Horizon)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x5eed))
	chosen, t := best(s, o.Horizon, trials)
	if chosen == nil {
		return nil, errUnfit
	}
	t.Chosen, t.Model = true, chosen.name()
	f := &Forecast{Model: t.Model, Interval: o.Interval, Trials: trials, Origins: len(runs), Ahead: len(runs[0].actual),
		HolidayFactor: 1}
	f.Stretch, f.Held = calibration(runs, t.Name, o.Interval, rng)
	f.paths = futures(chosen, o.Horizon, o.Paths, rng)
	stretched(f.paths, bands(f.paths, o.Interval).middle, f.Stretch)
	middle := chosen.mean(o.Horizon)
	if len(factors) > 0 {
		f.HolidayFactor = median(factors)
		onHolidays(f.paths, middle, o.Holidays[len(s.Values):], factors, rng)
	}
	if nonNegative(s) {
		for _, p := range f.paths {
			for i := range p {
				p[i] = max(0, p[i])
			}
		}
	}
	b := bands(f.paths, o.Interval)
	f.Middle, f.Low, f.High = middle, b.low, b.high
	for i := range f.Middle {
		f.Middle[i] = min(max(f.Middle[i], f.Low[i]), f.High[i])
	}
	return f, nil
}

// best fits the first trial to the whole history that can be fitted to it.
func best(s Series, horizon int, trials []Trial) (model, *Trial) {
	models, tried := map[string]model{}, map[string]bool{}
	fit := func(name string) model {
		for _, c := range candidates {
			if c.name == name && !tried[name] {
				tried[name] = true
				if m := c.fitted(s, horizon); m != nil {
					models[name] = m
				}
			}
		}
		return models[name]
	}
	for i := range trials {
		t := &trials[i]
		for name := range t.weights {
			fit(name)
		}
		if t.weights != nil {
			models[t.Name] = mixed(t.weights, models)
		}
		if m := fit(t.Name); m != nil {
			return m, t
		}
	}
	return nil, nil
}

// nonNegative reports whether the history never falls below zero; then its future does not.
func nonNegative(s Series) bool {
	return !slices.ContainsFunc(s.Values, func(v float64) bool { return v < 0 })
}

func futures(m model, steps, n int, rng *rand.Rand) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, steps)
		m.path(rng, out[i])
	}
	return out
}

// stretched moves every path away from the middle, in place.
func stretched(paths [][]float64, middle []float64, by float64) {
	for _, p := range paths {
		for i := range p {
			p[i] = middle[i] + by*(p[i]-middle[i])
		}
	}
}

type band struct{ low, middle, high []float64 }

// bands are quantiles per step.
func bands(paths [][]float64, interval float64) band {
	steps := len(paths[0])
	b := band{make([]float64, steps), make([]float64, steps), make([]float64, steps)}
	column := make([]float64, len(paths))
	for i := range steps {
		for j, p := range paths {
			column[j] = p[i]
		}
		slices.Sort(column)
		b.low[i], b.middle[i], b.high[i] = quantile(column, (1-interval)/2), quantile(column, 0.5), quantile(column,
			(1+interval)/2)
	}
	return b
}

// quantile of sorted values, between neighbours by a line (Hyndman and Fan's type 7).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Passage is when a limit is reached for the first time, in steps from the end of the
// history: 0 is the first forecast step. A step of -1 lies beyond the horizon.
type Passage struct {
	Early, Middle, Late int
	// Share of the futures that reach the limit within the horizon, 0 to 1.
	Share float64
}

// Reaches returns the step at which the limit is first reached or passed: the middle is the
// step by which half of all futures did, early and late bound the interval.
func (f *Forecast) Reaches(limit float64) Passage {
	var steps []int
	for _, p := range f.paths {
		if i := slices.IndexFunc(p, func(v float64) bool { return v >= limit }); i >= 0 {
			steps = append(steps, i)
		}
	}
	slices.Sort(steps)
	by := func(share float64) int {
		// The smallest step by which at least that share of all futures was there.
		if i := int(math.Ceil(share*float64(len(f.paths)))) - 1; i < len(steps) {
			return steps[max(0, i)]
		}
		return -1
	}
	return Passage{by((1 - f.Interval) / 2), by(0.5), by((1 + f.Interval) / 2),
		float64(len(steps)) / float64(len(f.paths))}
}
