package stat

import (
	"math"
	"slices"
)

// HodgesLehmann returns the one-sample Hodges-Lehmann estimate of location: the
// median of the Walsh averages (d[i]+d[j])/2, i <= j (HWC section 3.2, equation
// 3.23). For paired differences it estimates the pseudo-median difference, with
// 95 % of the mean's efficiency under normality and a breakdown point of 29 %.
// It is NaN for no values or for values that are not finite.
func HodgesLehmann(d []float64) float64 {
	w, ok := newWalsh(d)
	if !ok {
		return math.NaN()
	}
	return w.median()
}

// walsh gives order statistics of the Walsh averages of a sample without
// storing the n(n+1)/2 of them: counting how many lie at or below x takes one
// pass over the sorted sample, and a bisection over the floats finds the k-th.
type walsh struct {
	sorted []float64
}

// newWalsh copies and sorts d; ok is false when d is empty or not finite.
func newWalsh(d []float64) (walsh, bool) {
	if len(d) == 0 || !finite(d) {
		return walsh{}, false
	}
	sorted := slices.Clone(d)
	slices.Sort(sorted)
	return walsh{sorted}, true
}

// total returns the number of Walsh averages.
func (w walsh) total() int { n := len(w.sorted); return n * (n + 1) / 2 }

// average is written so that it cannot overflow, and is monotone in both
// arguments, which count relies on.
func average(a, b float64) float64 { return a/2 + b/2 }

// count returns how many Walsh averages are at most x: for each i the partners
// j >= i form a prefix that only shrinks as i grows.
func (w walsh) count(x float64) int {
	n, j := 0, len(w.sorted)-1
	for i := range w.sorted {
		for j >= i && average(w.sorted[i], w.sorted[j]) > x {
			j--
		}
		if j < i {
			break
		}
		n += j - i + 1
	}
	return n
}

// kth returns the k-th smallest Walsh average, k from 1 to total. It bisects
// over the bit patterns of floats in numeric order, so the result is exact: the
// smallest float x with count(x) >= k is itself a Walsh average.
func (w walsh) kth(k int) float64 {
	low := ordinal(w.sorted[0])
	high := ordinal(w.sorted[len(w.sorted)-1])
	for low < high {
		mid := low + (high-low)/2
		if w.count(fromOrdinal(mid)) >= k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return fromOrdinal(low)
}

func (w walsh) median() float64 {
	m := w.total()
	if m%2 == 1 {
		return w.kth(m/2 + 1)
	}
	return average(w.kth(m/2), w.kth(m/2+1))
}

// ordinal maps finite floats to unsigned integers in the same order.
func ordinal(f float64) uint64 {
	bits := math.Float64bits(f)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

func fromOrdinal(o uint64) float64 {
	if o>>63 == 1 {
		return math.Float64frombits(o &^ (1 << 63))
	}
	return math.Float64frombits(^o)
}

func finite(d []float64) bool {
	for _, v := range d {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
