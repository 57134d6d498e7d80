package verify

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// failing draws pairs of sides with a number of requests per block, which fail with a probability each.
func failing(rng *rand.Rand, n, requests int, a, b float64) []Pair {
	pairs := make([]Pair, n)
	for i := range pairs {
		for side, block := range []*Block{&pairs[i].A, &pairs[i].B} {
			failed := 0
			for range requests {
				if rng.Float64() < []float64{a, b}[side] {
					failed++
				}
			}
			noise := math.Exp(0.02 * rng.NormFloat64())
			*block = Block{Values: map[string]float64{"cpu_per_request": 120e3 * noise, "throughput": 30 / noise},
				Latency: Latencies{2700: int64(requests - failed)}, Errors: float64(failed) / float64(requests)}
		}
	}
	return pairs
}

// TestFailuresByChance: of sides that are the same and fail a request now and then, fewer than one in a
// hundred is called a regression by any look; a side that fails more requests is found.
func TestFailuresByChance(t *testing.T) {
	if testing.Short() {
		t.Skip("short: hundreds of simulated sessions take seconds")
	}
	r := rules()
	r.Metrics = r.Metrics[:2]
	r.rough, r.Early = true, true
	r = r.Plan(28)
	rng := rand.New(rand.NewPCG(4, 8))
	for _, c := range []struct {
		requests    int
		a, b        float64
		least, most float64 // of sessions that are regressions
	}{
		{60, 0.001, 0.001, 0, 0.01},
		{60, 0.005, 0.005, 0, 0.01},
		{2000, 0.005, 0.005, 0, 0.01},
		{60, 0, 0.02, 0.95, 1},
		{2000, 0.001, 0.004, 1, 1},
	} {
		const sessions = 200
		found := 0
		for range sessions {
			pairs := failing(rng, r.Planned, c.requests, c.a, c.b)
			for look := 1; look <= r.Looks; look++ {
				due, _ := r.Due(look)
				out := Decide(pairs[:due], nil, look, r)
				if out.Verdict == Regression {
					found++
				}
				if out.Verdict != Inconclusive {
					break
				}
			}
		}
		if rate := float64(found) / sessions; rate < c.least || rate > c.most {
			t.Errorf("%d requests, of which %.1f and %.1f %% fail: %.1f %% are regressions", c.requests, 100*c.a, 100*c.b, 100*rate)
		}
	}
}

// TestFailuresInWords: both shares are named, nothing holds a regression or an invalid session up, and what may be
// chance is looked at again.
func TestFailuresInWords(t *testing.T) {
	one := func(requests, failed int64) []Block {
		out := make([]Block, 20)
		for i := range out {
			noise := 1 + 0.01*float64(i%3)
			out[i] = Block{Values: map[string]float64{"cpu_per_request": 120e3 * noise, "throughput": 9000 / noise, MachineYardstick: 3e6},
				Latency: Latencies{2700: requests - failed}, Errors: float64(failed) / float64(requests)}
		}
		return out
	}
	few := one(60, 0)
	for i := range 4 {
		few[5*i] = one(60, 1)[5*i]
	}
	r := rules()
	r.Metrics = r.Metrics[:2]
	for name, c := range map[string]struct {
		a, b    []Block
		look    int
		verdict Verdict
		why     string
	}{
		"only a fails":        {one(1000, 50), one(1000, 0), 4, Invalid, "side b fails 0 % of its requests, side a 5.0 %, and failures cost"},
		"b fails more":        {one(1000, 1), one(1000, 50), 4, Regression, "side b fails 5.0 % of its requests, side a 0.10 %"},
		"b may fail more":     {one(60, 0), few, 2, Inconclusive, "more pairs may show whether that is chance"},
		"too few to tell":     {one(60, 0), few, 4, Pass, "nothing is worse"},
		"a metric is missing": {one(1000, 0), strippedOf(one(1000, 50), "cpu_per_request"), 4, Regression, "side b fails 5.0 %"},
	} {
		pairs := make([]Pair, len(c.a))
		for i := range pairs {
			pairs[i] = Pair{A: c.a[i], B: c.b[i]}
		}
		got := Decide(pairs, nil, c.look, r)
		if got.Verdict != c.verdict || !strings.Contains(got.Why, c.why) || len(got.HeldUpBy) > 0 {
			t.Errorf("%s: %s, %s, held up by %q", name, got.Verdict, got.Why, got.HeldUpBy)
		}
		if chance := strings.Contains(strings.Join(got.Warnings, ""), "which may be chance"); chance != (name == "too few to tell") {
			t.Errorf("%s: warnings %q", name, got.Warnings)
		}
		if c.look == 4 && c.verdict != Pass && name != "a metric is missing" {
			if apart := DecideAgainst(c.a, c.b, r); apart.Verdict != c.verdict || !strings.Contains(apart.Why, c.why) {
				t.Errorf("%s, against a baseline: %s, %s", name, apart.Verdict, apart.Why)
			}
		}
	}
}

func strippedOf(blocks []Block, name string) []Block {
	delete(blocks[3].Values, name)
	return blocks
}

// TestMoreFail: the tail agrees with the sum of binomial coefficients.
func TestMoreFail(t *testing.T) {
	for _, c := range []struct{ aFailed, aAll, bFailed, bAll, want float64 }{
		{0, 10, 3, 10, 120. / 1140}, // C(10,3)/C(20,3)
		{1, 10, 3, 10, (120*10 + 210.) / 4845},
		{0, 420, 1, 420, 0.5},
		{3, 10, 3, 10, 1}, {5, 10, 1, 10, 1}, {0, 0, 0, 0, 1},
	} {
		got := moreFail(answers{failed: c.aFailed, all: c.aAll}, answers{failed: c.bFailed, all: c.bAll})
		if math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if got := moreFail(answers{failed: 1e3, all: 1e6}, answers{failed: 5e4, all: 1e6}); got > 1e-300 {
		t.Errorf("fifty times as many of a million: %v", got)
	}
}
