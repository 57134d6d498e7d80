package verify

import (
	"fmt"
	"time"
)

// Schema names the JSON that `redline ab --json` and `gate --json` print.
const Schema = "redline.ab/1"

// Verdict is the outcome of a comparison.
type Verdict string

// Verdicts. Invalid is a session that measured nothing that may be compared.
const (
	Pass         Verdict = "pass"
	Regression   Verdict = "regression"
	Improvement  Verdict = "improvement"
	Inconclusive Verdict = "inconclusive"
	Invalid      Verdict = "invalid"
)

// Result is ab.json. Changes are relative, B against A, + is worse: 0.03 is 3 %
// more CPU. Of a metric where more is better they are those of its inverse: 0.25 is
// throughput that fell by a fifth.
type Result struct {
	Schema  string         `json:"schema"`
	Verdict Verdict        `json:"verdict"`
	Why     string         `json:"why"`   // one sentence; a target's last output may follow in lines
	Sides   [2]string      `json:"sides"` // the two sides in words, without secrets; empty where unknown
	Pairs   int            `json:"pairs"`
	Metrics []MetricResult `json:"metrics"`
	// HeldUpBy names the metrics that keep an inconclusive session from passing; empty for other
	// verdicts. Why they do is in their MetricResult.
	HeldUpBy []string `json:"held_up_by"`
	// Tolerated says that whoever asked takes this inconclusive verdict for a pass with a warning.
	Tolerated bool `json:"tolerated,omitempty"`
	AA        AA   `json:"aa"`
	// Alpha is the two-sided error rate that the session's decisions together are
	// designed for: of false regressions, half of it.
	Alpha float64 `json:"alpha"`
	Looks int     `json:"looks"` // how often the data were looked at
	// Confidence is that of each metric's interval, 0 to 1: an early look has to be surer, so that its
	// intervals are wider than the usual 95 %. Zero where no look at pairs gave them.
	Confidence float64  `json:"confidence,omitempty"`
	Planned    int      `json:"planned"` // looks that were planned and paid for
	Warnings   []string `json:"warnings"`
	// Early says that the look at the first pairs decided, of which there are no further figures.
	Early bool `json:"early,omitempty"`
	// Noise says where the noise of CPU per request came from, Plan how the time was divided by that;
	// nil for sides that took no turns.
	Noise *Components `json:"noise,omitempty"`
	Plan  *Plan       `json:"plan,omitempty"`
	// Turn is for how long each side was loaded while the other, up as well,
	// rested; zero where one side was up at a time, and Apart says why, unless that
	// was asked for.
	Turn  time.Duration `json:"turn_ns,omitempty"`
	Apart string        `json:"apart,omitempty"`
	// AlsoAgainst is the comparison with a second, earlier base; nil without one.
	AlsoAgainst *Second `json:"also_against,omitempty"`
	// Stored is set where side A is a stored baseline; there are no pairs then.
	Stored *Stored `json:"baseline,omitempty"`
}

// MetricResult is one metric's part of a Result.
type MetricResult struct {
	Name     string  `json:"name"`
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Margin   float64 `json:"margin"`
	Verdict  Verdict `json:"verdict"`
	// MDE is the smallest change that sessions like this one find in four of
	// five, those that need all of their looks included; 0 when that is not known.
	MDE      float64 `json:"mde"`
	Advisory bool    `json:"advisory"`
	Guard    bool    `json:"guard,omitempty"`  // fails the session if it is a regression; see Metric
	Higher   bool    `json:"higher_is_better"` // Estimate is then of time per unit: + is worse all the same
	A        float64 `json:"a"`                // the median block of either side, in Unit
	B        float64 `json:"b"`
	Unit     string  `json:"unit"`
	// Worst is the bound on the change for the worse that the verdict rests on, one-sided at 97.5 % for
	// all looks together; a pass needs it inside Margin. Nil where nothing was measured.
	Worst *float64 `json:"worst,omitempty"`
	Why   string   `json:"why"`
}

// Second is a comparison with a second base, such as the last release.
type Second struct {
	Base   string `json:"base"` // as it was named
	Result Result `json:"result"`
}

// Also returns the result with a comparison of the same side b with an earlier base: what is worse
// than either is a regression, and nothing passes that is not decided against both.
func (r Result) Also(base string, second Result) Result {
	r.AlsoAgainst = &Second{base, second}
	why := fmt.Sprintf("against %s: %s", base, second.Why)
	switch {
	case r.Verdict == Regression && second.Verdict == Regression:
		r.Why += "; " + why
	case r.Verdict == Regression || r.Verdict == Invalid:
	case second.Verdict == Regression || second.Verdict == Invalid || second.Verdict == Inconclusive && r.Verdict != Inconclusive:
		r.Verdict, r.Why, r.HeldUpBy = second.Verdict, why, second.HeldUpBy
	}
	return r
}

// Unchanged is the result of a comparison with a revision whose code is the same, so that nothing
// was measured.
func Unchanged(base string) Result {
	r := Result{Schema: Schema, Verdict: Pass, Why: "nothing was measured: the target is built of the same code as at " + base,
		Metrics: []MetricResult{}, HeldUpBy: []string{}, Warnings: []string{}}
	r.AA.Different = []string{}
	return r
}

// Plan is how a session's time is divided among launches and their turns.
type Plan struct {
	Pairs  int           `json:"pairs"`     // of launches, at most
	Turns  int           `json:"turns"`     // of either side in a pair
	Launch time.Duration `json:"launch_ns"` // what a pair costs before its first turn
	Turn   time.Duration `json:"turn_ns"`   // what a turn of both sides costs
}

// AA is the result of comparing a side with itself.
type AA struct {
	Pairs int `json:"pairs"`
	// FalsePositive is the simulated rate of sessions like this one, with this
	// noise and no difference, that would be called regressions.
	FalsePositive float64 `json:"false_positive"`
	MDE           float64 `json:"mde"` // of the first deciding metric, at the session's pairs
	// Different lists deciding metrics by which identical sides differed.
	Different []string `json:"different"`
}

// Change is a cost at one place on both sides, in ns per request or operation.
type Change struct {
	Place string  `json:"place"`
	A     float64 `json:"a_ns"`
	B     float64 `json:"b_ns"`
}
