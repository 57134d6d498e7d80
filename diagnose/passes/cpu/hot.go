package cpu

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

// leastHot share of CPU in one function of the service itself: a quarter. In
// services whose cost is spread the hottest own function has a few per cent.
const leastHot = 0.25

// Hot finds the service's own hot functions.
var Hot = diagnose.Analyzer{
	Name:  "hot-function",
	Stage: diagnose.CPUUse,
	Doc: "Books samples that belong to no library domain on the innermost function of the user's code, runtime " +
		"functions called from it included, and names one that uses 25 % of the service's CPU, at its hottest line.",
	Causes: []diagnose.Cause{{
		ID: "cpu-hot-function", Title: "One of the service's own functions takes the CPU",
		Doc:    "A large part of the CPU is spent in one function of the service, not in a library.",
		Remedy: "Optimise the named lines, do it less often, or keep the result.",
	}},
	Needs: []diagnose.Need{diagnose.NeedCPUProfile},
	Run: func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		use, err := p.Use()
		if err != nil {
			return nil, err
		}
		if !p.Sampled(use, "cpu-hot-function") {
			return nil, nil
		}
		own := use.Own()
		if len(own) == 0 || own[0].Share < leastHot {
			return nil, nil
		}
		h := own[0]
		name := callstack.Short(h.Place.Function)
		f := diagnose.Finding{
			Cause: "cpu-hot-function", Share: h.Share, ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(h.Place),
			GainCeiling: p.CPUGain(h.Share), Confidence: record.Medium,
			Title:    fmt.Sprintf("%s takes %s of the service's CPU, hottest at %s", name, diagnose.Percent(h.Share), diagnose.At(h.Place)),
			Evidence: append([]record.Evidence{diagnose.Fact(diagnose.FromProfile, h.Share, diagnose.Ratio, "%s of %d CPU samples", diagnose.Percent(h.Share), use.Samples)}, saturation(p)...),
			Remedy:   fmt.Sprintf("Optimise %s around line %d, call it less often, or keep its result.", name, h.Place.Line),
		}
		if p.CPU().Saturated() {
			f.Confidence = record.High
		}
		return []diagnose.Finding{f}, nil
	},
}
