package host

import (
	"fmt"
	"math"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/stat"
)

const (
	// coldPart: a start is cold if latency settles within the first third of the span; later shifts are something else.
	coldPart = 1.0 / 3
	// coldFactor is how many times slower the median window is before the shift.
	coldFactor = 1.5
	// surelyCold: with a smaller factor, another program may just have been busy
	// when the run began. atlas-first-touch is some 30 times slower.
	surelyCold = 4
	// leastColdWindows must precede the shift, so that a single slow window is not taken for a cold start.
	leastColdWindows = 5
	// coldChance is the probability of such a shift in stationary noise. The
	// factors do most of the work; this guards against spans that are short or
	// erratic.
	coldChance = 0.01
	// coldBlock is the number of windows per value: neighbouring windows are
	// correlated, which the test does not allow for.
	coldBlock = 2
)

// Cold finds measured spans that begin before the service is warm.
//
// Its finding qualifies all other findings: percentiles of a mixture of two levels describe
// neither. Pettitt's test (Pettitt 1979, A Non-Parametric Approach to the
// Change-Point Problem) finds where a level changes without assuming a
// distribution.
var Cold = diagnose.Analyzer{
	Name:  "cold",
	Stage: diagnose.Validity,
	Doc: "Looks for a change point (Pettitt) in whether the median latency of pairs of windows is 1.5 times that of the " +
		"second half: reported if it settles within the first third and was 1.5 times higher before.",
	Causes: []diagnose.Cause{{
		ID: "cold-start", Title: "The measured span begins before the service is warm",
		Doc: "The first windows are slower than the steady state: connections, caches and pools were still being filled. The " +
			"percentiles of the whole span mix two different states.",
		Knows: "The median latency of pairs of windows, compared with the median of the second half of the span. A change " +
			"point (Pettitt 1979, chance below 1 %) in which of them are 1.5 times slower must lie within the first third, " +
			"after at least half a second, and what comes before it must be 1.5 times slower in the median. A level that " +
			"shifts later is something else and not reported here. It qualifies the other findings but voids none; below a " +
			"factor of 4 confidence is low.",
		Remedy: "Use a longer warm-up.",
		Example: diagnose.Example{
			Lang:   "sh",
			Before: "redline run --warmup 0s -d 10s http://127.0.0.1:8080/",
			After:  "redline run --warmup 5s -d 10s http://127.0.0.1:8080/",
		},
		Verify:    "redline run with the longer warm-up: the latency over time is level from the beginning.",
		Cases:     []string{"atlas-first-touch"},
		Qualifies: true,
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	Run: func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		line := p.Series(series.LoadLatency, series.Labels("q", "p50"))
		latency := line.Values
		var blocks []float64
		for from := 0; from+coldBlock <= len(latency); from += coldBlock {
			if m := stat.Median(latency[from : from+coldBlock]); !math.IsNaN(m) {
				blocks = append(blocks, m)
			}
		}
		at, chance := settles(blocks)
		if at*coldBlock < leastColdWindows || float64(at) > coldPart*float64(len(blocks)) || chance > coldChance {
			return nil, nil
		}
		before, after := stat.Median(blocks[:at]), stat.Median(blocks[at:])
		if before < coldFactor*after {
			return nil, nil
		}
		trust := findings.Low
		if before >= surelyCold*after {
			trust = findings.Medium
		}
		settled := time.Duration(at*coldBlock) * line.Width
		return []diagnose.Finding{{
			Cause: "cold-start", Share: float64(at) / float64(len(blocks)), ShareOf: diagnose.OfCapacity, GainCeiling: 1, Confidence: trust,
			Title: fmt.Sprintf("The first %s of the measured span are warm-up: latency then falls from %s to %s",
				diagnose.Span(float64(settled)), diagnose.Span(before), diagnose.Span(after)),
			Evidence: []findings.Evidence{diagnose.Fact(diagnose.FromLoad, before/after, diagnose.Ratio,
				"the median latency falls by a factor of %s after %s (chance %.1g)", diagnose.Times(before/after),
				diagnose.Span(float64(settled)), chance)},
			Remedy: fmt.Sprintf("Warm up for %s longer (--warmup).", settled.Round(time.Second)+time.Second),
		}}, nil
	},
}

// settles returns the index at which values fall to the level of their second half,
// and the probability of such a fall by chance. Only whether a value is far above
// that level counts: ranks alone would find a slow drift within the warm part.
func settles(values []float64) (at int, chance float64) {
	level := stat.Median(values[len(values)/2:])
	above := make([]float64, len(values))
	for i, v := range values {
		if v >= coldFactor*level {
			above[i] = 1
		}
	}
	return stat.ChangePoint(above)
}
