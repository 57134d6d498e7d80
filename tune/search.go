package tune

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Outcome is what a trial of a setting gave.
type Outcome struct {
	// Gain is the logarithm of the objective's ratio, candidate to present, + is better.
	// It means nothing where the trial failed.
	Gain float64 `json:"gain"`
	// Failed says why the candidate was not measured: it did not start, ended, or failed its
	// requests. Empty for one that served.
	Failed string `json:"failed,omitempty"`
	// Spoilt says that the load generator failed and not the candidate: no value is to blame.
	Spoilt bool `json:"spoilt,omitempty"`
	// Excess is the logarithm of a guarded figure over its limit, above 0 where the guard is
	// broken: of the guard that was broken most, or came nearest to it; Present is the same
	// of the present setting. Both are nil without guards.
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
	// Trials is how many there will be; at least 2 per knob are needed to say anything.
	Trials int
	Seed   uint64
	// Sweep tries every setting in turn instead of searching: for one knob, and to measure
	// what a search is compared with.
	Sweep bool
}

// worst is the loss beyond which settings are alike: half as good. A cliff would bend
// the process everywhere else.
const worst = -math.Ln2

// enumerated is up to how many settings all are considered at every proposal.
const enumerated = 4096

// Search proposes trials and takes their outcomes.
type Search struct {
	space  Space
	o      Options
	rng    *rand.Rand
	trials []Trial
	queue  []Trial
	phase  Phase

	first    int       // trials of each knob alone
	rungs    []int     // how many settings each rung to come has
	each     int       // trials of a setting in the next rung
	explored int       // up to how many trials proposals are made
	standing []Setting // of the present rung
	chosen   Setting   // after the last rung; nil before
	excluded [][]bool  // levels of knobs that the service does not survive

	model, guard       *process // nil once a trial came after them
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
	s.layRungs()
	return s
}

// ends are the trials of each knob alone: at both ends of its scale, or at some of the
// values of a list.
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

// Next proposes a trial; ok is false once the search has ended. It is to be answered by
// Observe.
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

// refill queues what comes next; false if nothing does.
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

// Observe takes the outcome of the trial that Next proposed last.
func (s *Search) Observe(t Trial) {
	s.trials = append(s.trials, t)
	s.model = nil
	if t.Failed != "" && !t.Spoilt {
		s.narrow(t.Setting)
	}
}

// narrow excludes the levels that a failure is to be blamed on: the only knob that was
// turned, or one whose level failed twice and never served. What lies beyond such a level is
// excluded with it.
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

// Ignore takes a knob out of the search: the target does not obey it.
func (s *Search) Ignore(knob int) {
	for l := range s.excluded[knob] {
		s.excluded[knob][l] = l != s.space.Present[knob]
	}
}

// possible reports whether a setting may be tried: nothing known speaks against it.
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

// candidates are the settings that a proposal is chosen from: all, or where they are too
// many some of them with the neighbours of the best.
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

// mostProposed is how often a setting is proposed for its promise: to repeat the best is what the rungs
// are for, and in much noise its neighbours say as much of it as itself.
const mostProposed = 3

// propose returns the setting with the greatest expected improvement on the best so far,
// weighted by how probably it keeps the guards; ok is false where none is left.
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
	top := math.Inf(-1)
	for _, x := range s.candidates() {
		if !s.possible(x) || len(s.space.changed(x)) == 0 || s.count(x) >= mostProposed {
			continue
		}
		mean, sd := s.model.predict(x)
		// What is known well is not measured again: the augmented criterion of Huang et al., Global
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
// Optimization of Expensive Black-Box Functions, 1998, equation 15); never 0, so that it
// has a logarithm.
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

// tried are the settings that served at least once, without the present one.
func (s *Search) tried() (out []Setting) {
	for _, d := range s.data(func(t Trial) float64 { return t.Gain }) {
		out = append(out, d.at)
	}
	return out
}

// ranked are the settings that a rung may hold, best first: those that were tried, and the
// one that the process believes in most.
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

// leader is the best setting of those that were tried and keep the guards: by the process, which
// knows the trials of all rungs, and not by the last rung alone.
func (s *Search) leader() (Setting, bool) {
	list := s.sorted(s.tried())
	if len(list) == 0 || s.keeps(list[0]) <= 0.5 {
		return nil, false
	}
	return list[0], true
}

// worthwhile is the loss, all together, for which a setting that changes less is always
// preferred: 0.5 %.
const worthwhile = 0.005

// plainer sets those knobs of a setting back that were not seen to gain anything, one at a time: the
// interval of the loss, all together, includes none.
func (s *Search) plainer(from Setting) Setting {
	x := from
	for {
		var next Setting
		least := math.Inf(1)
		for _, i := range s.space.changed(x) {
			y := x.with(i, s.space.Present[i])
			loss, sd := s.model.combine([]Setting{from, y}, []float64{1, -1})
			if loss <= math.Max(worthwhile, interval*sd) && loss < least && s.keeps(y) > 0.5 && s.possible(y) &&
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

// data gathers the trials of each setting that served.
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
		values[i] = append(values[i], math.Max(of(t), worst))
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

// between is after how many trials parameters are fitted anew.
const between = 4

// refit conditions the processes on the trials so far.
func (s *Search) refit() {
	if s.model != nil {
		return
	}
	again := s.fitted == 0 || len(s.trials) >= s.fitted+between
	s.model = s.condition(s.data(func(t Trial) float64 { return t.Gain }), s.lastFit, again)
	s.lastFit = &s.model.theta
	if slices.ContainsFunc(s.trials, func(t Trial) bool { return t.Excess != nil }) {
		here := s.presentExcess()
		s.guard = s.condition(s.data(func(t Trial) float64 {
			if t.Excess == nil {
				return 0
			}
			return *t.Excess - here
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

// presentExcess is the present setting's excess over all trials; negative infinity
// without guards.
func (s *Search) presentExcess() float64 {
	sum, n := 0.0, 0.0
	for _, t := range s.trials {
		if t.Present != nil {
			sum, n = sum+*t.Present, n+1
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
