package usl

import (
	"fmt"
	"math"
)

// TooFewError is for points that no law can be fitted to.
type TooFewError struct {
	Distinct int   // concurrencies
	Bad      Point // one that is no measurement; zero when there is none
}

func (e *TooFewError) Error() string {
	if e.Bad != (Point{}) {
		return fmt.Sprintf("usl: a throughput of %v at concurrency %v is no measurement", e.Bad.X, e.Bad.N)
	}
	return fmt.Sprintf("usl: %d concurrencies were measured, and %d are needed", e.Distinct, LeastConcurrencies)
}

// UnphysicalError is for points that the law fits well only with meaningless
// coefficients: negative ones, or a contention above 1. Throughput that grows faster
// than concurrency (caches, batches) gives a negative sigma.
type UnphysicalError struct{ Law Law }

func (e *UnphysicalError) Error() string {
	return fmt.Sprintf(
		"usl: the points ask for sigma %.3g and kappa %.3g, outside of what both can be: the law does not describe this service",
		e.Law.Sigma,
		e.Law.Kappa,
	)
}

// WorseThanLineError is for points that a straight line describes as well.
type WorseThanLineError struct{ R2, LineR2 float64 }

func (e *WorseThanLineError) Error() string {
	return fmt.Sprintf("usl: a straight line explains as much of the points (%.3f) as the law (%.3f): nothing bends",
		e.LineR2, e.R2)
}

// PeakOutsideError is for a peak that may lie beyond the largest concurrency
// measured: an extrapolation. Farthest is where it lies at the lower limit of kappa,
// +Inf if that is zero.
type PeakOutsideError struct{ Peak, Farthest, Most float64 }

func (e *PeakOutsideError) Error() string {
	switch {
	case e.Peak > e.Most:
		return fmt.Sprintf("usl: the peak would lie at %.0f, and at most %.0f were measured", e.Peak, e.Most)
	case math.IsInf(e.Farthest, 1):
		return fmt.Sprintf("usl: throughput need not fall at all by these points: they show no peak up to %.0f", e.Most)
	}
	return fmt.Sprintf("usl: the peak lies between some %.0f and %.0f, and at most %.0f were measured", e.Peak, e.Farthest, e.Most)
}
