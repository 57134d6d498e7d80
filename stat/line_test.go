package stat_test

import (
	"math"
	"testing"

	"github.com/redline-go/redline/stat"
)

func TestIntercept(t *testing.T) {
	nan := math.NaN()
	if at, ok := stat.Intercept([]float64{1, 2, nan, 4, 9}, []float64{5, 7, 100, 11, nan}); !ok || math.Abs(at-3) > 1e-9 {
		t.Errorf("y = 3 + 2x meets the axis at %v, %v", at, ok)
	}
	for _, x := range [][]float64{{5, 5, 5, 5}, {1, 2}, nil} {
		if at, ok := stat.Intercept(x, []float64{1, 2, 3, 4}); ok {
			t.Errorf("x of %v gives %v, want none", x, at)
		}
	}
}
