package usl

import (
	"math"

	"gonum.org/v1/gonum/optimize" // Nelder and Mead's simplex: no derivatives, no starting trouble
)

// coefficient is an axis of the surface.
type coefficient int

const (
	sigma coefficient = iota
	kappa
)

// candidate is a sigma and a kappa; lambda follows from them, because the law is linear
// in it.
type candidate [2]float64

// surface is the sum of squares over sigma and kappa.
type surface struct {
	points []Point
	most   float64
	total  float64 // sum of squares around the mean
	// unit of each axis, so that a step means the same on both.
	unit candidate
}

func newSurface(points []Point) *surface {
	s := &surface{points: points, most: largest(points)}
	mean := 0.0
	for _, p := range points {
		mean += p.X / float64(len(points))
	}
	for _, p := range points {
		s.total += square(p.X - mean)
	}
	s.unit = candidate{1 / s.most, 1 / square(s.most)}
	return s
}

// lambda is the best one at a candidate: least squares through the origin.
func (s *surface) lambda(at candidate) float64 {
	var both, one float64
	for _, p := range s.points {
		r := relative(p.N, at[sigma], at[kappa])
		both, one = both+r*p.X, one+r*r
	}
	return both / one
}

func (s *surface) law(at candidate) Law {
	return Law{Lambda: s.lambda(at), Sigma: at[sigma], Kappa: at[kappa]}
}

// sum returns the sum of squares at a candidate; +Inf where the law has no value.
func (s *surface) sum(at candidate) float64 {
	lambda, sum := s.lambda(at), 0.0
	for _, p := range s.points {
		sum += square(p.X - lambda*relative(p.N, at[sigma], at[kappa]))
	}
	if math.IsNaN(sum) {
		return math.Inf(1)
	}
	return sum
}

// inside is sum within the physical range, and +Inf outside of it.
func (s *surface) inside(at candidate) float64 {
	if at[sigma] < 0 || at[sigma] > 1 || at[kappa] < 0 {
		return math.Inf(1)
	}
	return s.sum(at)
}

// least returns the best candidate of the physical range. A simplex collapses before it
// reaches an edge, so the edges are searched by themselves.
func (s *surface) least() candidate {
	best := candidate{}
	for _, from := range []candidate{{1, 1}, {0.1, 0.1}, {10, 10}, {10, 0.1}, {0.1, 10}} {
		found := s.descend(candidate{from[sigma] * s.unit[sigma], from[kappa] * s.unit[kappa]}, s.inside)
		best = s.better(best, found)
	}
	best = s.better(best, candidate{0, s.along(kappa, candidate{}).value})
	return s.better(best, candidate{s.along(sigma, candidate{}).value, 0})
}

func (s *surface) better(a, b candidate) candidate {
	if s.inside(b) < s.inside(a) {
		return b
	}
	return a
}

// leastAnywhere returns the best candidate wherever the law has a value at all points.
func (s *surface) leastAnywhere(from candidate) candidate {
	for a := range from {
		from[a] += 0.1 * s.unit[a] // away from an edge, where steps of zero length start
	}
	found := s.descend(from, s.sum)
	return s.descend(found, s.sum)
}

func (s *surface) descend(from candidate, height func(candidate) float64) candidate {
	at := func(x []float64) candidate { return candidate{x[0] * s.unit[0], x[1] * s.unit[1]} }
	problem := optimize.Problem{Func: func(x []float64) float64 { return height(at(x)) }}
	start := []float64{from[0] / s.unit[0], from[1] / s.unit[1]}
	result, err := optimize.Minimize(problem, start, &optimize.Settings{
		MajorIterations: 600, Converger: &optimize.FunctionConverge{Relative: 1e-13, Iterations: 60},
	}, &optimize.NelderMead{})
	if result == nil || err != nil && result.X == nil {
		return from
	}
	return at(result.X)
}

// lowest is the least sum of squares along an axis, and where.
type lowest struct{ value, sum float64 }

// along returns the best value of one coefficient from zero, the other held.
// Golden section: along an axis the sum falls to its one valley and rises again.
func (s *surface) along(axis coefficient, at candidate) lowest {
	height := func(v float64) float64 {
		at[axis] = v
		return s.inside(at)
	}
	// Beyond the first unit the axis is searched by powers: kappa may be far above it.
	high := s.unit[axis]
	for range 60 {
		if height(2*high) > height(high) {
			break
		}
		high *= 2
	}
	const golden = 0.6180339887498949
	from, to := 0.0, 2*high
	a, b := to-golden*(to-from), from+golden*(to-from)
	heightA, heightB := height(a), height(b)
	for range 100 {
		if heightA <= heightB {
			to, b, heightB = b, a, heightA
			a = to - golden*(to-from)
			heightA = height(a)
		} else {
			from, a, heightA = a, b, heightB
			b = from + golden*(to-from)
			heightB = height(b)
		}
	}
	found := lowest{(from + to) / 2, height((from + to) / 2)}
	if zero := height(0); zero <= found.sum {
		return lowest{0, zero}
	}
	return found
}

// bound is the sum of squares up to which a candidate belongs to the interval.
func (s *surface) bound(least float64) float64 {
	freedom := float64(len(s.points) - 3)
	return least * (1 + square(tQuantile(freedom))/freedom)
}

// profile returns the interval of one coefficient around the best candidate.
func (s *surface) profile(best candidate, axis coefficient) Interval {
	other := 1 - axis
	bound := s.bound(s.sum(best))
	fits := func(v float64) bool {
		at := candidate{}
		at[axis] = v
		return s.along(other, at).sum <= bound
	}
	interval := Interval{Low: 0, High: best[axis]}
	if !fits(0) {
		interval.Low = border(best[axis], 0, fits)
	}
	out := best[axis] + s.unit[axis]
	for range 60 {
		if !fits(out) {
			break
		}
		out = best[axis] + 2*(out-best[axis])
	}
	interval.High = border(best[axis], out, fits)
	if axis == sigma {
		interval.High = min(1, interval.High)
	}
	return interval
}

// border returns where fits changes between a value that fits and one that does not.
func border(in, out float64, fits func(float64) bool) float64 {
	for range 60 {
		mid := (in + out) / 2
		if fits(mid) {
			in = mid
		} else {
			out = mid
		}
	}
	return in
}
