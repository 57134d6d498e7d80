package diagnose

import (
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record"
)

// Promise writes a gain into a finding, unless it promises more already.
func Promise(f *Finding, gains ...laws.Gain) {
	for _, g := range gains {
		if g.Factor > f.GainCeiling {
			f.GainCeiling, f.GainOf, f.Then = g.Factor, g.Of, g.Then
		}
	}
}

// gainOf says what a finding gains whose analyzer left it open.
func (p *Pass) gainOf(f record.Finding) string {
	if f.ShareOf == OfTail {
		return laws.Latency
	}
	return p.Model(false).Of()
}

// cpuUse is the use of CPUs for readers; nil when the host's is unknown.
func cpuUse(c evidence.CPU) *record.CPUUse {
	if !(c.CPUs > 0 && c.Busy > 0) {
		return nil
	}
	known := func(v float64) float64 {
		if v > 0 {
			return v
		}
		return 0
	}
	return &record.CPUUse{CPUs: c.CPUs, Busy: c.Busy, Full: c.HostUse() >= evidence.Saturation,
		Target: known(c.Target), Generator: known(c.Generator), Database: known(c.Database)}
}
