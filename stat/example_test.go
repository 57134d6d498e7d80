package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/redline-go/redline/stat"
)

// Sixteen differences with one stalled run among them: the interval excludes zero, and the
// stall hardly moves it.
func ExampleSignedRankInterval() {
	d := []float64{0.09, 0.11, 0.10, 0.12, 0.08, 0.10, 0.09, 0.11, 0.10, 0.12, 0.08, 0.10, 0.11, 0.09, 0.10, 2.50}
	estimate, low, high, ok := stat.SignedRankInterval(d, 0.95)
	fmt.Printf("%.3f (%.3f to %.3f) %v, p = %.5f\n", estimate, low, high, ok, stat.SignedRankTest(d))
	_, _, _, ok = stat.SignedRankInterval(d[:4], 0.95)
	fmt.Println("four are enough:", ok)
	// Output:
	// 0.100 (0.095 to 0.110) true, p = 0.00003
	// four are enough: false
}

// Two independent samples: the second is larger by about 3.
func ExampleShiftInterval() {
	a := []float64{10, 11, 12, 13, 14, 15, 16, 17}
	b := []float64{13, 14, 15, 16, 17, 18, 19, 20}
	estimate, low, high, ok := stat.ShiftInterval(a, b, 0.95)
	fmt.Println(estimate, low, high, ok)
	// Output: 3 0 6 true
}

// Four looks at growing data take little from the level of the last one.
func ExampleOBrienFleming() {
	for _, level := range stat.OBrienFleming(4, 0.05) {
		fmt.Printf("%.3f ", level)
	}
	// Output: 0.000 0.004 0.019 0.043
}

// Three tests at once; one whose p-value is unknown (NaN) does not count.
func ExampleHolm() {
	fmt.Println(stat.Holm([]float64{0.01, 0.04, math.NaN(), 0.03}))
	// Output: [0.03 0.06 NaN 0.06]
}

// A level that went up after the sixth value.
func ExampleChangePoints() {
	for _, c := range stat.ChangePoints([]float64{10, 11, 10, 9, 10, 11, 20, 21, 19, 20, 21, 20}, 0.05) {
		fmt.Println("at", c.At)
	}
	// Output: at 6
}

// The median of twenty values with its bootstrap interval; the source makes it repeatable.
func ExampleBootstrap() {
	values := make([]float64, 20)
	for i := range values {
		values[i] = float64(i)
	}
	median := func(indices []int) float64 {
		picked := make([]float64, len(indices))
		for i, n := range indices {
			picked[i] = values[n]
		}
		return stat.Median(picked)
	}
	low, high, ok := stat.Bootstrap(rand.New(rand.NewPCG(1, 1)), len(values), 2000, 0.95, median)
	fmt.Println(stat.Median(values), low < 9.5, high > 9.5, ok)
	// Output: 9.5 true true true
}
