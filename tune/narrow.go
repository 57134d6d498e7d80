package tune

import "slices"

// narrow excludes the levels that are to blame for a failure: that of the only changed knob,
// or one that failed twice and never served. Levels beyond it are excluded too.
func (s *Search) narrow(x Setting) {
	changed := s.space.changed(x)
	for _, i := range changed {
		served, failed := 0, 0
		for _, t := range s.trials {
			switch {
			case t.Setting[i] != x[i]:
			case t.Failed != "":
				failed++
			default:
				served++
			}
		}
		if served == 0 && (len(changed) == 1 || failed > 1) {
			s.exclude(i, x[i])
		}
	}
}

func (s *Search) exclude(knob, level int) {
	k, present := s.space.Knobs[knob], s.space.Present[knob]
	s.excluded[knob][level] = true
	if !k.ordered(level) || !k.ordered(present) {
		return
	}
	from, at := k.Levels[present].At, k.Levels[level].At
	for l, other := range k.Levels {
		if k.ordered(l) && (at > from && other.At > at || at < from && other.At < at) {
			s.excluded[knob][l] = true
		}
	}
}

// Excluded lists a knob's values that the service did not survive, and those beyond.
func (s *Search) Excluded(knob int) (levels []int) {
	for l, out := range s.excluded[knob] {
		if out {
			levels = append(levels, l)
		}
	}
	return levels
}

// Ignore removes a knob from the search because the target ignores it.
func (s *Search) Ignore(knob int) {
	for l := range s.excluded[knob] {
		s.excluded[knob][l] = l != s.space.Present[knob]
	}
}

// possible reports whether a setting may be tried, because nothing known speaks
// against it.
func (s *Search) possible(x Setting) bool {
	for i, l := range x {
		if s.excluded[i][l] {
			return false
		}
	}
	return !slices.ContainsFunc(s.trials, func(t Trial) bool { return t.Failed != "" && slices.Equal(t.Setting, x) })
}

// count returns how often a setting was measured.
func (s *Search) count(x Setting) (n int) {
	for _, t := range s.trials {
		if t.Failed == "" && slices.Equal(t.Setting, x) {
			n++
		}
	}
	return n
}
