package tune

import (
	"math"
	"math/rand/v2"
)

// Outcome is the result of a trial of a setting.
type Outcome struct {
	// Gain is the logarithm of the objective's ratio, candidate to present, + is better.
	// It is meaningless if the trial failed.
	Gain float64 `json:"gain"`
	// Failed says why the candidate was not measured: it did not start, ended, or failed its
	// requests. Empty for one that served.
	Failed string `json:"failed,omitempty"`
	// Spoilt is set if the load generator failed and not the candidate: no value is to blame.
	Spoilt bool `json:"spoilt,omitempty"`
	// Excess is the logarithm of a guarded figure over its limit, above 0 if the guard is
	// broken, for the guard that is broken most or comes nearest to it; Present is the same
	// for the present setting. Both are nil without guards.
	Excess  *float64 `json:"excess,omitempty"`
	Present *float64 `json:"present_excess,omitempty"`
	// Broken names the guard that Excess broke.
	Broken string `json:"broken,omitempty"`
}

// Trial is a setting that was measured once against the present one.
type Trial struct {
	Setting Setting `json:"setting"`
	Phase   Phase   `json:"phase"`
	Outcome
}

// Phase is what a trial is for.
type Phase string

// Phases of a search, in order; Swept replaces all of them.
const (
	Alone   Phase = "each knob alone"
	Explore Phase = "exploring"
	Halve   Phase = "halving"
	Split   Phase = "changes alone"
	Swept   Phase = "sweep"
)

// Options say how to search.
type Options struct {
	// Trials is the maximum; at least 2 per knob are needed to say anything. A search ends earlier if it
	// expects its choice to lose less than 0.5 %.
	Trials int
	Seed   uint64
	// Sweep tries every setting in turn instead of searching: for one knob, and as a
	// reference for searches.
	Sweep bool
}

// worst is the loss at which values are clamped: half as good. A cliff would distort
// the process everywhere else.
const worst = -math.Ln2

// perKnob trials per knob make a first round: on a quiet machine more gain nothing.
const perKnob = 40

// enumerated is the largest number of settings that are all considered at every
// proposal.
const enumerated = 4096

// Search proposes trials and takes their outcomes.
type Search struct {
	space  Space
	o      Options
	rng    *rand.Rand
	trials []Trial
	queue  []Trial
	phase  Phase

	round    int       // the number of trials at which the present round ends
	first    int       // trials of each knob alone
	rungs    []int     // the number of settings in each coming rung
	each     int       // trials of a setting in the next rung
	explored int       // the number of trials at which proposals end
	standing []Setting // of the present rung
	chosen   Setting   // after the last rung; nil before
	excluded [][]bool  // levels of knobs that the service does not survive

	model, guard       *process // nil once a newer trial exists
	lastFit, lastGuard *theta
	fitted             int // trials at the last fit of parameters
}

// NewSearch begins a search.
func NewSearch(space Space, o Options) *Search {
	s := &Search{space: space, o: o, rng: rand.New(rand.NewPCG(o.Seed, 11)), phase: Alone}
	for _, k := range space.Knobs {
		s.excluded = append(s.excluded, make([]bool, len(k.Levels)))
	}
	if o.Sweep {
		s.phase = Swept
		return s
	}
	s.queue = s.ends()
	s.first = len(s.queue)
	s.round = min(o.Trials, perKnob*len(space.Knobs))
	s.layRungs(s.first, s.round)
	return s
}

// ends returns the trials of each knob alone: at both ends of its scale, or at some of
// the values of a list.
func (s *Search) ends() (queue []Trial) {
	for i, k := range s.space.Knobs {
		var levels []int
		for l := range k.Levels {
			if l != s.space.Present[i] && (!k.ordered(l) || l == 0 || l == s.highest(i)) {
				levels = append(levels, l)
			}
		}
		s.rng.Shuffle(len(levels), func(a, b int) { levels[a], levels[b] = levels[b], levels[a] })
		for _, l := range levels[:min(3, len(levels))] {
			queue = append(queue, Trial{Setting: s.space.Present.with(i, l), Phase: Alone})
		}
	}
	s.rng.Shuffle(len(queue), func(a, b int) { queue[a], queue[b] = queue[b], queue[a] })
	return queue[:min(len(queue), max(1, s.o.Trials))]
}

func (s *Search) highest(knob int) int {
	levels := s.space.Knobs[knob].Levels
	for l := len(levels) - 1; l > 0; l-- {
		if s.space.Knobs[knob].ordered(l) {
			return l
		}
	}
	return 0
}

// Next proposes a trial; ok is false once the search has ended. Each must be followed
// by Observe.
func (s *Search) Next() (t Trial, ok bool) {
	for len(s.trials) < s.o.Trials {
		for len(s.queue) > 0 {
			t, s.queue = s.queue[0], s.queue[1:]
			if s.possible(t.Setting) {
				s.phase = t.Phase
				return t, true
			}
		}
		if !s.refill() {
			return t, false
		}
	}
	return t, false
}

// refill queues the next trials; false if there are none.
func (s *Search) refill() bool {
	switch {
	case s.o.Sweep:
		return s.sweep()
	case len(s.trials) < s.explored && s.standing == nil:
		if x, ok := s.propose(); ok {
			s.queue = append(s.queue, Trial{Setting: x, Phase: Explore})
			return true
		}
		fallthrough
	case len(s.rungs) > 0:
		return s.rung()
	case s.chosen == nil && s.again():
		return s.refill()
	case s.chosen == nil:
		return s.split()
	}
	return false
}

// sweep queues every setting once, in random order: a drift of the machine then looks like
// noise and not like a slope.
func (s *Search) sweep() bool {
	s.space.each(func(x Setting) {
		if s.possible(x) && len(s.space.changed(x)) > 0 {
			s.queue = append(s.queue, Trial{Setting: x, Phase: Swept})
		}
	})
	s.rng.Shuffle(len(s.queue), func(a, b int) { s.queue[a], s.queue[b] = s.queue[b], s.queue[a] })
	return len(s.queue) > 0
}

// Observe takes the outcome of the trial that Next proposed last.
func (s *Search) Observe(t Trial) {
	s.trials = append(s.trials, t)
	s.model = nil
	if t.Failed != "" && !t.Spoilt {
		s.narrow(t.Setting)
	}
}
