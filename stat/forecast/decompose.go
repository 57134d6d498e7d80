package forecast

import "math"

// pattern is the seasonal part of a series: one value per phase of each season, added
// to the level, or multiplied with it.
type pattern struct {
	seasons        []int
	indices        [][]float64
	multiplicative bool
}

// decompose separates the seasonal pattern of a series without gaps by centred
// moving averages and means per phase, over the whole series (Kendall and Stuart's
// classical decomposition).
func decompose(values []float64, seasons []int, multiplicative bool) pattern {
	p := pattern{seasons: seasons, multiplicative: multiplicative}
	if len(seasons) == 0 {
		return p
	}
	rest := detrended(values, seasons[len(seasons)-1], multiplicative)
	for _, m := range seasons {
		index := phaseMeans(rest, m, multiplicative)
		p.indices = append(p.indices, index)
		for i := range rest {
			if multiplicative {
				rest[i] /= index[i%m]
			} else {
				rest[i] -= index[i%m]
			}
		}
	}
	return p
}

// detrended removes the moving average over one season; its ends are NaN.
func detrended(values []float64, m int, multiplicative bool) []float64 {
	out := make([]float64, len(values))
	for i := range values {
		average := centred(values, i, m)
		if multiplicative {
			out[i] = values[i] / average
		} else {
			out[i] = values[i] - average
		}
	}
	return out
}

// centred is the moving average of one season around step i: for even m, with half
// weight for both ends. NaN near the ends.
func centred(values []float64, i, m int) float64 {
	half := m / 2
	if i-half < 0 || i+half >= len(values) {
		return math.NaN()
	}
	sum := 0.0
	for j := i - half; j <= i+half; j++ {
		weight := 1.0
		if m%2 == 0 && (j == i-half || j == i+half) {
			weight = 0.5
		}
		sum += weight * values[j]
	}
	return sum / float64(m)
}

// phaseMeans averages each phase of a season, and brings the whole to mean 0, or 1.
func phaseMeans(values []float64, m int, multiplicative bool) []float64 {
	index, counts := make([]float64, m), make([]float64, m)
	for i, v := range values {
		if !math.IsNaN(v) {
			index[i%m] += v
			counts[i%m]++
		}
	}
	total, neutral := 0.0, 0.0
	if multiplicative {
		neutral = 1
	}
	for i := range index {
		if counts[i] == 0 {
			index[i], counts[i] = neutral, 1
		}
		index[i] /= counts[i]
		total += index[i] / float64(m)
	}
	for i := range index {
		if multiplicative && total > 0 {
			index[i] = max(index[i]/total, 1e-6)
		} else if !multiplicative {
			index[i] -= total
		}
	}
	return index
}

// at returns the pattern at step i.
func (p pattern) at(i int) float64 {
	out := 0.0
	if p.multiplicative {
		out = 1
	}
	for j, m := range p.seasons {
		if p.multiplicative {
			out *= p.indices[j][i%m]
		} else {
			out += p.indices[j][i%m]
		}
	}
	return out
}

// adjust returns the value at step i without the pattern, and restore with it.
func (p pattern) adjust(v float64, i int) float64 {
	if p.multiplicative {
		return v / p.at(i)
	}
	return v - p.at(i)
}

func (p pattern) restore(v float64, i int) float64 {
	if p.multiplicative {
		return v * p.at(i)
	}
	return v + p.at(i)
}

func (p pattern) adjusted(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = p.adjust(v, i)
	}
	return out
}

// strength is how much of the detrended variance the season explains, from 0 to 1
// (Wang, Smith and Hyndman, "Characteristic-based clustering for time series data", 2006).
func (p pattern) strength(values []float64) float64 {
	if len(p.seasons) == 0 {
		return 0
	}
	rest := detrended(values, p.seasons[len(p.seasons)-1], p.multiplicative)
	var with, without []float64
	for i, v := range rest {
		if !math.IsNaN(v) {
			with, without = append(with, v), append(without, p.adjust(v, i))
		}
	}
	if v := variance(with); v > 0 {
		return max(0, 1-variance(without)/v)
	}
	return 0
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func variance(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return sum / float64(len(values)-1)
}

// line fits a straight line to values by least squares over their indices.
func line(values []float64) (intercept, slope float64) {
	n := float64(len(values))
	if n < 2 {
		return mean(values), 0
	}
	centre, m := (n-1)/2, mean(values)
	sum, squares := 0.0, 0.0
	for i, v := range values {
		d := float64(i) - centre
		sum, squares = sum+d*(v-m), squares+d*d
	}
	slope = sum / squares
	return m - slope*centre, slope
}
