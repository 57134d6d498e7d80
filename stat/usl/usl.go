// Package usl fits the Universal Scalability Law to throughput measured at several
// concurrencies:
//
//	X(N) = lambda N / (1 + sigma (N-1) + kappa N (N-1))
//
// lambda is the throughput of one, sigma the contention (the part of the work that
// waits for its turn), kappa the coherency (the cost of each pair that must agree).
// With kappa above zero throughput has a peak at N = sqrt((1-sigma)/kappa) and falls
// beyond. The law is N. J. Gunther's (Guerrilla Capacity Planning, Springer 2007,
// chapters 4 to 6).
//
// It refuses fits that would mislead a reader: a peak that nobody measured,
// coefficients without a meaning, a curve that explains less than a straight line. The
// refusals are typed errors and come with the fit, for those who want to see it.
//
// It fits the throughputs themselves by least squares. The transformed parabola of
// Gunther's book was rejected: it divides by the first measurement, whose error then
// affects all others.
package usl

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv" // the t distribution, tested elsewhere
)

// Point is one measurement. N is the concurrency, at least 1, X the throughput in any unit of
// 1/s, above zero.
type Point struct{ N, X float64 }

// Interval is a confidence interval of a coefficient.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Law is a Universal Scalability Law.
type Law struct {
	Lambda float64 `json:"lambda"`
	Sigma  float64 `json:"sigma"`
	Kappa  float64 `json:"kappa"`
}

// At returns the throughput at a concurrency.
func (l Law) At(n float64) float64 { return l.Lambda * relative(n, l.Sigma, l.Kappa) }

// Peak returns the concurrency of the largest throughput; +Inf without a peak.
func (l Law) Peak() float64 {
	switch {
	case l.Sigma >= 1:
		return 1
	case l.Kappa <= 0:
		return math.Inf(1)
	}
	return math.Sqrt((1 - l.Sigma) / l.Kappa)
}

// Limit returns the throughput that the law approaches or peaks at: at the peak where
// there is one, else lambda/sigma; +Inf for linear growth.
func (l Law) Limit() float64 {
	if peak := l.Peak(); !math.IsInf(peak, 1) {
		return l.At(peak)
	}
	return l.Lambda / l.Sigma
}

// Fit is a law fitted to points, with 95 % intervals of its coefficients.
type Fit struct {
	Law
	SigmaInterval Interval `json:"sigma_interval"`
	KappaInterval Interval `json:"kappa_interval"`
	// R2 is the part of the variance explained, LineR2 that of a straight line.
	R2     float64 `json:"r2"`
	LineR2 float64 `json:"line_r2"`
	Points int     `json:"points"`
	Most   float64 `json:"most"` // largest concurrency measured
}

// confidence of the intervals.
const confidence = 0.95

// LeastConcurrencies is how many different concurrencies a fit needs: three
// coefficients leave two residuals.
const LeastConcurrencies = 5

// Of fits the law by least squares with sigma from 0 to 1 and kappa from 0.
//
// Intervals are by profile likelihood (D. M. Bates, D. G. Watts, Nonlinear Regression
// Analysis and Its Applications, Wiley 1988, section 6.1): the values of a coefficient
// for which the best fit of the others is not worse by more than t squared times the
// residual variance. They assume residuals of one variance, and end at the physical
// range.
//
// The error is a *TooFewError (no fit then), *UnphysicalError, *WorseThanLineError or
// *PeakOutsideError, in that order; with the last three the fit is returned as well.
func Of(points []Point) (*Fit, error) {
	seen := map[float64]bool{}
	for _, p := range points {
		if p.N >= 1 && p.X > 0 && !math.IsInf(p.N, 0) && !math.IsInf(p.X, 0) {
			seen[p.N] = true
		} else {
			return nil, &TooFewError{Bad: p}
		}
	}
	if len(seen) < LeastConcurrencies {
		return nil, &TooFewError{Distinct: len(seen)}
	}
	s := newSurface(points)
	physical := s.least()
	f := &Fit{Law: s.law(physical), Points: len(points), Most: s.most}
	f.R2, f.LineR2 = 1-s.sum(physical)/s.total, 1-s.line()/s.total
	f.SigmaInterval, f.KappaInterval = s.profile(physical, sigma), s.profile(physical, kappa)
	return f, s.refusal(f, physical)
}

// refusal returns why a fit must not be shown as the service's law.
func (s *surface) refusal(f *Fit, physical candidate) error {
	anywhere := s.leastAnywhere(physical)
	if s.sum(physical) > s.bound(s.sum(anywhere)) {
		return &UnphysicalError{Law: s.law(anywhere)}
	}
	// Per degree of freedom: the line has one coefficient fewer.
	freedom := float64(len(s.points))
	if s.sum(physical)/(freedom-3) >= s.line()/(freedom-2) {
		return &WorseThanLineError{R2: f.R2, LineR2: f.LineR2}
	}
	// The lower limit of kappa gives the farthest peak. If throughput only stops
	// growing, without falling, the interval of kappa includes zero.
	farthest := Law{Sigma: f.Sigma, Kappa: f.KappaInterval.Low}.Peak()
	if peak := f.Peak(); farthest > s.most {
		return &PeakOutsideError{Peak: peak, Farthest: farthest, Most: s.most}
	}
	return nil
}

// relative is the law for lambda 1; NaN where it has no value.
func relative(n, sigma, kappa float64) float64 {
	below := 1 + sigma*(n-1) + kappa*n*(n-1)
	if below <= 0 {
		return math.NaN()
	}
	return n / below
}

// tQuantile is the two-sided quantile of Student's t.
func tQuantile(freedom float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(1 - (1-confidence)/2)
}

// line returns the sum of squares that a straight line leaves.
func (s *surface) line() float64 {
	n := float64(len(s.points))
	var sx, sy, sxx, sxy float64
	for _, p := range s.points {
		sx, sy, sxx, sxy = sx+p.N, sy+p.X, sxx+p.N*p.N, sxy+p.N*p.X
	}
	slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	level, sum := (sy-slope*sx)/n, 0.0
	for _, p := range s.points {
		sum += square(p.X - level - slope*p.N)
	}
	return sum
}

func square(v float64) float64 { return v * v }

// largest returns the largest concurrency.
func largest(points []Point) float64 {
	return slices.MaxFunc(points, func(a, b Point) int {
		if a.N < b.N {
			return -1
		}
		return 1
	}).N
}
