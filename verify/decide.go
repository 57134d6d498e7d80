package verify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/stat"
)

const (
	// boundLevel is the one-sided level of the bound that must lie inside the margin for a pass, all
	// looks together: how often a change of the margin's size passes. At 5 % such changes could not be
	// found in 95 of 100 sessions, however quiet the machine.
	boundLevel = 0.025
	// power is the chance with which the smallest detectable effect is detected.
	power = 0.80
	// resamples of the bootstrap: its limits at 99 % then rest on ten values.
	resamples = 2000
	// roughly many resamples do for progress, which is printed between blocks on the
	// machine that is measured.
	roughly = 50
)

// Rules says how a session decides.
type Rules struct {
	Metrics []Metric
	// Alpha is the two-sided error rate of all decisions together; zero means
	// 0.02, so that a false regression comes in at most one session of a hundred.
	Alpha float64
	// Looks is how many looks at the data are planned; zero means 4.
	Looks int
	// Planned is how many pairs the last look will have; zero takes it from the
	// pairs at hand, as looks are evenly spaced.
	Planned int
	// Early says that Early has examined the first pairs, at the cost of some of Alpha.
	Early bool
	Seed  uint64 // of the bootstrap and the simulation

	rough   bool // few resamples, and percentiles by the blocks' own
	failing bool // requests failed: whether side B's fail more often is tested as well, at the level of one more guard
}

func (r Rules) alpha() float64 {
	if r.Alpha > 0 {
		return r.Alpha
	}
	return 0.02
}

// Decide judges pairs at one of the planned looks, from 1. Only at the last look
// does a metric pass for lack of anything worse; before it, one that is clearly
// inside its margin does, and the rest is inconclusive. aa are pairs of side A
// with itself; their meaning for the session's errors is up to Errors.
//
// A side b whose requests fail more often than side a's is a regression as well, and sides whose
// requests fail often are not compared.
func Decide(pairs, aa []Pair, look int, r Rules) Result {
	a, b := answersOf(pairs)
	r.failing = a.failed+b.failed > 0
	out := Result{Schema: Schema, Verdict: Inconclusive, Pairs: len(pairs), Alpha: r.alpha(), Looks: look,
		Planned: r.looks(), Warnings: []string{}, Metrics: []MetricResult{}, HeldUpBy: []string{}}
	at := r.at(len(pairs), look)
	out.Confidence = 1 - at.level
	decided := make([]judgement, len(r.Metrics))
	p := make([]float64, len(r.Metrics))
	for i, m := range r.Metrics {
		decided[i] = gather(m, pairs, aa, at)
		p[i] = decided[i].p
	}
	for i, significant := range r.significant(p, at.level) {
		// A guard's part of the error rate is for what fails a session. That it is better decides nothing, as an advisory metric's.
		if r.Metrics[i].Guard && decided[i].estimate < 0 {
			significant = p[i] <= at.level
		}
		out.Metrics = append(out.Metrics, decided[i].verdict(significant, look >= r.looks()))
	}
	out.AA.Pairs, out.AA.Different = len(aa), []string{}
	out.conclude()
	out.decideFailures(a, b, r.failures(at.level), look >= r.looks())
	return out
}

// judgement is a metric's evidence.
type judgement struct {
	m                   Metric
	known               bool
	estimate, low, high float64 // logarithms, + is worse
	upper               float64 // one-sided bound
	p, mde              float64
	detects             func() float64 // gives mde, by simulation: only where it matters; nil if it is known
	a, b                float64
	// apart says that the sides were not measured in pairs: what the machine did in between moves
	// the bound itself, so that a pass needs more than it; see verdict.
	apart   bool
	missing string
}

// gather collects a metric's evidence at a look.
func gather(m Metric, pairs, aa []Pair, at look) judgement {
	j := judgement{m: m, p: math.NaN(), mde: math.NaN()}
	d, ok := m.differences(pairs)
	if !ok {
		j.missing = "the target does not deliver it in every block"
		if len(pairs) == 0 {
			j.missing = "nothing was measured"
		}
		return j
	}
	j.a, j.b = middles(m, pairs)
	j.p = stat.SignedRankTest(d)
	if m.Quantile > 0 && !at.rough {
		j.known = j.bootstrap(pairs, at)
	} else {
		j.estimate, j.low, j.high, j.known = stat.SignedRankInterval(d, 1-at.level)
		_, _, j.upper, ok = stat.SignedRankInterval(d, 1-at.bound)
		j.known = j.known && ok
	}
	if !j.known {
		j.missing = fmt.Sprintf("%d pairs are too few for an interval", len(pairs))
	}
	j.detects = func() float64 { return detectable(m.noise(pairs, aa), at, math.Log1p(m.Margin)/2) }
	if at.rough {
		j.mde = j.detects()
	}
	return j
}

func centred(d []float64) []float64 {
	middle := stat.HodgesLehmann(d)
	out := make([]float64, len(d))
	for i, v := range d {
		out[i] = v - middle
	}
	return out
}

func middles(m Metric, pairs []Pair) (a, b float64) {
	var as, bs []float64
	for _, p := range pairs {
		as, bs = append(as, m.Of(p.A)), append(bs, m.Of(p.B))
	}
	return stat.Median(as), stat.Median(bs)
}

