package tune

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/verify"
)

func TestSameSeedSameSearch(t *testing.T) {
	space := spaceOf(t, map[string]string{"GOGC": "100", "env:POOL": "4"}, "GOGC=50..400", "env:POOL=2..64")
	run := func(seed uint64) []Trial {
		rng := rand.New(rand.NewPCG(1, 1))
		s := NewSearch(space, Options{Trials: 30, Seed: seed})
		for {
			x, ok := s.Next()
			if !ok {
				return s.Trials()
			}
			x.Gain = 0.05*rng.NormFloat64() + 0.1*float64(x.Setting[1])/6
			s.Observe(x)
		}
	}
	one, same, other := run(7), run(7), run(8)
	if !reflect.DeepEqual(one, same) {
		t.Error("the same seed and outcomes gave other trials: an interrupted search cannot go on")
	}
	if reflect.DeepEqual(one, other) {
		t.Error("another seed gave the same trials")
	}
	var phases []Phase
	for _, trial := range one {
		if len(phases) == 0 || phases[len(phases)-1] != trial.Phase {
			phases = append(phases, trial.Phase)
		}
	}
	if want := []Phase{Alone, Explore, Halve}; len(one) > 30 || len(phases) < 3 || !slices.Equal(phases[:3], want) {
		t.Errorf("%d trials in phases %v", len(one), phases)
	}
}

// TestFailuresAreNotRepeated: what failed alone is out with all beyond it, in any company.
func TestFailuresAreNotRepeated(t *testing.T) {
	space := spaceOf(t, map[string]string{"GOGC": "100", "env:POOL": "4"}, "GOGC=50..400", "env:POOL=2..64")
	s := NewSearch(space, Options{Trials: 40, Seed: 2})
	failures := 0
	for {
		x, ok := s.Next()
		if !ok {
			break
		}
		if pool := space.Knobs[1].Levels[x.Setting[1]]; pool.At > 0.7 { // 36 and 64
			x.Failed = "it ended"
			failures++
		} else {
			x.Gain = 0.3 * (pool.At - space.Knobs[1].Levels[space.Present[1]].At)
		}
		s.Observe(x)
	}
	if failures > 3 {
		t.Errorf("%d trials of a pool that the service does not survive", failures)
	}
	x, ok := s.Chosen()
	if got := space.Knobs[1].Levels[x[1]].Text; !ok || got != "20" {
		t.Errorf("chosen: a pool of %s, and 20 is the largest that works", got)
	}
	if curve := s.Curve(1, x); !curve[6].Out || curve[4].Out {
		t.Errorf("the curve does not show what failed: %+v", curve)
	}
}

// TestNarrowing: what lies beyond a value that fails alone is out as well, and nothing else.
func TestNarrowing(t *testing.T) {
	space := spaceOf(t, map[string]string{"GOGC": "100", "env:POOL": "4"}, "GOGC=50..400", "env:POOL=2..64")
	s := NewSearch(space, Options{Trials: 40, Seed: 2})
	s.Observe(Trial{Setting: space.Present.with(1, 5), Outcome: Outcome{Failed: "it ended"}})
	if out := s.Excluded(1); !slices.Equal(out, []int{5, 6}) {
		t.Errorf("levels %v are out after 36 failed, want those of 36 and 64", out)
	}
	// Of two knobs that were turned together either may be to blame.
	s.Observe(Trial{Setting: space.Present.with(0, 0).with(1, 0), Outcome: Outcome{Failed: "it ended"}})
	if out := s.Excluded(0); len(out) > 0 || len(s.Excluded(1)) != 2 || s.possible(space.Present.with(0, 0).with(1,
		0)) {
		t.Errorf("a failure of two values together: %v and %v are out", out, s.Excluded(1))
	}
}

// TestMoreTrialsSayMore: a setting's value is known by the square root of its trials better.
func TestMoreTrialsSayMore(t *testing.T) {
	space := spaceOf(t, map[string]string{"GOGC": "100"}, "GOGC=50..400")
	sd := func(n int) float64 {
		p := newProcess(space, []observed{{at: Setting{6}, mean: 0.1, n: n}}, theta{length: []float64{0.2},
			alone: 0.4, joint: 0.4, noise: 0.1})
		_, sd := p.predict(Setting{6})
		return sd
	}
	if ratio := sd(1) / sd(16); math.Abs(ratio-4) > 0.2 {
		t.Errorf("16 trials are %.2f times as sure as one, want 4", ratio)
	}
}

