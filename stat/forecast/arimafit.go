package forecast

import (
	"cmp"
	"math"
	"slices"
)

// Bounds of the orders that are tried.
const (
	mostOrder        = 3
	mostSeasonal     = 2
	longSeason       = 24 // from here on one seasonal term of each kind at most
	evaluationsARIMA = 400
	evaluationsExact = 150
	mostRefined      = 8
	mostTriedOrders  = 30
)

// fitLevels fits without plain differences, fitDifferences with one, or two if one
// leaves a trend.
func fitLevels(s Series) (model, error) { return fitARIMA(s, 0) }

func fitDifferences(s Series) (model, error) { return fitARIMA(s, 1) }

// fitARIMA chooses the order by Akaike's criterion, step by step (Hyndman and Khandakar,
// "Automatic time series forecasting", 2008), and whether to take a seasonal difference by
// the season's strength; coefficients by their likelihood. Orders that the criterion does not separate
// are averaged. Gaps are closed first.
func fitARIMA(s Series, differences int) (model, error) {
	values := s.filled()
	o := order{m: s.longest()}
	if o.m > 1 && len(values) >= 3*o.m && decompose(values, s.Seasons[len(s.Seasons)-1:], false).strength(values) > 0.64 {
		o.sd = 1
	}
	if o.d = differences; o.d == 1 && o.sd == 0 && trending(differenced(values, o)) {
		o.d = 2
	}
	o.drift = o.d+o.sd <= 1
	best, least := o, math.Inf(1)
	var all []attempt
	tried := map[order]bool{}
	bound := mostTriedOrders
	if len(values) > longHistory {
		bound /= 2
	}
	try := func(o order) bool {
		if tried[o] || len(tried) >= bound || !o.sensible(len(values)) {
			return false
		}
		tried[o] = true
		x, criterion := o.fit(values)
		if math.IsNaN(criterion) || math.IsInf(criterion, 0) {
			return false
		}
		all = append(all, attempt{o, x, criterion})
		if criterion >= least {
			return false
		}
		best, least = o, criterion
		return true
	}
	for _, start := range o.starts() {
		try(start)
	}
	for better := true; better; {
		better = false
		for _, next := range best.neighbours() {
			if try(next) {
				better = true
				break
			}
		}
	}
	return akaike(refined(all, values))
}

// attempt is an order with its parameters, unmapped, and its criterion.
type attempt struct {
	order
	x         []float64
	criterion float64
}

// refined makes models of the attempts. If the conditional sum of squares found them, it fits the best again, by exact
// likelihood and from the parameters found: the cheap criterion is good enough to choose the orders worth that.
func refined(all []attempt, values []float64) []scored {
	if len(all) > 0 && all[0].exactly() && !all[0].throughout() {
		slices.SortStableFunc(all, func(a, b attempt) int { return cmp.Compare(a.criterion, b.criterion) })
		all = all[:min(mostRefined, len(all))]
		for i, a := range all {
			all[i].x, all[i].criterion = a.order.refine(values, a.x)
		}
	}
	var out []scored
	for _, a := range all {
		ar, ma, centre := a.coefficients(a.x)
		if !math.IsNaN(a.criterion) && !math.IsInf(a.criterion, 0) {
			out = append(out, scored{assembled(a.order, values, ar, ma, centre), a.criterion})
		}
	}
	return out
}

// mostReach is how far the largest order within the bounds looks back.
func (o order) mostReach() int {
	if o.m == 1 {
		return mostOrder
	}
	return mostOrder + o.m*o.seasonalBound()
}

// exactly reports whether orders of this season are fitted by their exact likelihood, else by the conditional one.
func (o order) exactly() bool { return o.mostReach() < exactReach }

// throughout reports whether they are cheap enough to be searched by it too.
func (o order) throughout() bool { return o.mostReach() < searchReach }

func (o order) seasonalBound() int {
	if o.m >= longSeason {
		return 1
	}
	return mostSeasonal
}

// sensible reports whether an order is within the bounds and leaves enough values.
func (o order) sensible(n int) bool {
	for _, k := range []int{o.p, o.q} {
		if k < 0 || k > mostOrder {
			return false
		}
	}
	for _, k := range []int{o.sp, o.sq} {
		if k < 0 || k > o.seasonalBound() || o.m == 1 && k > 0 {
			return false
		}
	}
	lost := o.d + o.m*(o.sd+o.sp) + o.p
	return n-lost >= max(8, 2*(o.p+o.q+o.sp+o.sq+2))
}

func (o order) starts() []order {
	var out []order
	for _, k := range [][4]int{{2, 2, 1, 1}, {0, 0, 0, 0}, {1, 0, 1, 0}, {0, 1, 0, 1}, {1, 1, 0, 1}} {
		s := o
		s.p, s.q = k[0], k[1]
		if o.m > 1 {
			s.sp, s.sq = k[2], k[3]
		}
		out = append(out, s)
	}
	return out
}

