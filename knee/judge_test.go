package knee

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// windows returns those of a step of 6 s: the number in progress begins at from and
// grows by so many a second, and wanders.
func windows(from, perSecond, wander float64, p50 func(at float64) float64) Windows {
	rng := rand.New(rand.NewPCG(3, 3))
	w := Windows{Seconds: 0.1}
	for i := range 60 {
		at := float64(i) / 10
		w.Progress = append(w.Progress, from+perSecond*at+wander*rng.NormFloat64())
		w.P50 = append(w.P50, p50(at))
	}
	w.Progress[7], w.P50[7] = math.NaN(), math.NaN() // a gap
	return w
}

func level(v float64) func(float64) float64 { return func(float64) float64 { return v } }

func TestJudge(t *testing.T) {
	shifts := func(at float64) float64 {
		if at > 3 {
			return 9e6
		}
		return 5e6
	}
	for _, c := range []struct {
		name    string
		w       Windows
		broken  []string
		void    string
		poisson bool
		want    Outcome
		why     string
	}{
		{"keeps up", windows(5, 0, 1, level(5e6)), nil, "", false, Holds, ""},
		{"falls behind by 1 %", windows(5, 8, 1, level(5e6)), nil, "", false, Breaks, "stayed behind"},
		{"wanders more than it falls behind", windows(5, 2, 1, level(5e6)), nil, "", false, Holds, ""},
		{"random arrivals wander", windows(20, 8, 10, level(5e6)), nil, "", true, Holds, ""},
		{"random arrivals, far behind", windows(20, 80, 10, level(5e6)), nil, "", true, Breaks, "stayed behind"},
		{"an objective fails", windows(5, 0, 1, level(5e6)), []string{"p99 < 20ms failed"}, "", false, Breaks, "p99"},
		{"the generator is late", windows(5, 0, 1, level(5e6)), nil, "late", false, Void, "late"},
		{"broken, and late for it", windows(5, 40, 1, level(5e6)), nil, "late", false, Breaks, "stayed behind"},
		{"the level shifts", windows(5, 0, 1, shifts), nil, "", false, Unsteady, "shifted"},
		{"nothing was seen", Windows{Seconds: 0.1}, nil, "", false, Holds, ""},
	} {
		s := Step{Rate: 800, Measured: 6 * time.Second}
		s.Assess(c.w, c.broken, c.void, c.poisson)
		if s.Outcome != c.want || !strings.Contains(strings.Join(s.Why, "; "), c.why) {
			t.Errorf("%s: %s because of %v, want %s", c.name, s.Outcome, s.Why, c.want)
		}
	}
}

// TestAShiftIsDatedByTheClock: windows in which nothing ended count as time.
func TestAShiftIsDatedByTheClock(t *testing.T) {
	w := windows(5, 0, 1, func(at float64) float64 {
		switch {
		case at < 2:
			return math.NaN()
		case at < 4:
			return 5e6
		}
		return 9e6
	})
	s := Step{Rate: 800, Measured: 6 * time.Second}
	s.Assess(w, nil, "", false)
	if want := "the median latency shifted by 80 % after 4.0 s"; s.Outcome != Unsteady || s.Why[0] != want {
		t.Errorf("%s because of %q, want %q", s.Outcome, s.Why, want)
	}
}

// TestOneSidedAnswers: what a session without steps on both sides of the knee says of it.
func TestOneSidedAnswers(t *testing.T) {
	for _, c := range []struct {
		name     string
		searched []Step
		want     string
	}{
		{"nothing was tried", nil, "no rate was tried"},
		{"all held", []Step{{Rate: 90, Outcome: Holds}, {Rate: 99, Outcome: Holds}}, "the knee is above 99.00/s"},
		{"the least that broke", []Step{{Rate: 2.9, Outcome: Breaks}, {Rate: 2.1, Outcome: Breaks}}, "the knee is below 2.10/s"},
		{"the target ended", []Step{{Rate: 90, Outcome: Breaks}, {Rate: 80, Outcome: Ended}}, "the knee is below 80.00/s"},
		{"the least rate shows nothing", []Step{{Rate: 90, Outcome: Breaks}, {Rate: 70, Outcome: Void}}, "the knee is below 90.00/s"},
		{"no rate shows anything", []Step{{Rate: 90, Outcome: Unsteady}, {Rate: 70, Outcome: Void}}, "no step showed"},
	} {
		steps := []Step{{Phase: Up, Served: 100, Outcome: Holds}}
		for _, s := range c.searched {
			s.Phase, s.Launch = Searched, 1
			steps = append(steps, s)
		}
		if a := Decide(Header{}, steps, "", false); a.State != Undecided || !strings.Contains(a.Why, c.want) {
			t.Errorf("%s: %s %q, want %q", c.name, a.State, a.Why, c.want)
		}
	}
}

// TestAFewRequestsAreNoTrend: at a low rate half a percent is less than one request.
func TestAFewRequestsAreNoTrend(t *testing.T) {
	s := Step{Rate: 20, Measured: 6 * time.Second}
	s.Assess(windows(1, 0.3, 0.2, level(5e6)), nil, "", false)
	if s.Growth < leastGrowth || s.Outcome != Holds {
		t.Errorf("growth %v: %s", s.Growth, s.Outcome)
	}
}

func TestDerivedObjectives(t *testing.T) {
	for p99, want := range map[int64]string{300e3: "p99 < 20ms", 5_430_000: "p99 < 55ms", 123e6: "p99 < 1300ms"} {
		if words := derive(Step{P99: p99}).Words(); !strings.Contains(words, want) || !strings.Contains(words, "errors < 1%") {
			t.Errorf("p99 %d: %s, want %s", p99, words, want)
		}
	}
}
