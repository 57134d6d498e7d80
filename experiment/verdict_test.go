package experiment

import (
	"math"
	"testing"

	"github.com/redline-go/redline/verify"
)

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name    string
		gain    Gain
		claimed float64
		want    Verdict
	}{
		{"as claimed", Gain{2.6, 2.4, 2.8}, 2.5, Confirmed},
		{"more than claimed", Gain{9, 8, 10}, 2.5, Confirmed},
		{"four fifths of the claim", Gain{2.1, 2.01, 2.2}, 2.5, Confirmed},
		{"better, not as claimed", Gain{1.5, 1.4, 1.6}, 2.5, Smaller},
		{"better, perhaps as claimed", Gain{2, 1.5, 2.6}, 2.5, Inconclusive},
		{"a direction", Gain{1.3, 1.1, 1.5}, 0, Confirmed},
		{"a direction that could be noise", Gain{1.3, 0.98, 1.5}, 0, Inconclusive},
		{"none", Gain{1, 0.97, 1.03}, 2.5, NoEffect},
		{"none, and a little better", Gain{1.03, 1.01, 1.04}, 0, NoEffect},
		{"worse", Gain{0.7, 0.6, 0.8}, 2.5, Reversed},
		{"worse, or not", Gain{0.9, 0.7, 1.1}, 2.5, Inconclusive},
	} {
		if got, why := decide(c.gain, c.claimed); got != c.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", c.name, got, why, c.want)
		}
	}
}

// TestGain: a cost that falls by nine tenths is ten times better, one that doubles half
// as good, and the ends of an interval change places.
func TestGain(t *testing.T) {
	g, ok := gainOf(verify.MetricResult{Estimate: -0.9, Low: -0.95, High: 1})
	if !ok || math.Abs(g.Estimate-10) > 1e-9 || math.Abs(g.High-20) > 1e-9 || math.Abs(g.Low-0.5) > 1e-9 {
		t.Errorf("%+v", g)
	}
	if g, ok := gainOf(verify.MetricResult{Verdict: verify.Inconclusive, Why: "too few"}); ok {
		t.Errorf("of nothing: %+v", g)
	}
	// gobench lifts counts by one where there is a zero: 5 to 0 is 6 to 1 to it.
	gone, ok := gainOf(verify.MetricResult{Verdict: verify.Improvement, Estimate: -0.83, Low: -0.83, High: -0.83, A: 5})
	if !ok || gone != (Gain{Most, Most, Most}) || GainText(gone) != "1000x or more" {
		t.Errorf("%+v, %s", gone, GainText(gone))
	}
	if v, _ := decide(gone, 145); v != Confirmed {
		t.Errorf("nothing is left, and that is %s", v)
	}
}

// TestWidened: a bias that the baseline has against itself may be in the gain too. A large
// gain stands, a small one does not.
func TestWidened(t *testing.T) {
	if v, _ := decide(Gain{7.6, 6.8, 8.8}.widened(0.2), 0); v != Confirmed {
		t.Errorf("7.6x is %s", v)
	}
	if v, _ := decide(Gain{1.15, 1.08, 1.2}.widened(0.2), 0); v != Inconclusive {
		t.Errorf("1.15x is %s", v)
	}
	if v, _ := decide(Gain{1.15, 1.08, 1.2}.widened(0), 0); v != Inconclusive {
		t.Errorf("with a bias of unknown size it is %s", v)
	}
}
