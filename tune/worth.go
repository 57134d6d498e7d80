package tune

import (
	"math"
	"slices"
	"strings"
)

// interval is the half width of a 90 % interval in standard deviations.
const interval = 1.645

// Gain is a relative change of the objective, + is better, with its 90 % interval under
// the process: 0.10 is 10 % more throughput, or CPU per request divided by 1.10.
type Gain struct {
	Gain float64 `json:"gain"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func gain(mean, sd float64) Gain {
	return Gain{math.Expm1(mean), math.Expm1(mean - interval*sd), math.Expm1(mean + interval*sd)}
}

// Worth is what one of a setting's changes gives.
type Worth struct {
	Knob  string `json:"knob"`
	From  string `json:"from"`
	To    string `json:"to"`
	Alone Gain   `json:"alone"` // changed alone, from the present setting
	Last  Gain   `json:"last"`  // changed last, after the others
}

// Interaction is what two changes gain together beyond the product of both alone.
type Interaction struct {
	A      string `json:"a"`
	B      string `json:"b"`
	Both   Gain   `json:"both"`   // from the present setting
	Excess Gain   `json:"excess"` // over both alone: above 0 they help each other
}

// Measured is a setting with its trials.
type Measured struct {
	Values []Value `json:"values"`
	Trials int     `json:"trials"`
	Gain   *Gain   `json:"gain,omitempty"` // nil where it never served
	// Out says why it cannot be recommended: it failed, or broke a guard.
	Out string `json:"out,omitempty"`

	setting Setting
}

// Chosen returns the setting that the search ended with; false if none is better under the process than the
// present one, or none keeps the guards.
func (s *Search) Chosen() (Setting, bool) {
	if s.o.Sweep {
		return s.bestSwept()
	}
	best, ok := s.leader()
	if !ok {
		return nil, false
	}
	s.refit()
	if c := s.chosen; c != nil && s.count(c) > 0 && s.keeps(c) > 0.5 && s.possible(c) {
		loss, sd := s.model.combine([]Setting{best, c}, []float64{1, -1})
		if loss <= math.Max(2*worthwhile, sd) {
			best = c
		}
	}
	return best, s.model.mean(best) > 0 || s.PresentBroken()
}

// bestSwept returns the best setting of a sweep: of those that the process cannot separate, the
// one with the fewest changes.
func (s *Search) bestSwept() (Setting, bool) {
	list := s.sorted(s.tried())
	if len(list) == 0 || s.keeps(list[0]) <= 0.5 {
		return nil, false
	}
	best := s.plainer(list[0])
	return best, s.model.mean(best) > 0 || s.PresentBroken()
}

// Gain returns the process's estimate for a setting.
func (s *Search) Gain(x Setting) Gain {
	s.refit()
	return gain(s.model.predict(x))
}

// Noise is the standard deviation of one trial's logarithm of the ratio.
func (s *Search) Noise() float64 {
	s.refit()
	return s.model.theta.noise
}

// Trials returns the trials so far, in order.
func (s *Search) Trials() []Trial { return s.trials }

// Worth returns what each change of a setting gains, and each two of them together.
func (s *Search) Worth(x Setting) (worth []Worth, together []Interaction) {
	s.refit()
	changed, present := s.space.changed(x), s.space.Present
	for n, i := range changed {
		k := s.space.Knobs[i]
		alone := present.with(i, x[i])
		worth = append(worth, Worth{
			Knob: k.Name, From: k.Levels[present[i]].String(), To: k.Levels[x[i]].String(), Alone: gain(s.model.predict(alone)),
			Last: gain(s.model.combine([]Setting{x, x.with(i, present[i])}, []float64{1, -1})),
		})
		for _, j := range changed[n+1:] {
			both := alone.with(j, x[j])
			together = append(together, Interaction{
				A: k.Name, B: s.space.Knobs[j].Name, Both: gain(s.model.predict(both)),
				Excess: gain(s.model.combine([]Setting{both, alone, present.with(j, x[j])}, []float64{1, -1, -1})),
			})
		}
	}
	return worth, together
}

// Measured returns all settings that were tried, best first; those that must not be
// recommended come last.
func (s *Search) Measured() (out []Measured) {
	s.refit()
	for _, t := range s.trials {
		i := slices.IndexFunc(out, func(m Measured) bool { return slices.Equal(m.setting, t.Setting) })
		if i < 0 {
			i = len(out)
			out = append(out, Measured{Values: s.space.Values(t.Setting), setting: t.Setting})
		}
		m := &out[i]
		m.Trials++
		switch {
		case t.Failed != "":
			m.Out, m.Gain = brief(t.Failed), nil
		case m.Out == "" && m.Gain == nil:
			g := s.Gain(t.Setting)
			m.Gain = &g
			if s.keeps(t.Setting) <= 0.5 {
				m.Out = "breaks " + s.broken(t.Setting)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Measured) int {
		switch aOut, bOut := a.Out != "", b.Out != ""; {
		case aOut != bOut && aOut:
			return 1
		case aOut != bOut:
			return -1
		case a.Gain == nil || b.Gain == nil || a.Gain.Gain == b.Gain.Gain:
			return 0
		case a.Gain.Gain > b.Gain.Gain:
			return -1
		}
		return 1
	})
	return out
}

// brief returns a failure in one line: its first two lines, because the first line of the target's own
// output follows the reason.
func brief(failed string) string {
	lines := strings.SplitN(strings.TrimPrefix(failed, "side b: "), "\n", 3)
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, " |")
	}
	return strings.Join(lines[:min(2, len(lines))], ": ")
}

// broken names the guard that a setting broke most recently.
func (s *Search) broken(x Setting) string {
	for _, t := range slices.Backward(s.trials) {
		if slices.Equal(t.Setting, x) && t.Broken != "" {
			return t.Broken
		}
	}
	return "a guard, judging by its neighbours"
}

// Point is one value of a knob along its scale, the other knobs at a setting.
type Point struct {
	Value string  `json:"value"`
	At    float64 `json:"at"` // as Level.At
	Gain
	Trials  int  `json:"trials"` // of exactly this setting
	Present bool `json:"present,omitempty"`
	Chosen  bool `json:"chosen,omitempty"`
	Out     bool `json:"out,omitempty"` // excluded, or failed
}

// Curve returns the process's estimate along a knob, with the other knobs as in a
// setting.
func (s *Search) Curve(knob int, x Setting) (points []Point) {
	s.refit()
	for l, level := range s.space.Knobs[knob].Levels {
		y := x.with(knob, l)
		at := level.At
		if math.IsNaN(at) {
			at = 0 // a word has no place on the scale, and JSON has no NaN
		}
		points = append(points, Point{
			Value: level.String(), At: at, Gain: s.Gain(y), Trials: s.count(y),
			Present: l == s.space.Present[knob], Chosen: l == x[knob], Out: !s.possible(y),
		})
	}
	return points
}

// plateauShare is how far the plateau may be below the best value.
const plateauShare = 0.02

// Plateau returns the lowest value of a knob beyond which more of it gains less than 2 %: the first
// whose mean is that close to the best one's. ok is false for a list of words, if the lowest value is
// as good as any, and if the highest is the first such value, because what lies beyond it is unknown.
func Plateau(k Knob, points []Point) (at int, ok bool) {
	best := math.Inf(-1)
	for l, p := range points {
		if k.ordered(l) && !p.Out {
			best = math.Max(best, p.Gain.Gain)
		}
	}
	lowest, found := true, -1
	for l, p := range points {
		switch {
		case !k.ordered(l) || p.Out:
		case found >= 0:
			return found, true // and there is more of it
		case math.Log1p(p.Gain.Gain) >= math.Log1p(best)-plateauShare:
			if lowest {
				return 0, false
			}
			found = l
		default:
			lowest = false
		}
	}
	return 0, false
}

// Idle reports whether a knob showed no effect: nowhere along it does the difference from
// the present setting exceed its interval. least is the smallest effect that would have
// been detected at the knob's ends.
func (s *Search) Idle(knob int) (idle bool, least float64) {
	s.refit()
	tried := false
	for _, p := range s.Curve(knob, s.space.Present) {
		if p.Present || p.Trials == 0 {
			continue
		}
		tried = true
		if p.Low > 0 || p.High < 0 {
			return false, 0
		}
		least = math.Max(least, math.Max(p.High, -p.Low))
	}
	return tried, least
}
