package forecast

import "math"

// The exact likelihood costs as many steps as values times lags, many times the conditional one. Orders that reach back less
// than searchReach are searched by it; of those below exactReach, it refines only the best. Longer seasons come with long
// histories, for which the two hardly differ.
const (
	searchReach = 16
	exactReach  = 64
)

// dense returns the coefficients of lags 1, 2, ... n.
func dense(all []lag, n int) []float64 {
	out := make([]float64, n)
	for _, l := range all {
		out[l.steps-1] += l.by
	}
	return out
}

// autocovariances returns those of an autoregression with errors of variance 1, for lags 0 to n-1, by Levinson's
// recursion backward and forward (Brockwell and Davis, "Time Series: Theory and Methods", 1991, section 5.2); nil if it is
// not stationary.
func autocovariances(ar []float64, n int) []float64 {
	p := len(ar)
	forms := make([][]float64, p+1) // of each order
	forms[p] = ar
	spread := 1.0 // of the values, of variance 1 given all before
	for k := p; k > 0; k-- {
		partial := forms[k][k-1]
		left := 1 - partial*partial
		if left <= 0 {
			return nil
		}
		spread /= left
		forms[k-1] = make([]float64, k-1)
		for i := range k - 1 {
			forms[k-1][i] = (forms[k][i] + partial*forms[k][k-2-i]) / left
		}
	}
	out := make([]float64, max(n, 1))
	out[0] = spread
	for k := 1; k < n; k++ {
		form := forms[min(k, p)]
		if k <= p { // the last of the form's coefficients is what the new lag adds
			out[k] = form[k-1] * spread
			spread *= 1 - form[k-1]*form[k-1]
			form = forms[k-1]
		}
		for i, by := range form {
			out[k] += by * out[k-1-i]
		}
	}
	return out[:n]
}

// filter is the state-space form of an autoregressive moving average with errors of variance 1 (Harvey, "Forecasting,
// Structural Time Series Models and the Kalman Filter", 1989, section 3.2): the first element of the state is the value.
type filter struct {
	ar, ma []float64 // as many as the state; ma without the leading 1
	state  []float64
}

// newFilter returns nil for a process that is not stationary, else the filter and the covariances of the state's elements
// with the value before anything was seen.
func newFilter(ar, ma []lag) (*filter, []float64) {
	r := max(reach(ar), reach(ma)+1)
	f := &filter{dense(ar, r), dense(ma, r), make([]float64, r)}
	moving := append([]float64{1}, f.ma[:r-1]...)
	pure := autocovariances(f.ar, 2*r+1)
	if pure == nil {
		return nil, nil
	}
	// The covariances of the whole are those of the autoregression, weighted by the products of the moving average with
	// itself; psi weighs past errors in a value.
	gamma, psi := make([]float64, r+1), make([]float64, r)
	for shift := range r {
		weight := 0.0
		for i, by := range moving[:r-shift] {
			weight += by * moving[i+shift]
		}
		if shift == 0 {
			weight /= 2 // it is its own opposite
		}
		for k := range gamma {
			gamma[k] += weight * (pure[k+shift] + pure[max(k-shift, shift-k)])
		}
	}
	for k := range psi {
		psi[k] = moving[k]
		for i := range k {
			psi[k] += f.ar[i] * psi[k-1-i]
		}
	}
	with := make([]float64, r)
	with[0] = gamma[0]
	for i := 1; i < r; i++ {
		for j := i; j < r; j++ {
			with[i] += f.ar[j]*gamma[j-i+1] + moving[j]*psi[j-i]
		}
	}
	return f, with
}

// next moves a vector of the state's elements a step on, in place.
func (f *filter) next(v []float64) {
	first, last := v[0], len(v)-1
	copy(v, v[1:])
	v[last] = 0
	for i, by := range f.ar {
		v[i] += by * first
	}
}

// follow moves the state a step on, given the error of the step.
func (f *filter) follow(e float64) {
	f.state[0] += e
	for i := 1; i < len(f.state); i++ {
		f.state[i] += f.ma[i-1] * e
	}
	f.next(f.state)
}

// exact returns, per value, minus twice the logarithm of the likelihood of a Gaussian autoregressive moving average, except
// for a constant, at the best variance of its errors; infinity if the process is not stationary. Unlike the conditional
// sum of squares it loses no values and shies away from moving averages that cannot be inverted, which matters if there are
// few. Errs, if not nil, receives the one-step errors, scaled to the variance that they have once the filter is steady.
//
// The covariance is updated by its change, of rank 1 (Morf, Sidhu and Kailath, "Some new algorithms for recursive
// estimation in constant, linear, discrete-time systems", 1974), so that a value costs as many steps as the state has elements.
func exact(values []float64, ar, ma []lag, centre float64, errs []float64) (f *filter, criterion float64) {
	f, gain := newFilter(ar, ma)
	if f == nil || len(values) == 0 {
		return nil, math.Inf(1)
	}
	spread := gain[0]
	f.next(gain)
	change := append([]float64{}, gain...)
	sign := -1 / spread
	squares, logs, spreads, steady := 0.0, 0.0, 1.0, false
	for t, v := range values {
		if !(spread > 0) {
			return nil, math.Inf(1)
		}
		e := v - centre - f.state[0]
		squares += e * e / spread
		if spreads *= spread; spreads > 1e100 || spreads < 1e-100 { // a logarithm costs as much as ten products
			logs, spreads = logs+math.Log(spreads), 1
		}
		if errs != nil {
			errs[t] = e / math.Sqrt(spread)
		}
		f.next(f.state)
		share := e / spread
		for i, g := range gain {
			f.state[i] += g * share
		}
		if steady {
			continue
		}
		seen := change[0]
		before, by := spread, sign*seen
		f.next(change)
		spread += seen * by
		share = seen / spread
		sign += by * by / before
		size := 0.0
		for i, c := range change {
			gain[i] += c * by
			change[i] = c - gain[i]*share
			size += change[i] * change[i]
		}
		steady = size*math.Abs(sign) < 1e-12*spread
	}
	n := float64(len(values))
	return f, math.Log(squares/n+1e-300) + (logs+math.Log(spreads))/n
}

// continuing returns the filter after values, given the errors that conditional found in them.
func continuing(values []float64, ar, ma []lag, centre float64, errs []float64) *filter {
	r := max(reach(ar), reach(ma)+1)
	f, n := &filter{dense(ar, r), dense(ma, r), make([]float64, r)}, len(values)
	for i := range f.state {
		for j := i; j < r && j-i < n; j++ {
			f.state[i] += f.ar[j] * (values[n-1-(j-i)] - centre)
			if j > i {
				f.state[i] += f.ma[j-1] * errs[n-(j-i)]
			}
		}
	}
	return f
}
