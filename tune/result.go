package tune

import (
	"math"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/verify"
)

// Schema names the JSON that `redline tune --json` prints.
const Schema = "redline.tune/1"

// Verdict is the outcome of a tune.
type Verdict string

// Verdicts.
const (
	Recommend   Verdict = "recommend"   // a new session confirmed a better setting
	Keep        Verdict = "keep"        // none was found, or the new session did not confirm it
	Unmet       Verdict = "unmet"       // no setting keeps the guards
	Invalid     Verdict = "invalid"     // nothing comparable was measured
	Interrupted Verdict = "interrupted" // before there was a verdict
)

// Result is tune.json.
type Result struct {
	Schema    string   `json:"schema"`
	Verdict   Verdict  `json:"verdict"`
	Why       string   `json:"why"`
	Objective string   `json:"objective"`
	Guards    []string `json:"guards"`
	Service   string   `json:"service"` // the present setting's side in words, without secrets
	Seed      uint64   `json:"seed"`

	Knobs  []KnobResult `json:"knobs"`
	Trials int          `json:"trials"` // pairs of launches that the search took
	// Running is set if the target was already running: pairs are then stretches of load on
	// one process.
	Running bool `json:"running,omitempty"`
	// Space is how many settings there are, Tried how many of them were measured.
	Space int `json:"space"`
	Tried int `json:"tried"`
	// Noise is the standard deviation of one trial's relative difference, 0.05 for 5 %.
	Noise float64 `json:"noise"`

	// Best is the setting that the search ended with, whether or not it is recommended, and
	// Lines how it is set: variables, then flags, each on one line.
	Best     []Value       `json:"best"`
	Lines    []string      `json:"lines"`
	Expected *Gain         `json:"expected,omitempty"` // of Best, under the search's process
	Worth    []Worth       `json:"worth"`
	Together []Interaction `json:"together"`
	Measured []Measured    `json:"measured"`
	Surface  *Surface      `json:"surface,omitempty"`
	// Confirmed is the confirming session's result, with Best as side b; nil if there
	// was none.
	Confirmed *verify.Result `json:"confirmed,omitempty"`
	PGO       *Inlining      `json:"pgo,omitempty"`
	Warnings  []string       `json:"warnings"`
}

// KnobResult is a knob with its result.
type KnobResult struct {
	Name    string   `json:"name"`
	Scale   string   `json:"scale"` // "log", "linear" or "list"
	Levels  []string `json:"levels"`
	Present string   `json:"present"`
	// Remark says that the target ignores the knob, that no effect was seen, or which values
	// it did not survive; empty for one that just works.
	Remark string `json:"remark,omitempty"`
	// Curve is the search's estimate along the knob, with the others as in Best.
	Curve []Point `json:"curve"`
	// Plateau is the lowest value beyond which more gains less than 2 %; empty if there is none.
	Plateau string `json:"plateau,omitempty"`
}

// Surface is the search's estimate over two knobs, with the others as in Best.
type Surface struct {
	X    string   `json:"x"`
	Y    string   `json:"y"`
	Xs   []string `json:"xs"`
	Ys   []string `json:"ys"`
	Gain [][]Gain `json:"gain"` // [y][x]
	// Trials of exactly these settings; Out marks those that must not be
	// recommended.
	Trials [][]int  `json:"trials"`
	Out    [][]bool `json:"out"`
	// PresentX and so on are indexes into Xs and Ys.
	PresentX int `json:"present_x"`
	PresentY int `json:"present_y"`
	BestX    int `json:"best_x"`
	BestY    int `json:"best_y"`
}

// Inlining is what the compiler inlines only with a profile.
type Inlining struct {
	Calls []Inlined `json:"calls"` // at hot functions, hottest first
	Total int       `json:"total"` // in the compared packages
}

// Inlined is one call that only the build with the profile inlines.
type Inlined struct {
	Caller string `json:"caller"` // file:line
	Callee string `json:"callee"`
	// Share is the part of the profile's CPU in the callee, with its own callees, 0
	// to 1.
	Share float64 `json:"share"`
}

// Result summarises the search; best is nil if it ended without a setting. remarks are
// the measurement's own, by knob.
func (s *Search) Result(best Setting, remarks []string) Result {
	r := Result{Schema: Schema, Trials: len(s.trials), Space: s.space.Size(), Tried: len(s.tried()), Best: []Value{},
		Lines:  []string{},
		Guards: []string{}, Worth: []Worth{}, Together: []Interaction{}, Warnings: []string{}, Measured: []Measured{}}
	at := s.space.Present
	if len(s.trials) > 0 {
		r.Noise, r.Measured = math.Expm1(s.Noise()), s.Measured()
	}
	if best != nil {
		at = best
		r.Best, r.Lines = s.space.Values(best), s.space.Lines(best)
		expected := s.Gain(best)
		r.Expected = &expected
		r.Worth, r.Together = s.Worth(best)
	}
	for i, k := range s.space.Knobs {
		r.Knobs = append(r.Knobs, s.knob(i, k, at, remarks[i]))
	}
	if x, y, ok := s.drawn(at); ok && len(s.trials) > 0 {
		r.Surface = s.surface(x, y, at)
	}
	return r
}

