package machine

import (
	"math"

	"github.com/redline-go/redline/stat"
)

// Verdict on one figure of two baselines.
type Verdict string

// Verdicts.
const (
	Drifted      Verdict = "drifted"      // beyond the margin for sure
	Steady       Verdict = "steady"       // within the margin for sure
	Inconclusive Verdict = "inconclusive" // the interval reaches over the margin
	NotJudged    Verdict = "not judged"   // measured on one side alone
)

// Drift is one figure of two baselines. Change, Low and High are relative to the base;
// the interval is simultaneous with those of all other figures.
type Drift struct {
	Name      string  `json:"name"`
	Dimension string  `json:"dimension"`
	Unit      string  `json:"unit"`
	Base      float64 `json:"base"`
	Now       float64 `json:"now"`
	Change    float64 `json:"change"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Verdict   Verdict `json:"verdict"`
	Worse     bool    `json:"worse"` // the direction, if it drifted
}

const (
	// DefaultMargin is the change up to which a machine is taken for unchanged: sessions
	// an hour apart differ by that where nothing was changed (docs/baseline.md).
	DefaultMargin = 0.05
	// falseAlarms is the probability that a comparison of unchanged machines has any
	// figure that drifted.
	falseAlarms = 0.01
)

// Compare sets a baseline against its base, by the ratio of rounds (Hodges and Lehmann's
// shift of logarithms, by Mann and Whitney's test), with Bonferroni's correction over the
// figures that both have. Zero means DefaultMargin.
func Compare(base, now *Baseline, margin float64) []Drift {
	if margin <= 0 {
		margin = DefaultMargin
	}
	before := map[string]Figure{}
	shared := 0
	for _, f := range base.Figures {
		before[f.Name] = f
	}
	for _, f := range now.Figures {
		if len(before[f.Name].Rounds) > 0 && len(f.Rounds) > 0 {
			shared++
		}
	}
	var out []Drift
	for _, f := range now.Figures {
		a := before[f.Name]
		d := Drift{Name: f.Name, Dimension: f.Dimension, Unit: f.Unit, Base: a.Median, Now: f.Median, Verdict: NotJudged}
		if a.Unit == f.Unit && shared > 0 {
			d.decide(a.Rounds, f.Rounds, f.Higher, margin, 1-falseAlarms/float64(shared))
		}
		out = append(out, d)
	}
	return out
}

func (d *Drift) decide(a, b []float64, higher bool, margin, confidence float64) {
	estimate, low, high, ok := stat.ShiftInterval(logarithms(a), logarithms(b), confidence)
	if !ok {
		return
	}
	d.Change, d.Low, d.High = math.Expm1(estimate), math.Expm1(low), math.Expm1(high)
	bound := math.Log1p(margin)
	switch {
	case low > bound || high < -bound:
		d.Verdict, d.Worse = Drifted, (estimate > 0) != higher
	case low >= -bound && high <= bound:
		d.Verdict = Steady
	default:
		d.Verdict = Inconclusive
	}
}

func logarithms(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}

// drifted returns the figures that drifted.
func drifted(all []Drift) (out []Drift) {
	for _, d := range all {
		if d.Verdict == Drifted {
			out = append(out, d)
		}
	}
	return out
}
