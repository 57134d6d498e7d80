package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// order of a seasonal ARIMA model: (p,d,q)(P,D,Q) with seasons of m steps; with a mean of
// the differences where drift is set.
type order struct {
	p, d, q    int
	sp, sd, sq int
	m          int
	drift      bool
}

func (o order) String() string {
	out := fmt.Sprintf("ARIMA(%d,%d,%d)", o.p, o.d, o.q)
	if o.m > 1 && o.sp+o.sd+o.sq > 0 {
		out += fmt.Sprintf("(%d,%d,%d)%d", o.sp, o.sd, o.sq, o.m)
	}
	if o.drift {
		out += " with drift"
		if o.d+o.sd == 0 {
			out = out[:len(out)-len("drift")] + "mean"
		}
	}
	return out
}

// lag is one term of a polynomial in the backshift operator.
type lag struct {
	steps int
	by    float64
}

// arima is a fitted model: the differences are centre plus what the filter expects of them plus e(t), and a value is its
// difference plus the sum of summed y(t-i).
type arima struct {
	order
	filter *filter // after the last value
	centre float64
	summed []lag
	values []float64 // without gaps
	drawn  residuals
}

// product multiplies 1 - sum a B^i and 1 - sum b B^j, both given by their sums.
func product(a, b []lag) []lag {
	var sums []lag
	add := func(steps int, by float64) {
		for i := range sums {
			if sums[i].steps == steps {
				sums[i].by += by
				return
			}
		}
		sums = append(sums, lag{steps, by})
	}
	for _, x := range a {
		add(x.steps, x.by)
	}
	for _, y := range b {
		add(y.steps, y.by)
		for _, x := range a {
			add(x.steps+y.steps, -x.by*y.by)
		}
	}
	return sums
}

// lags gives coefficients the steps 1, 2, ... times every.
func lags(coefficients []float64, every int) []lag {
	out := make([]lag, len(coefficients))
	for i, c := range coefficients {
		out[i] = lag{(i + 1) * every, c}
	}
	return out
}

func negated(all []lag) []lag {
	out := make([]lag, len(all))
	for i, l := range all {
		out[i] = lag{l.steps, -l.by}
	}
	return out
}

// polynomials multiplies seasonal and plain coefficients out. Moving-average terms have the
// sign of statsmodels and R: e(t) + theta e(t-1).
func polynomials(ar, sar, ma, sma []float64, m int) (autoregressive, moving []lag) {
	return product(lags(ar, 1), lags(sar, m)), negated(product(negated(lags(ma, 1)), negated(lags(sma, m))))
}

// reach is the largest number of steps that lags look back.
func reach(all []lag) int {
	out := 0
	for _, l := range all {
		out = max(out, l.steps)
	}
	return out
}

// conditional returns the errors of values given that all before the first full lag
// were as expected, and their sum of squares with its number of terms. Errors before are 0.
func conditional(values []float64, ar, ma []lag, centre float64, errs []float64) (squares float64, n int) {
	from := reach(ar)
	for t := range min(from, len(values)) {
		errs[t] = 0
	}
	for t := from; t < len(values); t++ {
		e := values[t] - centre
		for _, l := range ar {
			e -= l.by * (values[t-l.steps] - centre)
		}
		for _, l := range ma {
			if t >= l.steps {
				e -= l.by * errs[t-l.steps]
			}
		}
		errs[t] = e
		squares += e * e
		n++
	}
	return squares, n
}

// differenced applies seasonal and plain differences; the result is shorter by what
// they reach back.
func differenced(values []float64, o order) []float64 {
	for range o.sd {
		values = difference(values, o.m)
	}
	for range o.d {
		values = difference(values, 1)
	}
	return values
}

func difference(values []float64, m int) []float64 {
	out := make([]float64, max(0, len(values)-m))
	for i := range out {
		out[i] = values[i+m] - values[i]
	}
	return out
}

// assembled makes a model for forecasts from coefficients on the differences.
func assembled(o order, values []float64, ar, ma []lag, centre float64) *arima {
	a := &arima{order: o, values: values, centre: centre}
	w := differenced(values, o)
	errs := make([]float64, len(w))
	if o.exactly() {
		a.filter, _ = exact(w, ar, ma, centre, errs)
	}
	if a.filter == nil {
		conditional(w, ar, ma, centre, errs)
		a.filter = continuing(w, ar, ma, centre, errs)
	}
	// The first errors are those of an assumed past: where the series trends, far larger than any later.
	a.drawn = centredAt0(errs[min(reach(ar), len(errs)-1):])
	for range o.sd {
		a.summed = product(a.summed, []lag{{o.m, 1}})
	}
	for range o.d {
		a.summed = product(a.summed, []lag{{1, 1}})
	}
	return a
}

func (a *arima) name() string { return a.order.String() }

func (a *arima) mean(steps int) []float64 {
	out := make([]float64, steps)
	a.run(out, func() float64 { return 0 })
	return out
}

func (a *arima) path(rng *rand.Rand, out []float64) {
	a.run(out, func() float64 { return a.drawn.draw(rng) })
}

// run continues the series with the errors that next gives.
func (a *arima) run(out []float64, next func() float64) {
	back := reach(a.summed)
	values := append(make([]float64, 0, back+len(out)), a.values[len(a.values)-back:]...)
	f := &filter{a.filter.ar, a.filter.ma, slices.Clone(a.filter.state)}
	for i := range out {
		e := next()
		y := a.centre + f.state[0] + e
		for _, l := range a.summed {
			y += l.by * values[back+i-l.steps]
		}
		f.follow(e)
		values = append(values, y)
		out[i] = y
	}
}

// stable maps any numbers to the coefficients of a stationary autoregression, by way of
// partial autocorrelations (Monahan, "A note on enforcing stationarity in
// autoregressive-moving average models", 1984).
func stable(x []float64) []float64 {
	out := make([]float64, len(x))
	before := make([]float64, len(x))
	for k := range x {
		partial := math.Tanh(x[k]) * 0.99
		copy(before, out[:k])
		for i := range k {
			out[i] = before[i] - partial*before[k-1-i]
		}
		out[k] = partial
	}
	return out
}
