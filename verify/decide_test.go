package verify

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/criteria"
	"github.com/redline-go/redline/stat"
)

// session measures up to cap pairs with the rules' looks and returns the verdict.
func session(b bench, most int, r Rules) Result {
	same := b
	same.slower = 0
	aa, pairs := same.pairs(8), b.pairs(most)
	var out Result
	for look := 1; look <= r.looks(); look++ {
		if out = Decide(pairs[:most*look/r.looks()], aa, look, r); out.Verdict != Inconclusive {
			break
		}
	}
	return out
}

// TestErrorRates: of simulated sessions of identical sides hardly any is a
// regression; a real slow-down is found; an improvement is never a regression.
func TestErrorRates(t *testing.T) {
	if testing.Short() {
		t.Skip("short: hundreds of simulated sessions take seconds")
	}
	r := rules()
	r.Metrics = r.Metrics[:2] // the percentiles' bootstrap has a test of its own
	r.rough = true            // so has the smallest effect
	for _, c := range []struct {
		slower   float64
		sessions int
		verdict  Verdict
		least    float64 // how often it must occur
		most     float64 // how often a regression may occur
	}{
		{0, 200, Pass, 0.95, 0.01},
		{0.05, 100, Regression, 0.95, 1},
		{0.10, 50, Regression, 1, 1},
		{-0.05, 100, Improvement, 0.90, 0},
	} {
		count := map[Verdict]int{}
		for i := range c.sessions {
			b := bench{rng: rand.New(rand.NewPCG(uint64(i), 9)), sd: 0.02, slower: c.slower, mute: true}
			count[session(b, 24, r).Verdict]++
		}
		n := float64(c.sessions)
		if float64(count[c.verdict]) < c.least*n || float64(count[Regression]) > c.most*n {
			t.Errorf("%+.0f %% slower: verdicts %v of %d sessions", 100*c.slower, count, c.sessions)
		}
	}
}

// TestSoon: a difference of two margins is found at a third of the pairs, where a difference of one is not.
func TestSoon(t *testing.T) {
	r := rules()
	r.Metrics, r.rough = r.Metrics[:2], true
	r = r.Plan(45)
	found := map[float64]int{}
	const sessions = 40
	for i := range sessions {
		for _, slower := range []float64{0, 0.05, 0.10} {
			b := bench{rng: rand.New(rand.NewPCG(uint64(i), 15)), sd: 0.04, slower: slower, mute: true}
			pairs, _ := r.Due(3)
			if Decide(b.pairs(pairs), nil, 3, r).Verdict == Regression {
				found[slower]++
			}
		}
	}
	if found[0] > 0 || found[0.05] > sessions/2 || found[0.10] < sessions*9/10 {
		t.Errorf("of %d sessions with 15 of 45 pairs these were found, by how much slower: %v", sessions, found)
	}
	first := stat.OBrienFleming(9, r.alpha())
	if levels := r.levels(); levels[2] < 10*first[2] || levels[8] < 0.9*first[8] || levels[8] >= first[8] || levels[1] > first[1] {
		t.Errorf("levels %v", levels)
	}
}

// TestDetectable: a change that is stated to be found in four of five sessions is, even with
// noise that contains stalls, which a standard deviation overrates.
func TestDetectable(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	draw := func() float64 {
		v := 0.05 * rng.NormFloat64()
		if rng.IntN(15) == 0 {
			v *= 5
		}
		return v
	}
	noise := make([]float64, 60)
	for i := range noise {
		noise[i] = draw()
	}
	at := Rules{Metrics: Metrics(false)[:2], Looks: 1, Seed: 1}.at(30, 1)
	mde := detectable(noise, at, 0)
	found := 0
	for range 1000 {
		d := make([]float64, at.planned)
		for i := range d {
			d[i] = mde + noise[rng.IntN(len(noise))]*float64(1-2*rng.IntN(2))
		}
		if stat.SignedRankTest(d) <= at.final && stat.HodgesLehmann(d) > 0 {
			found++
		}
	}
	if found < 750 || found > 850 {
		t.Errorf("a change of %.3f is found in %d of 1000 sessions, want 800", mde, found)
	}
	if plain := stat.DetectableEffect(stat.Deviation(noise), at.planned, at.final, power); mde > 0.9*plain {
		t.Errorf("%.3f where the standard deviation would say %.3f: the stalls count in full", mde, plain)
	}
	for name, few := range map[string]float64{
		"little noise": detectable(noise[:leastNoise-1], at, 0), "few pairs": detectable(noise,
			look{planned: 3, final: 0.01, resamples: 9}, 0),
	} {
		if !math.IsNaN(few) {
			t.Errorf("%s: %v, want that it is not known", name, few)
		}
	}
	if got := detectable(noise, at, 0.5); got < 0.45 {
		t.Errorf("with a least estimate of 0.5 a change of %v is said to be found", got)
	}
}

