package stat

import "math"

// Intercept returns y where the least-squares line through pairs of x and y meets x = 0,
// in the unit of y. Pairs with a NaN are left out; ok is false for fewer than three pairs,
// or where x does not vary.
func Intercept(x, y []float64) (at float64, ok bool) {
	var n, sx, sy, sxx, sxy float64
	for i := range min(len(x), len(y)) {
		if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
			continue
		}
		n, sx, sy, sxx, sxy = n+1, sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	spread := n*sxx - sx*sx
	if n < 3 || !(spread > 1e-9*n*sxx) {
		return 0, false
	}
	slope := (n*sxy - sx*sy) / spread
	return (sy - slope*sx) / n, true
}