func (s *Search) knob(i int, k Knob, at Setting, remark string) KnobResult {
	out := KnobResult{Name: k.Name, Scale: k.Scale(), Present: k.Levels[s.space.Present[i]].String(), Remark: remark,
		Curve: []Point{}}
	for _, l := range k.Levels {
		out.Levels = append(out.Levels, l.String())
	}
	if len(s.trials) == 0 {
		return out
	}
	out.Curve = s.Curve(i, at)
	if remark == "" {
		out.Remark = s.remark(i, k)
	}
	if plateau, ok := Plateau(k, out.Curve); ok && k.Numeric && out.Remark == "" {
		out.Plateau = k.Levels[plateau].String()
	}
	return out
}

// remark describes what the search found about a knob, if that is worth a warning.
func (s *Search) remark(i int, k Knob) string {
	var lost []string
	for _, l := range s.Excluded(i) {
		lost = append(lost, k.Levels[l].String())
	}
	if len(lost) > 0 {
		why := ""
		for _, t := range s.trials {
			if t.Failed != "" && t.Setting[i] != s.space.Present[i] && s.excluded[i][t.Setting[i]] {
				why = brief(t.Failed)
				break
			}
		}
		return "not survived at " + strings.Join(lost, ", ") + ": " + why
	}
	if idle, least := s.Idle(i); idle {
		return "no effect seen alone; one of " + notation.Tenths(least) + " would have been"
	}
	return ""
}

// drawn chooses the two knobs that matter most, by how far their curves rise and fall.
func (s *Search) drawn(at Setting) (x, y int, ok bool) {
	if len(s.space.Knobs) < 2 {
		return 0, 0, false
	}
	first, second := -1.0, -1.0
	x, y = -1, -1
	for i := range s.space.Knobs {
		low, high := math.Inf(1), math.Inf(-1)
		for _, p := range s.Curve(i, at) {
			if !p.Out {
				low, high = math.Min(low, p.Gain.Gain), math.Max(high, p.Gain.Gain)
			}
		}
		switch reach := high - low; {
		case reach > first:
			y, second = x, first
			x, first = i, reach
		case reach > second:
			y, second = i, reach
		}
	}
	return x, y, x >= 0 && y >= 0
}

func (s *Search) surface(x, y int, at Setting) *Surface {
	kx, ky := s.space.Knobs[x], s.space.Knobs[y]
	out := &Surface{X: kx.Name, Y: ky.Name, PresentX: s.space.Present[x], PresentY: s.space.Present[y], BestX: at[x],
		BestY: at[y]}
	for _, l := range kx.Levels {
		out.Xs = append(out.Xs, l.String())
	}
	for j, l := range ky.Levels {
		out.Ys = append(out.Ys, l.String())
		var gains []Gain
		var trials []int
		var outs []bool
		for i := range kx.Levels {
			z := at.with(x, i).with(y, j)
			gains, trials, outs = append(gains, s.Gain(z)), append(trials, s.count(z)), append(outs, !s.possible(z) ||
				s.keeps(z) <= 0.5)
		}
		out.Gain, out.Trials, out.Out = append(out.Gain, gains), append(out.Trials, trials), append(out.Out, outs)
	}
	return out
}

// Lines returns how a setting's changes are set: lines of the environment, then the flags,
// then how to build, then the requests of live knobs.
func (s Space) Lines(x Setting) (lines []string) {
	var flags, requests []string
	build := ""
	for _, i := range s.changed(x) {
		k, l := s.Knobs[i], s.Knobs[i].Levels[x[i]]
		switch {
		case k.Kind == PGO && l.Text == "on":
			build = "go build -pgo=default.pgo"
		case k.Kind == Flag && l.Unset:
			flags = append(flags, "(without "+k.Key+")")
		case k.Kind == Flag:
			flags = append(flags, k.Key+"="+l.Text)
		case k.Kind == PGO:
		case k.Kind == Live && l.Unset:
		case k.Kind == Live:
			requests = append(requests, k.Request.Words(l.Text))
		case l.Unset:
			lines = append(lines, "unset "+k.Key)
		default:
			lines = append(lines, k.Key+"="+l.Text)
		}
	}
	if len(flags) > 0 {
		lines = append(lines, strings.Join(flags, " "))
	}
	if build != "" {
		lines = append(lines, build)
	}
	return append(lines, requests...)
}
