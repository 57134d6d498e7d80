package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
)

// apart removes the holidays from a series, and returns the factor by which each holiday
// differed from the values a season before and after.
func apart(s Series, days []int) (Series, []float64) {
	n := len(s.Values)
	if len(days) < n {
		return s, nil
	}
	out := Series{slices.Clone(s.Values), s.Seasons}
	for i := range out.Values {
		if days[i] != 0 {
			out.Values[i] = math.NaN()
		}
	}
	if out.Check() != nil {
		return s, nil // more holidays than days: they are the rule
	}
	usual := out.filled()
	var factors []float64
	for i := 0; i < n; {
		day := days[i]
		seen, expected := 0.0, 0.0
		for ; i < n && days[i] == day; i++ {
			if day != 0 && !math.IsNaN(s.Values[i]) {
				seen, expected = seen+s.Values[i], expected+usual[i]
			}
		}
		if seen >= 0 && expected > 0 {
			factors = append(factors, seen/expected)
		}
	}
	return out, factors
}

// onHolidays multiplies the holidays of every path by the factor of one of the past ones,
// the same for a whole day, and the middle by the median factor.
func onHolidays(paths [][]float64, middle []float64, days []int, factors []float64, rng *rand.Rand) {
	for _, p := range paths {
		drawn, factor := 0, 1.0
		for i := range p {
			if days[i] == 0 {
				continue
			}
			if days[i] != drawn {
				drawn, factor = days[i], factors[rng.IntN(len(factors))]
			}
			p[i] *= factor
		}
	}
	for i := range middle {
		if days[i] != 0 {
			middle[i] *= median(factors)
		}
	}
}

func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return quantile(sorted, 0.5)
}
