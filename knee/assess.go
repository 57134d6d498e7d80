package knee

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/stat"
)

const (
	// leastGrowth is the part of the offered load that must be left unserved for a
	// step to break: half of what an interval of 1 % can resolve.
	leastGrowth = 0.005
	// leastBehind is the least number of such requests over the step: the number in
	// progress always fluctuates by a few.
	leastBehind = 4
	// shiftP and shiftLeast are how sure and how large a shift of the median latency
	// makes a step unsteady. Successive windows are correlated, so Pettitt's p is
	// too small for them; the size decides.
	shiftP     = 0.001
	shiftLeast = 0.5
	// fewWindows are too few to show a trend.
	fewWindows = 10
	// mostErrors is the part of requests that may fail under derived objectives.
	mostErrors = 0.01
)

// Windows holds a step's figures over its measured span, by window.
type Windows struct {
	Seconds  float64   // width of a window
	Progress []float64 // requests sent or waiting to be; NaN is a gap
	P50      []float64 // median latency, ns; NaN if nothing ended
}

// Assess sets the outcome of an open-loop step from its figures and windows. broken are the
// objectives that it failed, in words; void is why its figures are not the target's, empty if
// they are. poisson is set if arrivals were random, so that the number in progress fluctuates by
// itself.
func (s *Step) Assess(w Windows, broken []string, void string, poisson bool) {
	s.Progress, s.Growth = w.growth(s.Rate)
	s.Why = slices.Clone(broken)
	if s.behind(poisson) {
		s.Why = append(s.Why, fmt.Sprintf("%s of the requests stayed behind", notation.Percent(s.Growth)))
	}
	at, by := w.shift()
	switch {
	case len(s.Why) > 0:
		s.Outcome = Breaks
	case void != "":
		s.Outcome, s.Why = Void, []string{void}
	case by >= shiftLeast:
		s.Outcome = Unsteady
		s.Why = []string{fmt.Sprintf("the median latency shifted by %s after %.1f s", notation.Percent(by), float64(at)*w.Seconds)}
	default:
		s.Outcome = Holds
	}
}

// behind reports whether the target did not keep up. Random arrivals change the
// number in progress by the square root of their number, and so do random service
// times: a change within twice that is no trend.
func (s *Step) behind(poisson bool) bool {
	left := s.Growth * s.Rate * s.Measured.Seconds()
	least := float64(leastBehind)
	if poisson {
		least += 2 * math.Sqrt(s.Rate*s.Measured.Seconds())
	}
	return s.Growth > leastGrowth && left >= least
}

// growth returns the mean number in progress, and how fast it grew, over the rate:
// the slope of Theil and Sen (P. K. Sen, JASA 63 (1968), 1379-1389), which a few odd
// windows hardly affect.
func (w Windows) growth(rate float64) (mean, growth float64) {
	var slopes []float64
	total, n := 0.0, 0
	for i, v := range w.Progress {
		if math.IsNaN(v) {
			continue
		}
		total, n = total+v, n+1
		for j := i + 1; j < len(w.Progress); j++ {
			if u := w.Progress[j]; !math.IsNaN(u) {
				slopes = append(slopes, (u-v)/(float64(j-i)*w.Seconds))
			}
		}
	}
	if n == 0 {
		return 0, 0
	}
	mean = total / float64(n)
	if n < fewWindows || rate <= 0 {
		return mean, 0
	}
	return mean, stat.Median(slopes) / rate
}

// shift returns the window at which the level of the median latency shifts, and the
// size of the shift as a part of the lower level; 0 if there is none.
func (w Windows) shift() (at int, by float64) {
	var present []float64
	var windows []int // of those
	for i, v := range w.P50 {
		if !math.IsNaN(v) {
			present, windows = append(present, v), append(windows, i)
		}
	}
	if len(present) < fewWindows {
		return 0, 0
	}
	first, p := stat.ChangePoint(present)
	if p > shiftP || first == 0 {
		return 0, 0
	}
	before, after := stat.Median(present[:first]), stat.Median(present[first:])
	lower := min(before, after)
	if lower <= 0 {
		return 0, 0
	}
	return windows[first], math.Abs(after-before) / lower
}
