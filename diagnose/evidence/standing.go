package evidence

import (
	"math"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/stat"
)

// leastWindows is how many windows a line needs for its slope to mean anything.
const leastWindows = 20

// standing returns how many CPUs the generator uses at any rate: it samples, draws its
// view and wakes up however few requests there are, and that bounds no rate. It is the
// intercept of the line through its CPU and its requests per window: demand by regression
// of the utilisation law (Rolia and Vetland, Parameter Estimation for Performance Models
// of Distributed Application Systems, CASCON 1995). 0 where windows are too few, or the
// rate does not vary.
//
// The service has no such line: on saturated CPUs it uses the same at any rate.
func (p *Set) standing() float64 {
	c, span := p.CPU(), p.Steady().Len().Seconds()
	cpu, requests := p.Series(series.GeneratorCPU, "").Values, p.Series(series.LoadRequests, "").Values
	windows := min(len(cpu), len(requests))
	if windows < leastWindows || !(c.Generator > 0) || !(span > 0) {
		return 0
	}
	fixed, ok := stat.Intercept(requests, cpu)
	if !ok {
		return 0
	}
	return math.Max(0, math.Min(c.Generator, fixed/1e9*float64(windows)/span))
}

// idling returns how many CPUs the service uses for no request: redline's probe and
// traces, and the scheduler's search for work. A thread without work spins through
// the queues of all others before it parks (runtime/proc.go, "Worker thread
// parking/unparking"). That cost depends on idleness rather than on requests, so it
// is weighted by how idle the service leaves its CPUs.
func (p *Set) idling() float64 {
	c := p.CPU()
	if !(c.Target > 0) {
		return 0
	}
	fixed := p.Observed() * c.Target
	if use, err := p.Use(); err == nil && c.Limit > c.Target {
		fixed += use.With(callstack.Schedule) * p.Own() * (1 - c.Target/c.Limit)
	}
	return fixed
}