// bootstrap estimates a quantile's change from the latencies of all blocks of a
// side together: a quantile of many requests, where a block's own quantile of
// few is biased.
func (j *judgement) bootstrap(pairs []Pair, at look) bool {
	as, bs := make([]dense, len(pairs)), make([]dense, len(pairs))
	all := make([]int, len(pairs))
	for i, p := range pairs {
		as[i], bs[i], all[i] = p.A.Latency.dense(), p.B.Latency.dense(), i
	}
	first, last, ok := span(slices.Concat(as, bs))
	if !ok || len(pairs) < LeastPairs {
		return false
	}
	scratch := make([]int64, last-first+1)
	change := func(indices []int) float64 {
		a := pool(as, indices, scratch, first).quantile(j.m.Quantile)
		return j.m.worse(a, pool(bs, indices, scratch, first).quantile(j.m.Quantile))
	}
	j.estimate = change(all)
	var values []float64
	keep := func(indices []int) float64 {
		v := change(indices)
		values = append(values, v)
		return v
	}
	j.low, j.high, ok = stat.Bootstrap(rand.New(rand.NewPCG(at.seed, 1)), len(pairs), at.resamples, 1-at.level, keep)
	j.upper = stat.Quantile(values, 1-at.bound/2)
	return ok
}

// verdict turns evidence into a verdict and its reason; significant is whether the test
// rejects that there is no change, corrected for all tests of the session. Before the last look,
// an estimate better by a quarter of the margin delays a pass, because most missed improvements
// were passes at such a look.
//
// With pairs, the smallest detectable effect does not decide. The bound already says what a pass
// excludes; the effect, itself an estimate, kept a twelfth of the identical sides from passing.
// With a stored baseline it does: on a faster machine the bound alone would let a slower side pass.
func (j judgement) verdict(significant, last bool) MetricResult {
	out := MetricResult{Name: j.m.Name, Margin: j.m.Margin, Advisory: j.m.Advisory, Guard: j.m.Guard, Higher: j.m.Higher,
		Unit: j.m.Unit, Verdict: Inconclusive, Why: j.missing}
	if !j.known {
		return out
	}
	margin := math.Log1p(j.m.Margin)
	if j.detects != nil && (last || significant || j.upper < margin) {
		j.mde = j.detects()
	}
	out.Estimate, out.Low, out.High = math.Expm1(j.estimate), math.Expm1(j.low), math.Expm1(j.high)
	out.A, out.B = j.a, j.b
	if !math.IsInf(j.upper, 0) && !math.IsNaN(j.upper) {
		worst := math.Expm1(j.upper)
		out.Worst = &worst
	}
	if !math.IsNaN(j.mde) {
		out.MDE = math.Expm1(j.mde)
	}
	switch {
	case significant && j.low > 0 && j.m.Guard && j.estimate >= margin:
		out.Verdict, out.Why = Regression, "the interval excludes zero, and the estimate exceeds the margin"
	case significant && j.low > 0 && !j.m.Guard && j.estimate >= margin/2:
		out.Verdict, out.Why = Regression, "the interval excludes zero, and the estimate exceeds half the margin"
	case significant && j.high < 0 && j.estimate <= -margin/2:
		out.Verdict, out.Why = Improvement, "the interval excludes zero, and the estimate exceeds half the margin"
	case !last && j.estimate <= -margin/4:
		out.Why = "more pairs may show that it is better"
	case j.upper >= margin:
		out.Why = fmt.Sprintf("a change for the worse of up to %s cannot be excluded", notation.Tenths(j.m.own(j.upper)))
	case j.apart && !(j.mde <= margin):
		out.Why = fmt.Sprintf("only changes of %s or more are detectable in this noise; the margin is %s",
			notation.Tenths(j.m.own(j.mde)), notation.Bound(j.m.own(margin)))
	default:
		out.Verdict, out.Why = Pass, fmt.Sprintf("a change for the worse of more than %s is excluded at %s",
			notation.Tenths(max(0, j.m.own(j.upper))), notation.Confidence(1-boundLevel))
	}
	return out
}

// conclude makes the session's verdict of its deciding metrics': any regression
// is one, that of a guard as well; otherwise all must have passed or improved.
func (r *Result) conclude() {
	var regressed, better []string
	open := []string{}
	deciding := 0
	for _, m := range r.Metrics {
		switch {
		case m.Guard && m.Verdict == Regression:
			regressed = append(regressed, m.Name)
		case m.Guard && m.A == 0: // what is missing guards nothing
			open = append(open, m.Name)
		}
		if m.Advisory {
			continue
		}
		deciding++
		switch m.Verdict {
		case Regression:
			regressed = append(regressed, m.Name)
		case Improvement:
			better = append(better, m.Name)
		case Inconclusive:
			open = append(open, m.Name)
		}
	}
	r.HeldUpBy = []string{}
	switch {
	case deciding == 0:
		r.Verdict, r.Why = Inconclusive, "no metric decides"
	case len(regressed) > 0:
		r.Verdict, r.Why = Regression, "worse: "+list(regressed)
	case len(open) > 0:
		r.Verdict, r.Why, r.HeldUpBy = Inconclusive, "not decided: "+list(open), open
	case len(better) > 0:
		r.Verdict, r.Why = Improvement, "better: "+list(better)+", and nothing is worse"
	default:
		r.Verdict, r.Why = Pass, "nothing is worse by its margin"
	}
}

func list(names []string) string {
	text := names[0]
	for _, n := range names[1:] {
		text += ", " + n
	}
	return text
}
