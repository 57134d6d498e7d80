package tune

import (
	"cmp"
	"math"
	"slices"
)

// layRungs divides the trials of a round: half for exploration, a third for halving, the rest for the
// changes of the last setting, one at a time.
func (s *Search) layRungs(from, to int) {
	s.rungs, s.standing = nil, nil
	halving := float64(to-from) * 0.35
	for n := 2; float64(n)*math.Log2(float64(n)) <= 1.2*halving && n <= 16; n *= 2 {
		s.rungs = append([]int{n}, s.rungs...)
	}
	used := 0
	if len(s.rungs) > 0 {
		s.each = max(1, int(halving/float64(s.rungs[0]*len(s.rungs))))
		used = s.rungs[0] * len(s.rungs) * s.each
	}
	left := to - from
	s.explored = from + max(0, left-used-max(left/8, min(left/3, len(s.space.Knobs))))
}

// rung queues the best of the remaining settings, each as often as the rung can
// afford.
func (s *Search) rung() bool {
	n := s.rungs[0]
	s.rungs = s.rungs[1:]
	if s.standing == nil {
		s.standing = s.ranked()
	} else {
		s.standing = s.sorted(s.standing)
	}
	s.standing = s.standing[:min(n, len(s.standing))]
	for range s.each {
		for _, x := range s.standing {
			s.queue = append(s.queue, Trial{Setting: x, Phase: Halve})
		}
	}
	s.each *= 2
	return len(s.queue) > 0 || len(s.rungs) > 0
}

// split queues the last trials of the best setting: without the changes that gain
// nothing, and each of its changes alone.
func (s *Search) split() bool {
	best, ok := s.leader()
	if !ok {
		return false
	}
	s.chosen = s.plainer(best)
	changed := s.space.changed(s.chosen)
	if s.count(s.chosen) == 0 {
		s.queue = append(s.queue, Trial{Setting: s.chosen, Phase: Split}, Trial{Setting: s.chosen, Phase: Split})
	}
	if len(changed) > 1 {
		for _, i := range changed {
			s.queue = append(s.queue, Trial{Setting: s.space.Present.with(i, s.chosen[i]), Phase: Split})
		}
	}
	return len(s.queue) > 0
}

// again begins a round of twice the trials if the last one is estimated to have chosen a setting more than
// 0.5 % from the best: noise, which is not known beforehand, decides how many trials a choice takes (the
// doubling of Auer et al., Gambling in a Rigged Casino, FOCS 1995, section 4, for an unknown horizon).
func (s *Search) again() bool {
	if s.round >= s.o.Trials || s.regret() <= worthwhile {
		return false
	}
	s.round = min(2*s.round, s.o.Trials)
	s.layRungs(len(s.trials), s.round)
	return true
}

// The number of settings that regret considers, and of samples that it draws.
const (
	rivals = 40
	drawn  = 400
)

// regret is how far the leader is expected to fall short of the best: the mean, over samples of the process,
// of the best rival's lead (Ryzhov, Powell and Frazier's opportunity cost). Rivals are the settings with the
// highest means.
func (s *Search) regret() float64 {
	best, ok := s.leader()
	if !ok {
		return 0
	}
	type rival struct {
		x    Setting
		mean float64
	}
	var list []rival
	for _, x := range s.candidates() {
		if s.possible(x) && s.keeps(x) > 0.5 {
			list = append(list, rival{x, s.model.mean(x)})
		}
	}
	slices.SortStableFunc(list, func(a, b rival) int { return cmp.Compare(b.mean, a.mean) })
	at := []Setting{best}
	for _, r := range list[:min(rivals, len(list))] {
		at = append(at, r.x)
	}
	means, root := s.model.joint(at)
	sum, z := 0.0, make([]float64, len(at))
	for range drawn {
		for i := range z {
			z[i] = s.rng.NormFloat64()
		}
		lead, own := 0.0, 0.0
		for i := range at {
			v := means[i]
			for j := range i + 1 {
				v += root.At(i, j) * z[j]
			}
			if i == 0 {
				own = v
			}
			lead = math.Max(lead, v-own)
		}
		sum += lead
	}
	return sum / drawn
}
