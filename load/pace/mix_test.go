package pace

import (
	"math/rand/v2"
	"testing"
)

func TestMixFollowsWeights(t *testing.T) {
	m := NewMix([]int{0, 3, 6}) // zero means 1
	r := rand.NewPCG(7, 8)
	var got [3]int
	const n = 100_000
	for range n {
		got[m.Pick(r)]++
	}
	for i, want := range []float64{0.1, 0.3, 0.6} {
		if share := float64(got[i]) / n; share < want-0.01 || share > want+0.01 {
			t.Errorf("request %d: %.3f, want %.1f", i, share, want)
		}
	}
}
