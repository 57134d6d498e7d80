package evidence

import (
	"math"

	"github.com/redline-go/redline/record/series"
)

// leastWindows is how many windows a line needs for its slope to mean anything.
const leastWindows = 20

// standing returns how many CPUs the generator uses at any rate: it samples, draws and
// wakes up, however few requests there are, and that bounds no rate. It is where the line
// through its CPU and its requests per window meets no request: demand by regression of
// the utilisation law (Rolia and Vetland, Parameter Estimation for Performance Models of
// Distributed Application Systems, CASCON 1995). 0 where windows are too few, or the
// rate does not vary.
//
// The service has no such line: on CPUs that are used up it uses the same at any rate.
func (p *Set) standing() float64 {
	c, span := p.CPU(), p.Steady().Len().Seconds()
	cpu, requests := p.Series(series.GeneratorCPU, "").Values, p.Series(series.LoadRequests, "").Values
	windows := min(len(cpu), len(requests))
	if windows < leastWindows || !(c.Generator > 0) || !(span > 0) {
		return 0
	}
	fixed, ok := intercept(requests[:windows], cpu[:windows])
	if !ok {
		return 0
	}
	return math.Max(0, math.Min(c.Generator, fixed/1e9*float64(windows)/span))
}

// watching returns how many CPUs redline's probe and traces use within the service.
func (p *Set) watching() float64 {
	if fixed := p.Observed() * p.CPU().Target; fixed > 0 {
		return fixed
	}
	return 0
}

// intercept returns y at no x by least squares; ok is false where x hardly varies. NaN
// on either side leaves a pair out.
func intercept(x, y []float64) (at float64, ok bool) {
	var n, sx, sy, sxx, sxy float64
	for i := range x {
		if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
			continue
		}
		n, sx, sy, sxx, sxy = n+1, sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	spread := n*sxx - sx*sx
	if n < leastWindows || !(spread > 1e-9*n*sxx) {
		return 0, false
	}
	slope := (n*sxy - sx*sy) / spread
	return (sy - slope*sx) / n, true
}
