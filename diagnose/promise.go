package diagnose

import (
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/findings"
)

// Promise writes the largest of the gains into a finding, unless it promises more
// already. Gains are alternatives, by different models of the same removal; they
// never add up.
func Promise(f *Finding, gains ...laws.Gain) {
	for _, g := range gains {
		if g.Factor > f.GainCeiling {
			f.GainCeiling, f.GainOf, f.Then, f.GainAtLeast = g.Factor, g.Of, g.Then, g.AtLeast
			f.GainLow, f.GainHigh = g.Low, g.High
		}
	}
}

// gainOf says what a finding gains if its analyzer did not.
func (p *Pass) gainOf(f findings.Finding) string {
	if f.ShareOf == OfTail {
		return laws.Latency
	}
	return p.Model(false).Of()
}

// cpuUse is the use of CPUs for readers, in CPUs; nil if the host's is unknown.
func cpuUse(c evidence.CPU) *findings.CPUUse {
	if !(c.CPUs > 0 && c.Busy > 0) {
		return nil
	}
	known := func(v float64) float64 {
		if v > 0 {
			return v
		}
		return 0
	}
	return &findings.CPUUse{CPUs: c.CPUs, Busy: c.Busy, Full: c.HostUse() >= evidence.Saturation,
		Target: known(c.Target), Generator: known(c.Generator), Database: known(c.Database)}
}
