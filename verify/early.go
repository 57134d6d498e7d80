package verify

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/stat"
)

// The look at the first pairs of a session.
const (
	// EarlyPairs is how many pairs it takes, LeastEarly how many where there is no time for more.
	EarlyPairs, LeastEarly = 4, 3
	// earlyShare is the part of the session's error rate that it spends.
	earlyShare = 0.05
	// doubtless is how many margins the smallest difference of a pair must be.
	doubtless = 4
)

// Early judges a session's first pairs: whether they differ beyond any doubt, so that no more need
// be measured. All pairs must point one way, each by four margins, and Student's t test must find
// it at a twentieth of Rules.Alpha for all metrics together: of four pairs the mean difference is
// then eight times their standard deviation. A side that is worse by one metric so is a
// regression; one that is better must be so by all metrics that decide, and no guard may be worse.
// Sides that differ so are then judged by failed requests, as in Decide.
//
// decided is false for anything less, and for fewer than LeastEarly pairs. Where it is not decided,
// the looks that follow have the rest of Alpha, if Rules.Early is set.
func Early(pairs []Pair, r Rules) (out Result, decided bool) {
	out = Result{Schema: Schema, Verdict: Inconclusive, Pairs: len(pairs), Alpha: r.alpha(), Early: true,
		Warnings: []string{}, Metrics: []MetricResult{}, HeldUpBy: []string{}}
	out.AA.Different = []string{}
	if len(pairs) < LeastEarly {
		return out, false
	}
	a, b := answersOf(pairs)
	r.failing = a.failed+b.failed > 0
	out.Confidence = 1 - r.early()
	for _, m := range r.Metrics {
		d, ok := m.differences(pairs)
		j := judgement{m: m, p: math.NaN(), mde: math.NaN(), missing: "the target does not deliver it in every block"}
		clear := ok && r.doubtless(m, d)
		if ok {
			j.a, j.b = middles(m, pairs)
			j.estimate, j.low, j.high, j.p, j.known = stat.StudentInterval(d, 1-r.early())
			j.upper = math.Inf(1) // nothing passes so early
		}
		result := j.verdict(clear, false)
		switch {
		case clear && j.known:
			result.Why = fmt.Sprintf("all of the first %d pairs differ by %d margins or more", len(pairs), doubtless)
		case j.known:
			result.Verdict, result.Why = Inconclusive, "the first pairs do not show it clearly"
		}
		out.Metrics = append(out.Metrics, result)
	}
	out.conclude()
	if out.Verdict != Inconclusive { // failures alone do not end a session so early
		out.decideFailures(a, b, r.early()/2, false)
	}
	return out, out.Verdict != Inconclusive
}

// doubtless reports whether differences of pairs are such that Early decides by them.
func (r Rules) doubtless(m Metric, d []float64) bool {
	if m.Advisory && !m.Guard || len(d) < LeastEarly {
		return false
	}
	least := doubtless * math.Log1p(m.Margin)
	if slices.Min(d) < least && slices.Max(d) > -least {
		return false
	}
	_, _, _, p, ok := stat.StudentInterval(d, 0.95)
	return ok && p <= r.early()
}

// early is the two-sided level of the early look's test of one metric.
func (r Rules) early() float64 {
	return earlyShare * r.alpha() / float64(max(1, r.deciding()+r.guards()))
}

// looked is the error rate that is left for the planned looks.
func (r Rules) looked() float64 {
	if r.Early {
		return r.alpha() * (1 - earlyShare)
	}
	return r.alpha()
}
