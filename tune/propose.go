package tune

import (
	"cmp"
	"math"
	"slices"
)

// candidates returns the settings from which a proposal is chosen: all, or if they are
// too many, some of them with the neighbours of the best.
func (s *Search) candidates() (out []Setting) {
	if s.space.Size() <= enumerated {
		s.space.each(func(x Setting) { out = append(out, x) })
		return out
	}
	for range enumerated {
		x := slices.Clone(s.space.Present)
		for i, k := range s.space.Knobs {
			x[i] = s.rng.IntN(len(k.Levels))
		}
		out = append(out, x)
	}
	for _, x := range s.ranked()[:min(8, len(s.tried()))] {
		for i, k := range s.space.Knobs {
			for l := range k.Levels {
				out = append(out, x.with(i, l))
			}
		}
	}
	return out
}

// mostProposed is how often a setting may be proposed: repeating the best is the rungs' task, and in
// much noise its neighbours say as much about it as it does.
const mostProposed = 3

// propose returns the setting with the greatest expected improvement on the best so far,
// weighted by the probability that it keeps the guards; ok is false if none is left.
func (s *Search) propose() (best Setting, ok bool) {
	s.refit()
	incumbent := 0.0
	if s.PresentBroken() {
		incumbent = worst
	}
	for _, x := range s.tried() {
		if s.keeps(x) > 0.5 {
			mean, sd := s.model.predict(x)
			incumbent = math.Max(incumbent, mean-sd)
		}
	}
	// A mean is quick to compute, a deviation is not. No score exceeds that with the process's prior
	// deviation, so settings are visited by their means, and the first one that cannot win ends the loop.
	type promising struct {
		x    Setting
		mean float64
	}
	var list []promising
	for _, x := range s.candidates() {
		list = append(list, promising{x, s.model.mean(x)})
	}
	slices.SortStableFunc(list, func(a, b promising) int { return cmp.Compare(b.mean, a.mean) })
	widest := math.Sqrt(s.model.covariance(s.space.Present, s.space.Present))
	top := math.Inf(-1)
	for _, c := range list {
		if math.Log(expectedImprovement(c.mean-incumbent, widest)) < top {
			break
		}
		x := c.x
		if !s.possible(x) || len(s.space.changed(x)) == 0 || s.count(x) >= mostProposed {
			continue
		}
		mean, sd := s.model.predict(x)
		// Do not measure again what is well known: the augmented criterion of Huang et al., Global
		// Optimization of Stochastic Black-Box Systems, 2006, equation 12.
		news := 1 - s.model.theta.noise/math.Hypot(s.model.theta.noise, sd)
		score := math.Log(expectedImprovement(mean-incumbent, sd)) + math.Log(news) + math.Log(s.keeps(x))
		if score > top {
			best, top = x, score
		}
	}
	return best, best != nil
}

// expectedImprovement of a normal variable over 0 (Jones et al., Efficient Global
// Optimization of Expensive Black-Box Functions, 1998, equation 15); never 0, so that
// its logarithm exists.
func expectedImprovement(mean, sd float64) float64 {
	const least = 1e-300
	if sd <= 0 {
		return math.Max(mean, least)
	}
	z := mean / sd
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	return math.Max(mean*below(z)+sd*density, least)
}

// below is the standard normal distribution function.
func below(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// data collects the trials of each setting that served.
func (s *Search) data(of func(Trial) float64) (out []observed) {
	index := map[string]int{}
	var values [][]float64
	for _, t := range s.trials {
		if t.Failed != "" {
			continue
		}
		key := t.Setting.key()
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out, values = append(out, observed{at: t.Setting}), append(values, nil)
		}
		values[i] = append(values[i], of(t))
	}
	for i, list := range values {
		d := &out[i]
		d.n = len(list)
		for _, v := range list {
			d.mean += v / float64(d.n)
		}
		for _, v := range list {
			d.within += (v - d.mean) * (v - d.mean)
		}
	}
	return out
}

// between is the number of trials after which parameters are refitted, or a tenth of the previous trials if
// that is more: four more trials hardly change what hundreds showed, and a fit takes as long as hundreds of
// proposals.
const between = 4

// refit conditions the processes on the trials so far.
func (s *Search) refit() {
	if s.model != nil {
		return
	}
	again := s.fitted == 0 || len(s.trials) >= s.fitted+max(between, s.fitted/10)
	s.model = s.condition(s.data(func(t Trial) float64 { return math.Max(t.Gain, worst) }), s.lastFit, again)
	s.lastFit = &s.model.theta
	if slices.ContainsFunc(s.trials, func(t Trial) bool { return t.Excess != nil }) {
		here := s.presentExcess()
		s.guard = s.condition(s.data(func(t Trial) float64 {
			if t.Excess == nil {
				return 0
			}
			return clamped(*t.Excess) - here
		}), s.lastGuard, again)
		s.lastGuard = &s.guard.theta
	}
	if again {
		s.fitted = len(s.trials)
	}
}

func (s *Search) condition(data []observed, from *theta, again bool) *process {
	if from != nil && !again {
		if p := newProcess(s.space, data, *from); p != nil {
			return p
		}
	}
	return fit(s.space, data, from)
}
