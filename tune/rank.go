package tune

import (
	"cmp"
	"math"
	"slices"
)

// tried returns the settings that served at least once, without the present one.
func (s *Search) tried() (out []Setting) {
	for _, d := range s.data(func(t Trial) float64 { return t.Gain }) {
		out = append(out, d.at)
	}
	return out
}

// ranked returns the settings that a rung may hold, best first: those that were tried, and
// the one with the best prediction.
func (s *Search) ranked() []Setting {
	s.refit()
	all := s.tried()
	if s.space.Size() <= enumerated {
		var top Setting
		mean := math.Inf(-1)
		s.space.each(func(x Setting) {
			if m := s.model.mean(x); m > mean && s.possible(x) && s.keeps(x) > 0.5 && len(s.space.changed(x)) > 0 {
				top, mean = x, m
			}
		})
		if top != nil && !slices.ContainsFunc(all, func(x Setting) bool { return slices.Equal(x, top) }) {
			all = append(all, top)
		}
	}
	return s.sorted(all)
}

// sorted orders settings by the process's mean, those that keep the guards first.
func (s *Search) sorted(all []Setting) []Setting {
	s.refit()
	type scored struct {
		x     Setting
		keeps bool
		mean  float64
	}
	var list []scored
	for _, x := range all {
		if s.possible(x) {
			list = append(list, scored{x, s.keeps(x) > 0.5, s.model.mean(x)})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int {
		if a.keeps != b.keeps {
			if a.keeps {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.mean, a.mean)
	})
	out := make([]Setting, len(list))
	for i, c := range list {
		out[i] = c.x
	}
	return out
}

// leader returns the best of the settings that were tried and keep the guards, by the process,
// which includes the trials of all rungs, and not by the last rung alone.
func (s *Search) leader() (Setting, bool) {
	list := s.sorted(s.tried())
	if len(list) == 0 || s.keeps(list[0]) <= 0.5 {
		return nil, false
	}
	return list[0], true
}

const (
	// worthwhile is the total loss up to which a setting with fewer changes is always
	// preferred: 0.5 %.
	worthwhile = 0.005
	// tolerated is the expected loss that is accepted for fewer changes: 1 %.
	tolerated = 0.01
)

// plainer undoes, one at a time, the changes of a setting that showed no gain: the interval of the total loss
// includes zero, and the expected loss is small. With the interval alone, a search in much noise gave away
// several percent.
func (s *Search) plainer(from Setting) Setting {
	x := from
	for {
		var next Setting
		least := math.Inf(1)
		for _, i := range s.space.changed(x) {
			y := x.with(i, s.space.Present[i])
			loss, sd := s.model.combine([]Setting{from, y}, []float64{1, -1})
			unseen := loss <= interval*sd && expectedImprovement(loss, sd) <= tolerated
			if (loss <= worthwhile || unseen) && loss < least && s.keeps(y) > 0.5 && s.possible(y) &&
				len(s.space.changed(y)) > 0 {
				next, least = y, loss
			}
		}
		if next == nil {
			return x
		}
		x = next
	}
}

// clamped bounds an excess: half the limit keeps a guard and twice the limit breaks it, and a cliff beyond would distort
// the process everywhere else.
func clamped(excess float64) float64 { return math.Max(worst, math.Min(-worst, excess)) }

// presentExcess is the present setting's excess over all trials; negative infinity
// without guards.
func (s *Search) presentExcess() float64 {
	sum, n := 0.0, 0.0
	for _, t := range s.trials {
		if t.Present != nil {
			sum, n = sum+clamped(*t.Present), n+1
		}
	}
	if n == 0 {
		return math.Inf(-1)
	}
	return sum / n
}

// PresentBroken reports whether the present setting breaks a guard itself.
func (s *Search) PresentBroken() bool { return s.presentExcess() > 0 }

// keeps is the probability that a setting keeps the guards.
func (s *Search) keeps(x Setting) float64 {
	if s.guard == nil {
		return 1
	}
	mean, sd := s.guard.predict(x)
	return math.Max(1e-9, below(-(mean+s.presentExcess())/math.Max(sd, 1e-6)))
}
