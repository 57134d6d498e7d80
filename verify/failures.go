package verify

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/notation"
)

const (
	// mostErrors is by how much, in points, side B's share of failed requests may exceed side A's.
	mostErrors = 0.001
	// mostFailing is the share of failed requests above which sides are not compared: failures cost
	// other than answers do.
	mostFailing = 0.01
)

// answers is how the requests of some blocks ended.
type answers struct {
	share       float64 // that failed, in the mean block
	failed, all float64 // counts
}

// answered counts the requests of blocks: those that succeeded by their latencies, and the rest by the
// share that failed.
func answered(blocks []Block) (out answers) {
	for _, b := range blocks {
		out.share += b.Errors / float64(len(blocks))
		if b.Errors < 1 {
			all := math.Round(float64(b.Latency.Total()) / (1 - b.Errors))
			out.failed, out.all = out.failed+math.Round(all*b.Errors), out.all+all
		}
	}
	return out
}

// answersOf counts the requests of either side.
func answersOf(pairs []Pair) (a, b answers) {
	var as, bs []Block
	for _, p := range pairs {
		as, bs = append(as, p.A), append(bs, p.B)
	}
	return answered(as), answered(bs)
}

// decideFailures judges a figure that no metric of speed covers: requests that failed. level is the
// one-sided level of its test. Before the last look, side B's further failures keep a session going
// until they are certain, or chance.
func (r *Result) decideFailures(a, b answers, level float64, last bool) {
	both := fmt.Sprintf("side b fails %s of its requests, side a %s", notation.Percent(b.share), notation.Percent(a.share))
	more := b.share > a.share+mostErrors
	switch {
	case more && moreFail(a, b) <= level:
		r.Verdict, r.Why, r.HeldUpBy = Regression, both, []string{}
	case more && !last && r.Verdict != Regression:
		r.Verdict, r.Why = Inconclusive, both+", and more pairs may show whether that is chance"
	case r.Verdict != Regression && max(a.share, b.share) > mostFailing:
		r.Verdict, r.Why, r.HeldUpBy = Invalid, both+", and failures cost other than answers do", []string{}
	case more:
		r.Warnings = append(r.Warnings, both+", which may be chance")
	}
}

// moreFail returns the probability that so many of both sides' failures or more hit side B, if
// requests of both fail alike: Fisher's exact test, the tail of a hypergeometric distribution.
func moreFail(a, b answers) (p float64) {
	failed, all := a.failed+b.failed, a.all+b.all
	if b.failed*all <= failed*b.all {
		return 1
	}
	term := math.Exp(choose(b.all, b.failed) + choose(a.all, a.failed) - choose(all, failed))
	for n := b.failed; term > p*1e-12; n++ { // terms fall, because side B has more than its share
		p += term
		term *= (b.all - n) / (n + 1) * (failed - n) / (a.all - failed + n + 1)
	}
	return min(1, p)
}

// choose returns the logarithm of the binomial coefficient.
func choose(n, k float64) float64 {
	all, _ := math.Lgamma(n + 1)
	in, _ := math.Lgamma(k + 1)
	out, _ := math.Lgamma(n - k + 1)
	return all - in - out
}
