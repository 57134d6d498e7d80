package measured

import (
	"slices"
	"time"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/stacks"
)

// This file removes what redline itself adds to a service, so that analyzers see profiles,
// goroutine dumps and an anatomy of the service alone.

// readProfile reads a profile without redline's own samples, and keeps their share for
// Observed.
func (p *Run) readProfile(typ, value string) (*Profile, error) {
	prof, err := stacks.Read(p.Record, typ, value, p.Note)
	if err != nil {
		return nil, err
	}
	all := prof.Total
	rejoin(prof)
	apart(prof)
	if typ == "cpu" || typ == "allocs" {
		p.adopt(prof)
	}
	if typ == "cpu" && all > 0 {
		p.observed = float64(all-prof.Total) / float64(all)
	}
	return prof, nil
}

// apart removes redline's own samples.
func apart(prof *Profile) {
	prof.Samples = slices.DeleteFunc(prof.Samples, func(s Sample) bool {
		if !callstack.Observes(s.Stack) {
			return false
		}
		prof.Total -= s.Value
		prof.Count -= s.Count
		return true
	})
}

// Observed returns the part of the process's CPU, 0 to 1, that observing it took: the probe,
// its hooks, and the runtime's writing of traces. 0 without a CPU profile. Shares of CPU are
// shares of the rest.
func (p *Run) Observed() float64 {
	_, _ = p.Profile("cpu", "cpu") // sets observed; without a profile it stays 0
	return p.observed
}

// served returns an anatomy without the probe's goroutines and without its hooks' time in
// requests, which is subtracted from the durations.
func served(a *breakdown.Anatomy) *breakdown.Anatomy {
	if a == nil {
		return nil
	}
	out := *a
	out.All, out.MeanNS = ownParts(a.All, a.MeanNS)
	out.Median, out.MedianNS = ownParts(a.Median, a.MedianNS)
	out.Tail, out.TailNS = ownParts(a.Tail, a.TailNS)
	out.Serial = slices.DeleteFunc(slices.Clone(a.Serial), func(s breakdown.Serial) bool { return probes(s.Goroutine) })
	out.Helpers = slices.DeleteFunc(slices.Clone(a.Helpers), func(h breakdown.Helper) bool { return probes(h.Entry) })
	return &out
}

func ownParts(parts []breakdown.Part, whole time.Duration) ([]breakdown.Part, time.Duration) {
	own := slices.DeleteFunc(slices.Clone(parts), func(p breakdown.Part) bool {
		if !callstack.Observes(p.Stack) {
			return false
		}
		whole -= time.Duration(p.NS)
		return true
	})
	for i := range own { // a bundle from elsewhere may hold chains of nothing, and who follows one looks at its end
		empty := func(c breakdown.Chain) bool { return len(c.Links) == 0 }
		if slices.ContainsFunc(own[i].Behind, empty) {
			own[i].Behind = slices.DeleteFunc(slices.Clone(own[i].Behind), empty)
		}
	}
	return own, whole
}

func probes(function string) bool { return code.Probe(code.Frame{Function: function}) }