func metric(t *testing.T, r Result, name string) MetricResult {
	t.Helper()
	for _, m := range r.Metrics {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no metric %s in %+v", name, r.Metrics)
	return MetricResult{}
}

// TestLeast: with the minimum of pairs the largest of changes is a regression, and one
// pair fewer is not enough.
func TestLeast(t *testing.T) {
	for deciding, want := range map[int]int{1: 7, 2: 8, 4: 9} {
		r := Rules{Looks: 1, Seed: 1}
		for i, m := range Metrics(false)[:4] {
			m.Name, m.Quantile, m.Higher, m.Advisory = "cpu_per_request", 0, false, i >= deciding
			r.Metrics = append(r.Metrics, m)
		}
		if got := r.Least(); got != want {
			t.Errorf("%d metrics need %d pairs, want %d", deciding, got, want)
		}
		b := bench{rng: rand.New(rand.NewPCG(8, 8)), sd: 0.02, slower: 2}
		pairs := b.pairs(want)
		if got := Decide(pairs, nil, 1, r); got.Verdict != Regression {
			t.Errorf("%d pairs of a side three times as slow, %d metrics: %s (%s)", want, deciding, got.Verdict, got.Why)
		}
		if got := Decide(pairs[1:], nil, 1, r); got.Verdict == Regression {
			t.Errorf("%d pairs decide", want-1)
		}
	}
}

// TestEarly: the first pairs decide only what is beyond doubt, and their false alarms
// stay within the share that they spend, in noise with stalls and on a machine as noisy
// as any observed.
func TestEarly(t *testing.T) {
	r := rules()
	r.Metrics = r.Metrics[:2]
	for slower, want := range map[float64]Verdict{2: Regression, 0.5: Inconclusive, -0.7: Improvement} {
		b := bench{rng: rand.New(rand.NewPCG(9, 1)), sd: 0.06, slower: slower, mute: true}
		out, decided := Early(b.pairs(EarlyPairs), r)
		if out.Verdict != want || decided != (want != Inconclusive) || out.Early != true {
			t.Errorf("%+.1f: %s (%s)", slower, out.Verdict, out.Why)
		}
		if _, decided := Early(b.pairs(LeastEarly-1), r); decided {
			t.Errorf("%d pairs decided", LeastEarly-1)
		}
	}
	const sessions = 20_000
	for _, sd := range []float64{0.05, 0.5, 2} {
		wrong := 0
		for i := range sessions {
			b := bench{rng: rand.New(rand.NewPCG(uint64(i), 31)), sd: sd, mute: true}
			if out, _ := Early(b.pairs(EarlyPairs), r); out.Verdict == Regression {
				wrong++
			}
		}
		if most := earlyShare * r.alpha() / 2; float64(wrong) > 1.7*most*sessions { // three standard errors above it
			t.Errorf("noise of %v: %d false regressions of %d sessions, designed for %.4f", sd, wrong, sessions, most)
		}
	}
}

// TestGuard: a side that waits longer, without taking more CPU, does not pass; one whose throughput is a
// little lower still does.
func TestGuard(t *testing.T) {
	r := rules()
	r.Metrics, r.rough = r.Metrics[:2], true
	for factor, want := range map[float64]Verdict{0.7: Regression, 0.99: Pass} {
		b := bench{rng: rand.New(rand.NewPCG(2, 9)), sd: 0.02, mute: true}
		pairs := b.pairs(24)
		for _, p := range pairs {
			p.B.Values["throughput"] *= factor
		}
		if out := Decide(pairs, b.pairs(8), 4, r); out.Verdict != want {
			t.Errorf("throughput times %v: %s (%s)", factor, out.Verdict, out.Why)
		}
		for _, p := range pairs {
			p.A.Values["throughput"] *= math.Exp(2 * b.rng.NormFloat64())
		}
		if out := Decide(pairs, b.pairs(8), 4, r); out.Verdict != Pass || len(out.HeldUpBy) > 0 {
			t.Errorf("throughput that nobody can judge: %s (%s)", out.Verdict, out.Why)
		}
	}
	// Ten pairs of ten are one in 512 by the signed-rank test: enough to say that it is better, not to fail a session by it.
	few := bench{rng: rand.New(rand.NewPCG(7, 7)), sd: 0.02, mute: true}
	for factor, want := range map[float64]Verdict{2: Improvement, 0.5: Inconclusive} {
		pairs := few.pairs(10)
		for _, p := range pairs {
			p.B.Values["throughput"] *= factor
		}
		out := Decide(pairs, nil, 4, r)
		if i := slices.IndexFunc(out.Metrics, func(m MetricResult) bool { return m.Guard }); out.Metrics[i].Verdict != want {
			t.Errorf("throughput times %v in ten pairs: %s (%s)", factor, out.Metrics[i].Verdict, out.Metrics[i].Why)
		}
	}
	loud := bench{rng: rand.New(rand.NewPCG(4, 5)), sd: 0.30, mute: true}
	if out := Decide(loud.pairs(20), loud.pairs(8), 4, r); !slices.Equal(out.HeldUpBy, []string{"cpu_per_request"}) {
		t.Errorf("%s is held up by %q", out.Verdict, out.HeldUpBy)
	}
}

// TestPrimary: the metrics that a scenario calls primary decide, and no others.
func TestPrimary(t *testing.T) {
	names := func(list ...criteria.Comparison) (deciding, guards []string) {
		metrics, err := Choose(&scenario.Plan{Verify: list})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metrics {
			if !m.Advisory {
				deciding = append(deciding, m.Name)
			}
			if m.Guard {
				guards = append(guards, m.Name)
			}
		}
		return deciding, guards
	}
	for _, c := range []struct {
		list             []criteria.Comparison
		deciding, guards string
	}{
		{nil, "cpu_per_request", "throughput"},
		{[]criteria.Comparison{{Metric: "throughput", Margin: 0.1}}, "cpu_per_request throughput", ""},
		{[]criteria.Comparison{{Metric: "allocs_per_request", Primary: true}}, "allocs_per_request", "throughput"},
		{[]criteria.Comparison{{Metric: "p99", Margin: 0.1}, {Metric: "throughput", Primary: true}}, "throughput", ""},
		{[]criteria.Comparison{{Metric: "throughput", Advisory: true}}, "cpu_per_request", ""},
	} {
		if deciding, guards := names(c.list...); strings.Join(deciding, " ") != c.deciding || strings.Join(guards, " ") != c.guards {
			t.Errorf("%+v: %q decide, %q guard", c.list, deciding, guards)
		}
	}
}

// TestReasonsOnOwnScale: throughput whose inverse may have doubled may have halved.
func TestReasonsOnOwnScale(t *testing.T) {
	j := judgement{m: Metric{Name: "throughput", Higher: true, Margin: 1. / 9}, known: true,
		low: -0.1, high: math.Ln2, upper: math.Ln2, mde: math.NaN()}
	if got := j.verdict(false, true).Why; !strings.Contains(got, "worse of up to 50.0 % cannot") {
		t.Error(got)
	}
	j.upper, j.mde, j.apart = 0, math.Log(1.25), true
	if got := j.verdict(false, true).Why; got != "only changes of 20.0 % or more are detectable in this noise; the margin is 10 %" {
		t.Error(got)
	}
	j.upper, j.apart = math.Log(1+1./19), false
	if got := j.verdict(false, true).Why; !strings.Contains(got, "worse of more than 5.0 % is excluded") {
		t.Error(got)
	}
}

// TestAlso: a side that is worse than either base is a regression, and none passes that is not decided
// against both.
func TestAlso(t *testing.T) {
	for _, c := range []struct{ one, two, want Verdict }{
		{Pass, Pass, Pass}, {Improvement, Pass, Improvement}, {Pass, Regression, Regression}, {Regression, Improvement, Regression},
		{Pass, Inconclusive, Inconclusive}, {Inconclusive, Pass, Inconclusive}, {Inconclusive, Regression, Regression},
		{Pass, Invalid, Invalid}, {Regression, Invalid, Regression}, {Regression, Regression, Regression},
	} {
		got := Result{Verdict: c.one, Why: "one"}.Also("v1", Result{Verdict: c.two, Why: "two"})
		second := c.two == c.want && c.one != c.want || c.one == Regression && c.two == Regression
		if got.Verdict != c.want || got.AlsoAgainst == nil || got.AlsoAgainst.Base != "v1" ||
			strings.Contains(got.Why, "against v1: two") != second {
			t.Errorf("%s and %s: %s (%s)", c.one, c.two, got.Verdict, got.Why)
		}
	}
}

func TestPercentiles(t *testing.T) {
	b := bench{rng: rand.New(rand.NewPCG(3, 3)), sd: 0.02, slower: 0.20}
	aa := bench{rng: b.rng, sd: b.sd}.pairs(8)
	r := Decide(b.pairs(20), aa, 4, Rules{Metrics: Metrics(true), Seed: 1})
	for _, name := range []string{"p50", "p90", "p99"} {
		if m := metric(t, r, name); m.Low > 0.20 || m.High < 0.20 || m.Estimate < 0.15 || m.Estimate > 0.25 {
			t.Errorf("%s of a side that is 20 %% slower: %+v", name, m)
		}
	}
	if m := metric(t, r, "p50"); m.Verdict != Regression || m.Advisory {
		t.Errorf("at a rate the median decides: %+v", m)
	}
	if r.Verdict != Regression || !strings.Contains(r.Why, "p50") {
		t.Errorf("the session is %s: %s", r.Verdict, r.Why)
	}
}

// TestNeverPassesUnseen: a comparison that could not have failed does not pass.
func TestNeverPassesUnseen(t *testing.T) {
	quiet := bench{rng: rand.New(rand.NewPCG(4, 4)), sd: 0.01, slower: 0}
	loud := bench{rng: rand.New(rand.NewPCG(4, 5)), sd: 0.30, slower: 0}
	strip := func(pairs []Pair, name string) []Pair {
		delete(pairs[len(pairs)-1].B.Values, name)
		return pairs
	}
	zero := func(pairs []Pair) []Pair {
		pairs[0].A.Values["throughput"] = 0
		return pairs
	}
	for name, c := range map[string]struct{ pairs, aa []Pair }{
		"nothing measured":          {nil, nil},
		"three pairs":               {quiet.pairs(3), quiet.pairs(8)},
		"metric missing in a block": {strip(quiet.pairs(20), "cpu_per_request"), quiet.pairs(8)},
		"a side that serves nobody": {zero(quiet.pairs(20)), quiet.pairs(8)},
		"noise above the margin":    {loud.pairs(20), loud.pairs(8)},
	} {
		if r := Decide(c.pairs, c.aa, 4, rules()); r.Verdict != Inconclusive || !strings.HasPrefix(r.Why, "not decided: ") {
			t.Errorf("%s: %s, %s", name, r.Verdict, r.Why)
		}
	}
	r := rules()
	for i := range r.Metrics {
		r.Metrics[i].Advisory = true
	}
	if got := Decide(quiet.pairs(20), quiet.pairs(8), 4, r); got.Verdict != Inconclusive {
		t.Errorf("without a deciding metric: %s, %s", got.Verdict, got.Why)
	}
}

func TestResultTellsWhatItCouldSee(t *testing.T) {
	b := bench{rng: rand.New(rand.NewPCG(6, 6)), sd: 0.02, slower: 0}
	r := Decide(b.pairs(24), b.pairs(8), 4, rules())
	m := metric(t, r, "cpu_per_request")
	if m.Verdict != Pass || m.MDE <= 0.005 || m.MDE >= 0.05 || m.Unit != "ns" || m.A < 100e3 || m.B < 100e3 {
		t.Errorf("identical sides with 2 %% noise: %+v", m)
	}
	if aa := Errors(b.pairs(8), nil, 24, rules()); aa.Pairs != 8 || aa.FalsePositive > 0.02 || !(aa.MDE > 0.005 && aa.MDE < 0.05) {
		t.Errorf("the comparison with itself: %+v", aa)
	}
	if aa := Errors(nil, nil, 0, rules()); aa.FalsePositive != 0 || aa.MDE != 0 || aa.Different == nil {
		t.Errorf("nothing measured: %+v", aa)
	}
}

func TestLatencies(t *testing.T) {
	l := Latencies{}
	for i := int64(1); i <= 1000; i++ {
		l.Add(i*1000, 1)
	}
	for q, want := range map[float64]float64{0.5: 500e3, 0.9: 900e3, 0.99: 990e3, 1: 1e6} {
		if got := l.Quantile(q); math.Abs(got/want-1) > 0.005 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := (Latencies{}).Quantile(0.5); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
	l = Latencies{}
	l.Add(-5, 1)
	if l.Total() != 1 || l.Quantile(0.5) > 1 {
		t.Errorf("a latency below 1 ns: %v", l)
	}
}

// TestPassIsTheBounds: nearly all identical sides pass if one pair deviates by 8 %, as on the
// order gateway, and a side that is worse by its margin hardly ever does.
func TestPassIsTheBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("short: hundreds of simulated sessions take seconds")
	}
	r := rules()
	r.Metrics = r.Metrics[:1]
	r = r.Plan(56)
	r.rough = true
	for slower, bounds := range map[float64][2]int{0: {190, 200}, 0.05: {0, 9}} {
		passed := 0
		for i := range 200 {
			b := bench{rng: rand.New(rand.NewPCG(uint64(i), 5)), sd: 0.055, slower: slower, mute: true}
			if session(b, 56, r).Verdict == Pass {
				passed++
			}
		}
		if passed < bounds[0] || passed > bounds[1] {
			t.Errorf("%+.0f %% slower: %d of 200 pass, want %v", 100*slower, passed, bounds)
		}
	}
}
