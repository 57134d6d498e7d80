package evidence

import (
	"math"

	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/series"
)

const (
	// quotaPeriod of the kernel's CPU bandwidth control, in seconds
	// (cpu.max's default, Documentation/admin-guide/cgroup-v2.rst).
	quotaPeriod = 0.1
	// leastSide is the least number of windows with stops, and of windows without,
	// for comparing their latency.
	leastSide = 5
)

// Stops is the effect of CPU quota throttling on the target.
type Stops struct {
	Known bool // whether throttling was recorded, so that there is a control group
	// Periods is the part of the quota's periods in which it ran out, 0 to 1.
	Periods float64
	// Stopped is the throttled time of the group's CPUs, in seconds per second; it can
	// exceed 1 with several CPUs.
	Stopped float64
	// Length is the mean stop, in ns over all CPUs; NaN without one.
	Length float64
	// InStops and Elsewhere are the mean p99 of the latency, in ns, of windows in
	// which the quota ran out (or ran out in the one before), and of the rest;
	// NaN if one side has too few windows.
	InStops, Elsewhere float64
	// Gain bounds the latency gain, over all windows, of ending the stops; 1 if it is
	// unknown, or if the quota is exhausted on average, so that a larger one gives Room
	// instead.
	Gain float64
}

// Stops compares windows in which the CPU quota ran out with the rest.
func (p *Set) Stops() Stops {
	return p.stops.Get(p.readStops)
}

// readStops counts a window as stopped if the quota ran out in it or in the one
// before: the requests that were stopped finish in the next.
func (p *Set) readStops() Stops {
	s := Stops{Gain: 1, Length: math.NaN(), InStops: math.NaN(), Elsewhere: math.NaN()}
	stopped, ok := p.Rate(series.CgroupThrottled, "")
	times, counted := p.Rate(series.CgroupThrottles, "")
	if !ok && !counted {
		return s
	}
	s.Known, s.Stopped = true, stopped/1e9
	if s.Periods = times * quotaPeriod; s.Periods > 0 {
		s.Length = stopped / times
	}
	if periods, ok := p.Rate(series.CgroupPeriods, ""); ok && periods > 0 {
		s.Periods = times / periods
	}
	s.Periods = math.Min(1, s.Periods)

	latency := p.Series(series.LoadLatency, series.Labels("q", "p99")).Values
	throttles := p.Series(series.CgroupThrottles, "").Values
	hit := make([]bool, len(latency))
	for i := range hit {
		hit[i] = i < len(throttles) && throttles[i] >= 0.5 || i > 0 && i-1 < len(throttles) && throttles[i-1] >= 0.5
	}
	var sum, n [2]float64
	for i, v := range latency {
		side := 0
		if hit[i] {
			side = 1
		}
		if !math.IsNaN(v) {
			sum[side], n[side] = sum[side]+v, n[side]+1
		}
	}
	if n[0] < leastSide || n[1] < leastSide {
		return s
	}
	s.InStops, s.Elsewhere = sum[1]/n[1], sum[0]/n[0]
	if c := p.CPU(); !(c.Target >= limitUsed*c.Quota) && s.Elsewhere > 0 {
		all := (sum[0] + sum[1]) / (n[0] + n[1])
		s.Gain = math.Max(1, math.Min(laws.Most, all/s.Elsewhere))
	}
	return s
}
