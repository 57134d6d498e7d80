package verify

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// nested draws pairs of launches of known components; the numbers of turns go from least to most.
func nested(c Components, pairs, least, most int, seed uint64) []Pair {
	rng := rand.New(rand.NewPCG(seed, 5))
	out := make([]Pair, pairs)
	for i := range out {
		common := c.Drift * rng.NormFloat64()
		out[i].BFirst = rng.IntN(2) == 0
		turns := least + i%(most-least+1)
		for side, b := range []*Block{&out[i].A, &out[i].B} {
			level := 12 + common + c.Launch*rng.NormFloat64()
			if (side == 1) != out[i].BFirst {
				level += c.Order
			}
			for range turns {
				b.Turns = append(b.Turns, math.Exp(level+c.Turn*rng.NormFloat64()))
			}
		}
	}
	return out
}

// TestComponents: the drawn components are recovered, whatever the numbers of turns, and one is
// not taken for another.
func TestComponents(t *testing.T) {
	for _, want := range []Components{
		{Launch: 0.04, Turn: 0.15, Drift: 0.10, Order: 0.02},
		{Launch: 0.08, Turn: 0.05, Drift: 0.02, Order: -0.03},
		{Launch: 0, Turn: 0.20, Drift: 0.30},
	} {
		for _, turns := range [][2]int{{10, 10}, {4, 12}} {
			got, ok := EstimateComponents(nested(want, 2000, turns[0], turns[1], 3))
			near := func(name string, a, b, by float64) {
				if !(math.Abs(a-b) <= by) {
					t.Errorf("%v turns: %s is %.4f, want %.4f", turns, name, a, b)
				}
			}
			if !ok || got.Pairs != 2000 {
				t.Fatalf("%+v, %v", got, ok)
			}
			near("turn", got.Turn, want.Turn, 0.03*want.Turn)
			// These variances are differences, hence inaccurate near zero.
			near("launch", got.Launch*got.Launch, want.Launch*want.Launch, 4e-4)
			near("drift", got.Drift*got.Drift, want.Drift*want.Drift, 0.1*want.Drift*want.Drift+3e-4)
			near("order", got.Order, want.Order, 3.5*got.OrderError)
			if got.OrderError > 0.01 {
				t.Errorf("the order's standard error is %.4f", got.OrderError)
			}
		}
	}
	warm := nested(usual, 200, 10, 10, 7)
	for _, p := range warm {
		for _, b := range []Block{p.A, p.B} {
			for i := range b.Turns {
				b.Turns[i] *= 1 - 0.02*float64(i) // the last third takes 12 points less than the first, of 0.96
			}
		}
	}
	if got, _ := EstimateComponents(warm); math.Abs(got.Warming+0.125) > 0.02 {
		t.Errorf("warming is %.3f, want -0.125", got.Warming)
	}
	if got, _ := EstimateComponents(nested(usual, 200, 10, 10, 7)); math.Abs(got.Warming) > 0.02 {
		t.Errorf("warming is %.3f, want none", got.Warming)
	}
	few := nested(usual, 4, 10, 10, 1)
	few[0].B.Turns = few[0].B.Turns[1:]
	if _, ok := EstimateComponents(few); ok {
		t.Error("three pairs that have as many turns on both sides are enough")
	}
	few[0].B.Turns = append(few[0].B.Turns, 0)
	if _, ok := EstimateComponents(few); ok {
		t.Error("a turn without CPU counts")
	}
}

// TestTurnsPerLaunch: the number is the one at which sessions of one length deviate least.
func TestTurnsPerLaunch(t *testing.T) {
	const turn = 400 * time.Millisecond
	for _, c := range []Components{{Launch: 0.04, Turn: 0.15}, {Launch: 0.08, Turn: 0.06}, {Launch: 0.02, Turn: 0.2}} {
		for _, launch := range []time.Duration{time.Second, 20 * time.Second} {
			c.Pairs = 1e6 // so that the usual ones do not count
			cost := func(turns int) float64 {
				return math.Pow(c.Deviation(turns), 2) * (launch + time.Duration(turns)*turn).Seconds()
			}
			best := 1
			for n := 2; n < 500; n++ {
				if cost(n) < cost(best) {
					best = n
				}
			}
			if got := c.Turns(launch, turn); cost(got) > 1.002*cost(best) {
				t.Errorf("%+v, %v a launch: %d turns, where %d cost least", c, launch, got, best)
			}
		}
	}
	if got := (Components{}).Turns(1700*time.Millisecond, turn); got < 8 || got > 14 {
		t.Errorf("with nothing known: %d turns", got)
	}
}

// TestForesee: the forecast of earlier sessions agrees with the result of sessions with their noise.
func TestForesee(t *testing.T) {
	r := rules()
	r.Metrics = r.Metrics[:1]
	b := bench{rng: rand.New(rand.NewPCG(8, 8)), sd: 0.05, mute: true}
	earlier := [][]Pair{b.pairs(20), b.pairs(20)}
	m, few, ok := r.Foresee(earlier, 12)
	_, many, _ := r.Foresee(earlier, 48)
	if ratio := few / many; !ok || m.Name != "cpu_per_request" || ratio < 1.6 || ratio > 3 {
		t.Errorf("%s: %.3f of 12 pairs and %.3f of 48", m.Name, few, many)
	}
	if _, _, ok := r.Foresee(nil, 48); ok {
		t.Error("foreseen from nothing")
	}
}
