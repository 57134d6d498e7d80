package forecast

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// candidate is a way to fit a model; combination takes part of the others' fits.
type candidate struct {
	name string
	fit  func(Series) (model, error)
	// member says that its forecast is part of the mean.
	member bool
}

var candidates = []candidate{
	{"seasonal naive", fitNaive, false},
	{"ETS", fitETS, true},
	{"ARIMA", fitARIMA, true},
	{"ARIMA of logarithms", ofLogs(fitARIMA), false},
	{"Theta", fitTheta, true},
	{"double-season ETS", fitDouble, true},
	{"double-season ETS of logarithms", ofLogs(fitDouble), false},
}

// mixture is the name of the mean of the members.
const mixture = "mean of members"

func ofLogs(fit func(Series) (model, error)) func(Series) (model, error) {
	return func(s Series) (model, error) {
		if !s.positive() {
			return nil, errUnfit
		}
		m, err := fit(inLogs(s))
		if err != nil {
			return nil, err
		}
		return logged{m}, nil
	}
}

// Trial is how one candidate did in the backtest.
type Trial struct {
	Name string
	MASE float64 // mean over the origins
	// Chosen marks the one that forecasts; Model is its form where it is chosen.
	Chosen bool
	Model  string
}

// fitAll fits every candidate that fits; those whose forecast is no number are left out.
func fitAll(s Series, horizon int, only func(string) bool) map[string]model {
	out := map[string]model{}
	var members []model
	for _, c := range candidates {
		if !only(c.name) && !(c.member && only(mixture)) {
			continue
		}
		m, err := c.fit(s)
		if err != nil || !sound(m.mean(horizon), s) {
			continue
		}
		out[c.name] = m
		if c.member {
			members = append(members, m)
		}
	}
	if len(members) > 1 {
		out[mixture] = &combined{members: members}
	}
	return out
}

// sound reports whether a forecast is finite and not absurd beside the history.
func sound(forecast []float64, s Series) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range s.Values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	room := 10 * (high - low + math.Abs(high))
	for _, v := range forecast {
		if math.IsNaN(v) || v < low-room || v > high+room {
			return false
		}
	}
	return true
}

// past is one origin of the backtest.
type past struct {
	training Series
	actual   []float64
	models   map[string]model
}

// mostOrigins of a backtest: each fits every candidate anew.
const mostOrigins = 6

// origins places the ends of the training histories: at most half of the values is
// forecast, never further than the horizon asked for.
func origins(s Series, horizon int) (ends []int, ahead int) {
	n, m := len(s.Values), s.longest()
	ahead = min(horizon, max(n/5, 1))
	first := max(n/2, LeastValues-2, 2*m+2)
	last := n - ahead
	if first > last {
		first = last
	}
	count := min(mostOrigins, last-first+1)
	for i := range count {
		end := last
		if count > 1 {
			end = first + (last-first)*i/(count-1)
		}
		ends = append(ends, end)
	}
	return ends, ahead
}

// backtest fits all candidates at all origins and returns the trials, best first.
func backtest(s Series, horizon int) ([]past, []Trial, error) {
	ends, ahead := origins(s, horizon)
	var runs []past
	sums, counts := map[string]float64{}, map[string]int{}
	judged := 0
	for _, end := range ends {
		training := s.until(end)
		if training.Check() != nil {
			continue
		}
		r := past{training, s.Values[end : end+ahead], fitAll(training, ahead, func(string) bool { return true })}
		runs = append(runs, r)
		seen := false
		for name, m := range r.models {
			if e := MASE(training, r.actual, m.mean(ahead)); !math.IsNaN(e) {
				sums[name] += e
				counts[name]++
				seen = true
			}
		}
		if seen {
			judged++
		}
	}
	if judged == 0 {
		return nil, nil, fmt.Errorf("%w: nothing of it can be forecast from what came before", ErrShort)
	}
	var trials []Trial
	for name, n := range counts {
		if n == judged { // one that failed at an origin cannot be relied on
			trials = append(trials, Trial{Name: name, MASE: sums[name] / float64(n)})
		}
	}
	slices.SortFunc(trials, func(a, b Trial) int {
		if a.MASE != b.MASE {
			if a.MASE < b.MASE {
				return -1
			}
			return 1
		}
		return rank(a.Name) - rank(b.Name)
	})
	if len(trials) == 0 {
		return nil, nil, errors.New("no model fits the history")
	}
	return runs, trials, nil
}

// rank is a candidate's place among equals: the simpler first.
func rank(name string) int {
	for i, c := range candidates {
		if c.name == name {
			return i
		}
	}
	return len(candidates)
}

// calibration returns by how much intervals must be stretched for a share of the
// backtest's values to lie within them, and the share that lay within them as they
// were (Vovk, Gammerman and Shafer's conformal prediction, pooled over steps). Few
// origins move it less, since the errors of one origin go together.
func calibration(runs []past, name string, nominal float64, rng *rand.Rand) (stretch, held float64) {
	var ratios []float64
	for _, r := range runs {
		m := r.models[name]
		if m == nil {
			continue
		}
		b := bands(futures(m, len(r.actual), backtestPaths, rng), nominal)
		for i, v := range r.actual {
			side := b.high[i] - b.middle[i]
			if v < b.middle[i] {
				side = b.middle[i] - b.low[i]
			}
			if ratio := math.Abs(v-b.middle[i]) / side; !math.IsNaN(ratio) && !math.IsInf(ratio, 0) {
				ratios = append(ratios, ratio)
			}
		}
	}
	if len(ratios) == 0 {
		return 1, math.NaN()
	}
	slices.Sort(ratios)
	within, _ := slices.BinarySearch(ratios, 1)
	held = float64(within) / float64(len(ratios))
	weight := float64(len(runs)) / float64(len(runs)+2)
	return math.Pow(min(3, max(0.4, quantile(ratios, nominal))), weight), held
}