// TestSpoiltTrialsNarrowNothing: a generator that cannot keep up says nothing about a value.
func TestSpoiltTrialsNarrowNothing(t *testing.T) {
	space := spaceOf(t, map[string]string{"GOGC": "100"}, "GOGC=50..400")
	s := NewSearch(space, Options{Trials: 10, Seed: 2})
	x, _ := s.Next()
	x.Failed, x.Spoilt = "the generator could not keep up", true
	s.Observe(x)
	if out := s.Excluded(0); len(out) > 0 {
		t.Errorf("levels %v are out", out)
	}
}

func TestSweepIsWhole(t *testing.T) {
	space := spaceOf(t, map[string]string{"GOGC": "100", "GOMAXPROCS": "2"}, "GOGC=50..400", "GOMAXPROCS=1..4")
	s := NewSearch(space, Options{Trials: 2 * (space.Size() - 1), Seed: 3, Sweep: true})
	for {
		x, ok := s.Next()
		if !ok {
			break
		}
		s.Observe(x)
	}
	space.each(func(x Setting) {
		if want := map[bool]int{true: 0, false: 2}[slices.Equal(x, space.Present)]; s.count(x) != want {
			t.Errorf("%s was tried %d times, want %d", space.String(x), s.count(x), want)
		}
	})
}

// TestPlainer: a change that gains nothing is not recommended with one that does.
func TestPlainer(t *testing.T) {
	space := spaceOf(t, map[string]string{"env:POOL": "4", "env:IDLE": "3"}, "env:POOL=2..64", "env:IDLE=1..9")
	rng := rand.New(rand.NewPCG(4, 4))
	s := NewSearch(space, Options{Trials: 50, Seed: 4})
	for {
		x, ok := s.Next()
		if !ok {
			break
		}
		x.Gain = 0.4*(space.Knobs[0].Levels[x.Setting[0]].At-space.Knobs[0].Levels[space.Present[0]].At) +
			0.02*rng.NormFloat64()
		s.Observe(x)
	}
	x, ok := s.Chosen()
	if !ok || x[1] != space.Present[1] || x[0] == space.Present[0] {
		t.Errorf("chosen: %s", space.String(x))
	}
	worth, _ := s.Worth(x)
	if len(worth) != 1 || worth[0].Alone.Low <= 0 {
		t.Errorf("worth: %+v", worth)
	}
	if idle, least := s.Idle(1); !idle || least > 0.1 {
		t.Errorf("a knob that does nothing: idle %v, an effect of %.2f would have been seen", idle, least)
	}
}

// TestInteraction: two knobs that only help together.
func TestInteraction(t *testing.T) {
	space := spaceOf(t, map[string]string{"env:A": "0", "env:B": "0"}, "env:A=0..4", "env:B=0..4")
	f := func(x Setting) float64 {
		return 0.3*space.Knobs[0].Levels[x[0]].At*space.Knobs[1].Levels[x[1]].At - 0.03*float64(len(space.changed(x)))
	}
	s := NewSearch(space, Options{Trials: 100, Seed: 5, Sweep: true})
	for {
		x, ok := s.Next()
		if !ok {
			break
		}
		x.Gain = f(x.Setting)
		s.Observe(x)
	}
	x, ok := s.Chosen()
	if !ok || x[0] != 4 || x[1] != 4 {
		t.Fatalf("chosen: %s", space.String(x))
	}
	_, together := s.Worth(x)
	if len(together) != 1 || math.Abs(math.Log1p(together[0].Excess.Gain)-0.30) > 0.015 {
		t.Errorf("what both give beyond each alone: %+v", together)
	}
}

func TestPlateau(t *testing.T) {
	k, err := ParseKnob("env:POOL=1..8")
	if err != nil {
		t.Fatal(err)
	}
	points := func(gains ...float64) (out []Point) {
		for _, g := range gains {
			out = append(out, Point{Gain: Gain{Gain: g}})
		}
		return out
	}
	if at, ok := Plateau(k, points(0, 0.2, 0.39, 0.4, 0.4, 0.4)); !ok || at != 2 {
		t.Errorf("plateau at %d, %v", at, ok)
	}
	if _, ok := Plateau(k, points(0.4, 0.4, 0.39, 0.4, 0.4, 0.4)); ok {
		t.Error("a flat curve has a plateau")
	}
	if _, ok := Plateau(k, points(0, 0.1, 0.2, 0.3, 0.4, 0.5)); ok {
		t.Error("a curve that rises to its end has a plateau")
	}
}

