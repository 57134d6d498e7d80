package compare

import (
	"math"
	"slices"
)

// figure is a metric of one run in the windows that have it. With per it is a quotient, of the requests or the time in
// the same windows.
type figure struct{ amount, per []float64 }

// of keeps the windows that hold a value above zero.
func of(values []float64) figure {
	return figure{amount: slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !(v > 0 && finite(v)) })}
}

// per keeps the windows in which both were recorded. Those in which nothing ended are among them: their time passed, and
// their CPU went into requests that ended later. Without them, slow services would look faster and cheaper.
func per(amount, by []float64) (f figure) {
	if len(amount) != len(by) {
		return f
	}
	for i := range amount {
		if !math.IsNaN(amount[i] + by[i]) {
			f.amount, f.per = append(f.amount, amount[i]), append(f.per, by[i])
		}
	}
	return f
}

func (f figure) windows() int { return len(f.amount) }

// over is the figure of some windows together: sum turns theirs into one, and a quotient is that of their sums.
func (f figure) over(from, to int, sum func([]float64) float64) float64 {
	if f.per == nil {
		return sum(f.amount[from:to])
	}
	return mean(f.amount[from:to]) / mean(f.per[from:to])
}

// blocks sums up the windows in runs of n, leaving a short rest out.
func (f figure) blocks(n int, sum func([]float64) float64) (list []float64) {
	for from := 0; from+n <= f.windows(); from += n {
		list = append(list, f.over(from, from+n, sum))
	}
	return list
}
