package tune

import "math"

// layRungs divides what is left after the first trials: half explores, a third halves, the
// rest is for the changes of the last one alone.
func (s *Search) layRungs() {
	halving := float64(s.o.Trials-s.first) * 0.35
	for n := 2; float64(n)*math.Log2(float64(n)) <= 1.2*halving && n <= 16; n *= 2 {
		s.rungs = append([]int{n}, s.rungs...)
	}
	used := 0
	if len(s.rungs) > 0 {
		s.each = max(1, int(halving/float64(s.rungs[0]*len(s.rungs))))
		used = s.rungs[0] * len(s.rungs) * s.each
	}
	left := s.o.Trials - s.first
	s.explored = s.first + max(0, left-used-max(left/8, min(left/3, len(s.space.Knobs))))
}

// rung queues the best of those that stand, each as often as the rung can afford.
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

// split queues what remains to be known of the best setting: itself without the changes
// that gain nothing, and each of its changes alone.
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