// TestIntervalsCover: the truth lies within the intervals of 90 % about as often as they say.
func TestIntervalsCover(t *testing.T) {
	space := spaceOf(t, map[string]string{"GOGC": "100", "env:POOL": "4"}, "GOGC=50..400", "env:POOL=2..64")
	rng := rand.New(rand.NewPCG(6, 6))
	covered, all := 0, 0
	for i := range 20 {
		f := func(x Setting) float64 {
			return 0.2*space.Knobs[1].Levels[x[1]].At + 0.01*float64(i)*math.Sin(2*space.Knobs[0].Levels[x[0]].At)
		}
		s := NewSearch(space, Options{Trials: 40, Seed: uint64(i)})
		for {
			x, ok := s.Next()
			if !ok {
				break
			}
			x.Gain = f(x.Setting) - f(space.Present) + 0.05*rng.NormFloat64()
			s.Observe(x)
		}
		for _, x := range s.tried() {
			g, truth := s.Gain(x), math.Expm1(f(x)-f(space.Present))
			all++
			if g.Low <= truth && truth <= g.High {
				covered++
			}
		}
	}
	if share := float64(covered) / float64(all); share < 0.8 {
		t.Errorf("intervals of 90 %% cover the truth in %.0f %% of %d settings", 100*share, all)
	}
}

func TestParseObjective(t *testing.T) {
	for _, c := range []struct {
		text   string
		guards []string
		open   bool
		want   string
	}{
		{"", nil, false, "more throughput"},
		{"", nil, true, "less CPU per request"},
		{"throughput at p99 < 20ms", []string{"rss < 512MiB"}, false, "more throughput at p99 < 20ms and rss < 512MiB"},
		{"p99", []string{"errors < 1%"}, true, "less p99 at errors < 1%"},
		{"p99", []string{"errors < 0%"}, true, "error: guard \"errors < 0%\": the limit must be above 0"},
		{"memory", nil, false, "less memory"},
		{"throughput", nil, true, "error: the rate determines the throughput"},
		{"p99", nil, false, "error: in a closed loop"},
		{"speed", nil, false, "error: unknown objective"},
		{"cpu", []string{"p99 > 20ms"}, false, "error: guard \"p99 > 20ms\": a guard is an upper limit"},
		{"cpu", []string{"rss < much"}, false, "error: guard \"rss < much\""},
		{"cpu", []string{"rate < 5/s"}, false, "error: guard \"rate < 5/s\": guards are on"},
		{"cpu", []string{"latency"}, false, "error: guard \"latency\""},
	} {
		o, err := ParseObjective(c.text, c.guards, c.open)
		got := o.String()
		if err != nil {
			got = "error: " + err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%q %v: %s; want %s", c.text, c.guards, got, c.want)
		}
	}
}

// TestErrorsGuard: the limit is absolute, and one that the present setting breaks is seen as broken.
func TestErrorsGuard(t *testing.T) {
	o, err := ParseObjective("throughput", []string{"errors < 0.1%"}, false)
	if err != nil {
		t.Fatal(err)
	}
	block := func(errors float64) verify.Block {
		return verify.Block{Values: map[string]float64{"throughput": 100}, Errors: errors}
	}
	for _, c := range []struct {
		a, b                   float64
		present, broken, fails bool
	}{
		{0, 0, false, false, false},
		{0, 0.0009, false, false, false},
		{0, 0.0020, false, true, true},
		{0.0050, 0.0055, true, true, false},
		{0.0050, 0.0001, true, false, false},
		{0.0050, 0.0500, true, true, true},
	} {
		out := o.Outcome(verify.Pair{A: block(c.a), B: block(c.b)})
		if (*out.Present > 0) != c.present || (out.Broken != "") != c.broken || (out.Failed != "") != c.fails {
			t.Errorf("%v, then %v: %+v", c.a, c.b, out)
		}
	}
	plain, _ := ParseObjective("throughput", nil, false)
	if out := plain.Outcome(verify.Pair{A: block(0.005), B: block(0.0055)}); out.Failed != "" || out.Excess != nil {
		t.Errorf("without a guard: %+v", out)
	}
}

// TestRegret: where the choice is clear little is expected to be lost by it, and in noise more; a round follows
// only there.
func TestRegret(t *testing.T) {
	space := spaceOf(t, map[string]string{"GOGC": "100"}, "GOGC=50..400")
	searched := func(sd float64, each int) *Search {
		rng := rand.New(rand.NewPCG(8, 8))
		s := NewSearch(space, Options{Trials: 400, Seed: 8})
		for range each {
			for l := range space.Knobs[0].Levels {
				if l != space.Present[0] {
					s.Observe(Trial{Setting: Setting{l}, Outcome: Outcome{Gain: 0.3*space.Knobs[0].Levels[l].At + sd*rng.NormFloat64()}})
				}
			}
		}
		return s
	}
	if s := searched(0.002, 5); s.again() {
		t.Errorf("another round, where %.4f is expected to be lost", s.regret())
	}
	if s := searched(0.3, 2); !s.again() || s.round != 2*perKnob || s.explored <= len(s.Trials()) {
		t.Errorf("no other round, where %.4f is expected to be lost", s.regret())
	}
}