func (o order) neighbours() []order {
	var out []order
	for _, k := range [][4]int{{1}, {-1}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {0, 0, 1}, {0, 0, -1}, {0, 0, 0, 1}, {0, 0,
		0, -1},
		{0, 0, 1, 1}, {0, 0, -1, -1}} {
		next := o
		next.p, next.q, next.sp, next.sq = o.p+k[0], o.q+k[1], o.sp+k[2], o.sq+k[3]
		out = append(out, next)
	}
	if o.d+o.sd <= 1 {
		next := o
		next.drift = !o.drift
		out = append(out, next)
	}
	return out
}

// fit returns the parameters of an order, unmapped, and its criterion. A conditional sum of squares is scaled to all
// differences, because orders condition on different numbers of them.
func (o order) fit(values []float64) ([]float64, float64) {
	scaled, spread := o.scaled(values)
	start := make([]float64, o.p+o.sp+o.q+o.sq)
	for i := range start {
		start[i] = 0.1
	}
	if o.drift {
		start = append(start, mean(scaled))
	}
	cost := o.squares(scaled)
	if o.throughout() {
		cost = o.improbability(scaled)
	}
	x, least := minimize(cost, start, evaluationsARIMA)
	return o.judged(x, least, spread, len(scaled))
}

// refine returns the parameters of an order by the exact likelihood, from given ones, and its criterion.
func (o order) refine(values, from []float64) ([]float64, float64) {
	scaled, spread := o.scaled(values)
	start := slices.Clone(from)
	if o.drift {
		start[len(start)-1] /= spread
	}
	x, least := minimize(o.improbability(scaled), start, evaluationsExact)
	return o.judged(x, least, spread, len(scaled))
}

// squares returns the logarithm of the mean conditional square of errors, as a function of the parameters. All orders are
// compared on the same errors, except that at most a third of the values is left out.
func (o order) squares(scaled []float64) func(x []float64) float64 {
	errs := make([]float64, len(scaled))
	common := min(o.mostReach(), len(scaled)/3)
	return func(x []float64) float64 {
		ar, ma, centre := o.coefficients(x)
		conditional(scaled, ar, ma, centre, errs)
		squares, n := 0.0, 0
		for _, e := range errs[min(max(common, reach(ar)), len(errs)):] {
			squares, n = squares+e*e, n+1
		}
		if n == 0 {
			return math.Inf(1)
		}
		return math.Log(squares/float64(n) + 1e-300)
	}
}

// improbability returns what exact does, as a function of the parameters.
func (o order) improbability(scaled []float64) func(x []float64) float64 {
	return func(x []float64) float64 {
		ar, ma, centre := o.coefficients(x)
		_, criterion := exact(scaled, ar, ma, centre, nil)
		return criterion
	}
}

// scaled returns the differences in units of their standard deviation, in which the search takes steps.
func (o order) scaled(values []float64) (scaled []float64, spread float64) {
	w := differenced(values, o)
	spread = math.Sqrt(variance(w)) + 1e-12
	scaled = make([]float64, len(w))
	for i := range w {
		scaled[i] = w[i] / spread
	}
	return scaled, spread
}

// judged takes parameters back to the values' units, with Akaike's criterion of their cost per value.
func (o order) judged(x []float64, least, spread float64, values int) ([]float64, float64) {
	if o.drift {
		x[len(x)-1] *= spread
	}
	n := float64(values)
	return x, corrected(n*(least+2*math.Log(spread)), float64(len(x)+1), n)
}

// coefficients maps parameters to stationary and invertible polynomials and the mean
// of the differences.
func (o order) coefficients(x []float64) (ar, ma []lag, centre float64) {
	take := func(n int) []float64 {
		out := stable(x[:n])
		x = x[n:]
		return out
	}
	plain, seasonal := take(o.p), take(o.sp)
	// An invertible moving average is a stationary autoregression with signs changed.
	moving, movingSeasonal := take(o.q), take(o.sq)
	for _, terms := range [][]float64{moving, movingSeasonal} {
		for i := range terms {
			terms[i] = -terms[i]
		}
	}
	if o.drift {
		centre = x[0]
	}
	ar, ma = polynomials(plain, seasonal, moving, movingSeasonal, o.m)
	return ar, ma, centre
}

// trending tests whether a series is stationary around a level (Kwiatkowski, Phillips,
// Schmidt and Shin, 1992), at 5 %.
func trending(values []float64) bool {
	const critical = 0.463 // table 1, level, 5 %
	n := len(values)
	if n < 8 || variance(values) == 0 {
		return false
	}
	m, partial, sums := mean(values), 0.0, 0.0
	for _, v := range values {
		partial += v - m
		sums += partial * partial
	}
	// The long-run variance by Bartlett's window.
	window := int(3 * math.Sqrt(float64(n)) / 13) // as R's forecast::ndiffs has it
	long := 0.0
	for k := 0; k <= window; k++ {
		covariance := 0.0
		for i := k; i < n; i++ {
			covariance += (values[i] - m) * (values[i-k] - m)
		}
		weight := 2 * (1 - float64(k)/float64(window+1))
		if k == 0 {
			weight = 1
		}
		long += weight * covariance / float64(n)
	}
	return long > 0 && sums/float64(n)/float64(n)/long > critical
}
