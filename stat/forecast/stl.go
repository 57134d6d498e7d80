package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// fitSTL removes all seasons by STL and continues the rest by exponential smoothing without a season, the pattern by
// its last cycle. Where the pattern changes slowly, its last form is known better so than by smoothing that must
// find both at once.
func fitSTL(s Series) (model, error) {
	if len(s.Seasons) == 0 {
		return nil, errUnfit
	}
	filled := s.filled()
	cycles, rest := seasonal(filled, s.Seasons)
	for i, v := range s.Values {
		if math.IsNaN(v) {
			rest[i] = v
		}
	}
	inner, err := bestETS(Series{Values: rest}, []form{{trend: level}, {trend: linear}, {trend: damped}, {carry: true},
		{trend: damped, carry: true}})
	if err != nil {
		return nil, err
	}
	return &overCycles{inner, cycles}, nil
}

// overCycles is a model of a series without its seasons; the last cycle of each is added to its forecasts.
type overCycles struct {
	rest   model
	cycles [][]float64 // from the first step after the history
}

func (o *overCycles) name() string { return fmt.Sprintf("STL and %s", o.rest.name()) }

func (o *overCycles) mean(steps int) []float64 { return o.add(o.rest.mean(steps)) }

func (o *overCycles) path(rng *rand.Rand, out []float64) {
	o.rest.path(rng, out)
	o.add(out)
}

func (o *overCycles) add(values []float64) []float64 {
	for _, c := range o.cycles {
		for i := range values {
			values[i] += c[i%len(c)]
		}
	}
	return values
}

// Smoothing spans of the seasonal pattern, in cycles: 7 for one season; 11, 15 and so on where there are
// several (Bandara, Hyndman and Bergmeir, "MSTL", 2021), twice over.
const (
	seasonSpan, firstOfSeveral, addedSpan = 7, 11, 4
	severalRounds                         = 2
	stlRounds                             = 5
)

// seasonal returns the last cycle of each season, its first value that of the step after the last, and the values without all of them.
// Values have no gaps.
func seasonal(values []float64, seasons []int) (cycles [][]float64, rest []float64) {
	rest = append(rest, values...)
	parts, rounds := make([][]float64, len(seasons)), 1
	if len(seasons) > 1 {
		rounds = severalRounds
	}
	for range rounds {
		for j, m := range seasons {
			for i, v := range parts[j] {
				rest[i] += v
			}
			span := seasonSpan
			if len(seasons) > 1 {
				span = firstOfSeveral + addedSpan*j
			}
			parts[j] = stl(rest, m, span)
			for i, v := range parts[j] {
				rest[i] -= v
			}
		}
	}
	for j, m := range seasons {
		cycles = append(cycles, parts[j][len(values)-m:])
	}
	return cycles, rest
}

// stl is the seasonal part of values without gaps: the inner loop of Cleveland, Cleveland, McRae and
// Terpenning, "STL: A Seasonal-Trend Decomposition Procedure Based on Loess" (1990), without robustness.
func stl(values []float64, m, span int) []float64 {
	n := len(values)
	trend, out := make([]float64, n), make([]float64, n)
	trendSpan := odd(math.Ceil(1.5 * float64(m) / (1 - 1.5/float64(span))))
	for range stlRounds {
		cycle := make([]float64, n+2*m) // from one season before the first value to one after the last
		for phase := range m {
			var sub []float64
			for i := phase; i < n; i += m {
				sub = append(sub, values[i]-trend[i])
			}
			for k, v := range loess(sub, span, 1, 1) {
				cycle[phase+k*m] = v
			}
		}
		low := loess(moving(moving(moving(cycle, m), m), 3), odd(float64(m)), 1, 0)
		for i := range out {
			out[i] = cycle[m+i] - low[i]
			trend[i] = values[i] - out[i]
		}
		trend = loess(trend, trendSpan, max(1, trendSpan/10), 0)
	}
	return out
}

// odd is the least odd number that is not smaller.
func odd(v float64) int {
	n := int(math.Ceil(v))
	return n + 1 - n%2
}

// moving is the mean of each m neighbours; it is m-1 values shorter.
func moving(values []float64, m int) []float64 {
	out, sum := make([]float64, len(values)-m+1), 0.0
	for i, v := range values {
		sum += v
		if i >= m {
			sum -= values[i-m]
		}
		if i >= m-1 {
			out[i-m+1] = sum / float64(m)
		}
	}
	return out
}

// loess smooths values by local lines over span neighbours with tricube weights, and extends them by some steps to both
// sides. It is computed at every jump-th step, with straight lines in between.
func loess(values []float64, span, jump, beyond int) []float64 {
	n := len(values)
	out := make([]float64, n+2*beyond)
	before := 0
	for i := 0; i < len(out); i = min(i+jump, max(i+1, len(out)-1)) {
		out[i] = local(values, float64(i-beyond), span)
		for k := before + 1; k < i; k++ {
			out[k] = out[before] + (out[i]-out[before])*float64(k-before)/float64(i-before)
		}
		before = i
	}
	return out
}

// local is the value at x of the line that fits the span values nearest to it.
func local(values []float64, x float64, span int) float64 {
	n := len(values)
	left := min(max(int(x)-span/2, 0), max(0, n-span))
	right := min(n, left+span)
	reach := max(x-float64(left), float64(right-1)-x)
	if span > n {
		reach += float64((span - n) / 2)
	}
	var sum, centre, level float64
	weights := make([]float64, right-left)
	for i := range weights {
		d := math.Abs(float64(left+i)-x) / reach
		if reach == 0 || d <= 0.001 {
			weights[i] = 1
		} else if d < 0.999 {
			weights[i] = math.Pow(1-d*d*d, 3)
		}
		sum += weights[i]
		centre += weights[i] * float64(left+i)
		level += weights[i] * values[left+i]
	}
	if sum == 0 { // a single value, which is not at x
		return mean(values[left:right])
	}
	centre, level = centre/sum, level/sum
	var squares, slope float64
	for i, w := range weights {
		d := float64(left+i) - centre
		squares, slope = squares+w*d*d, slope+w*d*values[left+i]
	}
	if math.Sqrt(squares/sum) <= 0.001*float64(n-1) {
		return level
	}
	return level + slope/squares*(x-centre)
}
