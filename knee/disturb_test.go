package knee

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// at is a step that a host of two CPUs was used up in, or not, with what other programs used of them.
func at(phase Phase, served float64, outcome Outcome, full bool, others float64) Step {
	return Step{Phase: phase, Launch: 1, Rate: served, Served: served, Outcome: outcome, Host: &Host{CPUs: 2, Full: full, Others: others}}
}

func TestUndisturbed(t *testing.T) {
	quiet := at(Up, 800, Holds, false, 0.1)
	for name, c := range map[string]struct {
		steps []Step // the first is judged
		want  Outcome
	}{
		"others took the CPUs":                      {[]Step{at(Searched, 400, Breaks, true, 1.3), quiet}, Disturbed},
		"CPUs were left":                            {[]Step{at(Searched, 400, Breaks, false, 1.3), quiet}, Breaks},
		"it held nevertheless":                      {[]Step{at(Searched, 400, Holds, true, 1.3), quiet}, Holds},
		"the load makes others work, such as proxy": {[]Step{at(Searched, 800, Breaks, true, 1.0), at(Up, 790, Holds, true, 0.95)}, Breaks},
		"the other step served less":                {[]Step{at(Searched, 800, Breaks, true, 1.0), at(Up, 400, Holds, true, 0.2)}, Breaks},
		"no other step":                             {[]Step{at(Searched, 800, Breaks, true, 1.0)}, Breaks},
		"nothing is known of the host":              {[]Step{{Phase: Searched, Served: 400, Outcome: Breaks}, quiet}, Breaks},
	} {
		before := c.steps[0].Outcome
		got := undisturbed(c.steps)[0]
		if got.Outcome != c.want || (c.want == Disturbed) != (len(got.Why) == 1) || c.steps[0].Outcome != before {
			t.Errorf("%s: %s %q, want %s", name, got.Outcome, got.Why, c.want)
		}
	}
}

// TestTheKneeBesideOthers: other programs halve what every other step can serve. The intervals are narrow and cover the knee all
// the same, because those steps do not count.
func TestTheKneeBesideOthers(t *testing.T) {
	const rounds, knee = 60, 800.0
	covered := 0
	for seed := range uint64(rounds) {
		s := service{knee: knee, spread: 0.005, rng: rand.New(rand.NewPCG(seed, 11))}
		steps := []Step{at(Up, knee, Holds, false, 0.1)}
		for range 30 {
			found := SearchOf(steps)
			if found.Done() || found.Stuck() != "" {
				break
			}
			s.knee, steps = knee, append(steps, Step{})
			busy := s.rng.Float64() < 0.5
			if busy {
				s.knee = knee / 2
			}
			rate, _ := found.Next()
			step := s.try(rate)
			step.Host = &Host{CPUs: 2, Full: busy || step.Outcome == Breaks, Others: 0.1}
			if busy {
				step.Host.Others = 1.2
			}
			steps[len(steps)-1] = step
		}
		if a := Decide(Header{}, steps, "", false); a.Knee != nil && a.Knee.Low <= knee && knee <= a.Knee.High && a.Knee.Width() <= 0.1 {
			covered++
		}
	}
	if covered < rounds*9/10 {
		t.Errorf("%d of %d intervals are narrow and cover the knee", covered, rounds)
	}
}

// TestOthersInEveryStep: where other programs never let go, there is no knee, and the reason is said.
func TestOthersInEveryStep(t *testing.T) {
	steps := []Step{at(Up, 800, Holds, false, 0.1), at(Searched, 790, Holds, false, 0.1)}
	for range mostDisturbed {
		steps = append(steps, at(Searched, 400, Breaks, true, 1.2))
	}
	a := Decide(Header{}, steps, "", false)
	if a.State != Undecided || !strings.Contains(a.Why, "other programs took the CPUs in 6 steps") {
		t.Errorf("%s: %s", a.State, a.Why)
	}
}

// TestOthersWhileUnloaded: what uses CPUs without the load is named where they ran out.
func TestOthersWhileUnloaded(t *testing.T) {
	steps := func(light float64, full bool) []Step {
		return []Step{at(Light, 100, Holds, false, light), at(Up, 800, Holds, true, 0.5),
			at(Searched, 780, Holds, full, 0.5), at(Searched, 820, Breaks, full, 0.5)}
	}
	warned := func(list []Step) bool {
		return strings.Contains(strings.Join(Decide(Header{}, list, "", false).Warnings, "\n"), "while the target was unloaded")
	}
	if !warned(steps(0.5, true)) || warned(steps(0.1, true)) || warned(steps(0.5, false)) {
		t.Errorf("warned %t, beside little %t, with CPUs left %t", warned(steps(0.5, true)), warned(steps(0.1, true)),
			warned(steps(0.5, false)))
	}
}
