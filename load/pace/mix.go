package pace

import "math/rand/v2"

// Mix chooses requests by their weights. It is immutable.
type Mix struct {
	upTo  []uint64 // cumulative weights
	total uint64
}

// NewMix returns a mix of requests with the given weights; zero or less means 1.
func NewMix(weights []int) Mix {
	var m Mix
	for _, w := range weights {
		if w <= 0 {
			w = 1
		}
		m.total += uint64(w)
		m.upTo = append(m.upTo, m.total)
	}
	return m
}

// Pick returns an index with a probability in proportion to its weight, with a modulo bias
// below total/2^64.
func (m *Mix) Pick(rng *rand.PCG) int {
	if len(m.upTo) == 1 {
		return 0
	}
	at := rng.Uint64() % m.total
	for i, upTo := range m.upTo {
		if at < upTo {
			return i
		}
	}
	return len(m.upTo) - 1
}
