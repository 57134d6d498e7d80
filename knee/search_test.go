package knee

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// service is a simulated one: it breaks from a rate on that varies from step to step.
type service struct {
	knee, spread float64
	lapses       float64 // share of steps that show the contrary
	rng          *rand.Rand
}

func (s service) try(rate float64) Step {
	holds := math.Log(s.knee/rate)+s.spread*s.rng.NormFloat64() > 0
	if s.rng.Float64() < s.lapses {
		holds = !holds
	}
	step := Step{Phase: Searched, Launch: 1, Rate: rate, Served: min(rate, s.knee), Outcome: Breaks, Why: []string{"p99 < 20ms fails"}}
	if holds {
		step.Outcome, step.Why = Holds, nil
	}
	return step
}

// search tries rates until the search is done or the steps are used up.
func (s service) search(guess float64, most int) (*Search, int) {
	found := NewSearch(guess)
	for n := 1; n <= most; n++ {
		rate, _ := found.Next()
		found.Take(s.try(rate))
		if found.Done() {
			return found, n
		}
	}
	return found, most
}

// TestIntervalsCoverTheKnee: the truth lies in the interval nine times in ten or more, for knees
// that are sharp or gradual, steps that lie, and guesses that are wrong.
func TestIntervalsCoverTheKnee(t *testing.T) {
	const rounds = 100
	for _, c := range []struct {
		name                          string
		spread, lapses, guess, widest float64
	}{
		{"sharp", 0.001, 0, 1.02, 0.065},
		{"sharp, steps lie", 0.001, 0.05, 1, 0.07},
		{"gradual", 0.01, 0, 0.97, 0.07},
		{"gradual, steps lie", 0.01, 0.05, 1.05, 0.075},
		{"half of what the sweep served", 0.005, 0.02, 2, 0.085},
		{"far above what the sweep served", 0.005, 0.02, 0.3, 0.085},
	} {
		covered, width, steps := 0, 0.0, 0
		for seed := range uint64(rounds) {
			s := service{knee: 800, spread: c.spread, lapses: c.lapses, rng: rand.New(rand.NewPCG(seed, 7))}
			found, n := s.search(c.guess*s.knee, 18)
			i := found.Interval()
			if i.Low <= s.knee && s.knee <= i.High {
				covered++
			}
			width += i.Width() / rounds
			steps += n
		}
		t.Logf("%s: %d of %d, width %.3f, %.1f steps", c.name, covered, rounds, width, float64(steps)/rounds)
		if covered < 0.93*rounds || width > c.widest {
			t.Errorf("%s: %d of %d intervals hold the knee, their mean width is %.3f", c.name, covered, rounds, width)
		}
	}
}

func TestStepsGoUpAndDown(t *testing.T) {
	s := service{knee: 100, rng: rand.New(rand.NewPCG(1, 1))}
	found, _ := s.search(100, 12)
	up, down := 0, 0
	for i, one := range found.tried[1:] {
		switch before := found.tried[i]; {
		case one.rate > before.rate:
			up++
		case one.rate < before.rate:
			down++
		}
	}
	if up < 3 || down < 3 || !found.Bounded() {
		t.Errorf("%d steps up and %d down: %v", up, down, found.tried)
	}
}

// TestGeneratorIsTheLimit: rates that the generator cannot offer end the search with
// that, and not with a knee.
func TestGeneratorIsTheLimit(t *testing.T) {
	found := NewSearch(1000)
	for range 20 {
		if found.Stuck() != "" {
			break
		}
		rate, _ := found.Next()
		step := Step{Phase: Searched, Rate: rate, Outcome: Holds}
		if rate > 900 {
			step.Outcome = Void
		}
		found.Take(step)
	}
	if why := found.Stuck(); !strings.Contains(why, "the generator is the limit") || found.Bounded() {
		t.Errorf("%q, bounded %v", why, found.Bounded())
	}
}

func TestNeverSteady(t *testing.T) {
	found := NewSearch(1000)
	for i := range 20 {
		if found.Stuck() != "" {
			break
		}
		rate, longer := found.Next()
		if i == 1 && longer != 2 {
			t.Errorf("the second step is %v times as long", longer)
		}
		found.Take(Step{Phase: Searched, Rate: rate, Outcome: Unsteady})
	}
	if why := found.Stuck(); !strings.Contains(why, "no rate was steady") {
		t.Errorf("%q", why)
	}
}

func TestNothingHolds(t *testing.T) {
	found := NewSearch(1000)
	for range 40 {
		if found.Stuck() != "" {
			break
		}
		rate, _ := found.Next()
		found.Take(Step{Phase: Searched, Rate: rate, Outcome: Breaks})
	}
	if why := found.Stuck(); !strings.Contains(why, "failed at every rate") {
		t.Errorf("%q", why)
	}
}

// TestEndsAtTheLowestRates: one exit can be enough to say that no rate holds.
func TestEndsAtTheLowestRates(t *testing.T) {
	found := NewSearch(1000)
	for found.Stuck() == "" {
		found.Add(200, false)
	}
	found.ended = 1
	if why := found.Stuck(); !strings.Contains(why, "in 1 launch,") {
		t.Errorf("%q", why)
	}
}
