package experiment

import (
	"fmt"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/verify"
)

// Verdict is what an experiment says of its claim.
type Verdict string

// Verdicts.
const (
	Confirmed    Verdict = "confirmed"      // the claimed effect is there
	Smaller      Verdict = "smaller"        // there is an effect, and it is below the claim
	NoEffect     Verdict = "no effect"      // none beyond the margin, either way
	Reversed     Verdict = "reversed"       // the tuned side is worse
	Inconclusive Verdict = "inconclusive"   // the interval allows more than one of these
	NotHere      Verdict = "not applicable" // it cannot be tried here
)

const (
	// margin within which a factor is no effect, as in verify's decisions.
	margin = 0.05
	// nearly is the part of a claimed factor that confirms it: on another CPU, operating
	// system and Go version, four fifths of an effect is the effect.
	nearly = 0.8
	// Most is the largest factor that is distinguished from a larger one.
	Most = 1000
)

// Gain is how many times better the tuned side is, with the interval that verify decides by; 1 is no
// difference, and at most Most.
type Gain struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// gainOf turns the relative change of a cost into a gain: a cost that falls by nine
// tenths is ten times better. ok is false where no change is known.
func gainOf(m verify.MetricResult) (g Gain, ok bool) {
	if m.Verdict == verify.Inconclusive && m.Estimate == 0 && m.Low == 0 && m.High == 0 {
		return Gain{}, false
	}
	if m.Verdict == verify.Improvement && m.B == 0 && m.A > 0 {
		return Gain{Most, Most, Most}, true // gobench counts from one where a side has none
	}
	inverse := func(change float64) float64 {
		if change <= 1.0/Most-1 {
			return Most
		}
		return 1 / (1 + change)
	}
	return Gain{inverse(m.Estimate), inverse(m.High), inverse(m.Low)}, true
}

// widened allows for a bias: if the baseline differed from itself, the difference is about as
// large as the smallest detectable change, and may be part of the gain.
func (g Gain) widened(change float64) Gain {
	if !(change > 0) {
		return Gain{g.Estimate, 0, Most}
	}
	return Gain{g.Estimate, g.Low / (1 + change), min(Most, g.High*(1+change))}
}

// decide compares a gain with the claimed factor; 0 claims only a direction.
func decide(g Gain, claimed float64) (Verdict, string) {
	switch {
	case g.Low >= 1/(1+margin) && g.High <= 1+margin:
		return NoEffect, fmt.Sprintf("within %s of none", notation.Percent(margin))
	case g.High < 1:
		return Reversed, "the tuned side is worse"
	case g.Low <= 1:
		return Inconclusive, "the difference could be noise"
	case claimed == 0:
		return Confirmed, "better, as claimed"
	case g.Low >= nearly*claimed:
		return Confirmed, fmt.Sprintf("at least %s of the claimed %s", notation.Percent(nearly), notation.Factor(claimed))
	case g.High < nearly*claimed:
		return Smaller, fmt.Sprintf("better, but by less than %s of the claimed %s", notation.Percent(nearly), notation.Factor(claimed))
	}
	return Inconclusive, fmt.Sprintf("better, but the interval does not show whether by %s of the claimed %s",
		notation.Percent(nearly), notation.Factor(claimed))
}
