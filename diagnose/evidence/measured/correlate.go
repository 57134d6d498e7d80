package measured

import (
	"math"
	"math/rand/v2"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/stat"
)

const (
	// slowFactor: a window is slow when its p99 is this many times the median
	// window's. Twice is beyond the spread of p99 over windows of some hundred
	// requests of a steady service.
	slowFactor = 2
	// shuffles is how many orders of the windows represent chance; with 400 the
	// smallest probability reported is below 0.01.
	shuffles = 400
)

// Coincidence reports whether a series is high when windows are slow.
type Coincidence struct {
	Slow, Windows int // number of slow windows, and of all
	// InSlow and Elsewhere are the series' mean in slow windows (or the window
	// before one, because a cause may lead) and in the others.
	InSlow, Elsewhere float64
	// Chance is the p-value: the part of shuffled orders in which slow windows differ as
	// much from the others as in the real order; 1 if there is nothing to compare.
	Chance float64
}

// Coincide compares a series in slow windows and elsewhere, by a permutation test
// (Fisher 1935; Good, Permutation Tests, 2000): the windows are shuffled, which
// keeps both distributions and breaks only their order. Chance is 1 if latency or
// the series was not recorded, or no window was slow.
func (p *Run) Coincide(name, labels string) Coincidence {
	latency := p.Series(series.LoadLatency, series.Labels("q", "p99")).Values
	values := p.Series(name, labels).Values
	out := Coincidence{Chance: 1}
	if latency == nil || values == nil {
		return out
	}
	usual := stat.Median(latency)
	slow := make([]bool, len(latency))
	for i, v := range latency {
		if v >= slowFactor*usual && usual > 0 {
			slow[i] = true
			if i > 0 {
				slow[i-1] = true
			}
			out.Slow++
		}
	}
	out.Windows = len(latency)
	var difference float64
	out.InSlow, out.Elsewhere, difference = contrast(values, slow)
	if out.Slow == 0 || math.IsNaN(difference) || difference <= 0 {
		return out
	}
	// A fixed seed: the same bundle must give the same findings.
	rng := rand.New(rand.NewPCG(1, 1))
	asFar := 0
	for range shuffles {
		rng.Shuffle(len(slow), func(i, j int) { slow[i], slow[j] = slow[j], slow[i] })
		if _, _, d := contrast(values, slow); d >= difference {
			asFar++
		}
	}
	out.Chance = float64(asFar+1) / float64(shuffles+1)
	return out
}

func contrast(values []float64, slow []bool) (in, out, difference float64) {
	var sum, n [2]float64
	for i, v := range values {
		if math.IsNaN(v) || i >= len(slow) {
			continue
		}
		side := 0
		if slow[i] {
			side = 1
		}
		sum[side] += v
		n[side]++
	}
	in, out = sum[1]/n[1], sum[0]/n[0]
	return in, out, in - out
}
