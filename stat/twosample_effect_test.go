package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDetectableShift: a shift of the size that DetectableShift returns for a power of
// 0.8 is found in about four of five cases.
func TestDetectableShift(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct{ n, m int }{{20, 20}, {12, 30}, {40, 10}} {
		shift := DetectableShift(1, c.n, c.m, 0.02, 0.8)
		found := 0
		const tries = 1000
		for range tries {
			a, b := make([]float64, c.n), make([]float64, c.m)
			for i := range a {
				a[i] = rng.NormFloat64()
			}
			for i := range b {
				b[i] = shift + rng.NormFloat64()
			}
			if MannWhitney(a, b) <= 0.02 {
				found++
			}
		}
		if share := float64(found) / tries; share < 0.75 || share > 0.87 {
			t.Errorf("%d and %d values: a shift of %.2f is found in %.1f %%", c.n, c.m, shift, 100*share)
		}
	}
	for _, v := range []float64{DetectableShift(1, 1, 9, 0.02, 0.8), DetectableShift(-1, 9, 9, 0.02, 0.8),
		DetectableShift(1, 9, 9, 0, 0.8), DetectableShift(1, 9, 9, 0.02, 1)} {
		if !math.IsNaN(v) {
			t.Errorf("%v where no shift can be detected", v)
		}
	}
}
