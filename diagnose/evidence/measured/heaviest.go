package measured

import (
	"cmp"

	"github.com/redline-go/redline/record/code"
)

// Heaviest returns the key with the largest weight; of equals the smallest, so that the
// result is deterministic.
func Heaviest[K comparable](weights map[K]float64, compare func(a, b K) int) K {
	var best K
	most := -1.0
	for k, w := range weights {
		if w > most || w == most && compare(k, best) < 0 {
			best, most = k, w
		}
	}
	return best
}

// CompareFrames orders places by function, file and line.
func CompareFrames(a, b code.Frame) int {
	return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}
