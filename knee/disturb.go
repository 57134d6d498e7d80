package knee

import (
	"fmt"
	"slices"

	"github.com/redline-go/redline/notation"
)

// Host says who used the CPUs of the target's host in a step, in CPUs.
type Host struct {
	CPUs float64 `json:"cpus"`
	Full bool    `json:"full"` // they were used up
	// Others is what programs other than the target, redline and the database used: also what the
	// target asks on this host, unless redline saw it.
	Others float64 `json:"others"`
}

const (
	// alike is the part of a step's served rate at which another step had as much load.
	alike = 0.9
	// leastTaken is the part of the CPUs that other programs must take from a step for it to be
	// disturbed: with less, the knee moves by no more than steps may be apart near it.
	leastTaken = neighbourly
)

// undisturbed returns the steps, with the outcome Disturbed for those that may have broken because other
// programs took the CPUs: all were used up, and other programs used more of them than in another step that
// served as much. What the load makes other programs do, such as a proxy before the target, they do in
// both. Whether a step was disturbed may thus show only in a later one.
func undisturbed(steps []Step) []Step {
	out := slices.Clone(steps)
	for i, s := range steps {
		if s.Outcome != Breaks || s.Host == nil || !s.Host.Full {
			continue
		}
		least, taken := s.Host.Others, 0.0
		for k, o := range steps {
			if k != i && o.Host != nil && o.Served >= alike*s.Served {
				least = min(least, o.Host.Others)
			}
		}
		if taken = s.Host.Others - least; taken < leastTaken*s.Host.CPUs {
			continue
		}
		out[i].Outcome = Disturbed
		out[i].Why = append([]string{fmt.Sprintf("other programs took %s of the host's %s, %s more than in another step with as much load",
			notation.Short(s.Host.Others), notation.Counted(int64(s.Host.CPUs), "CPU", "CPUs"), notation.Short(taken))}, s.Why...)
	}
	return out
}

// SearchOf returns the search for the knee that a session's steps make; nil without a step that served anything.
func SearchOf(steps []Step) *Search {
	guess := swept(steps)
	if guess <= 0 {
		return nil
	}
	s := NewSearch(guess)
	for _, step := range undisturbed(steps) {
		if step.Phase == Searched {
			s.Take(step)
		}
	}
	return s
}
