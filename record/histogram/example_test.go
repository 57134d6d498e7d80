package histogram_test

import (
	"fmt"
	"time"

	"github.com/redline-go/redline/record/histogram"
)

// Latencies go into histograms of one configuration, so that any two can be merged.
func ExampleQuantilesOf() {
	h := histogram.New()
	for ms := range 100 {
		if err := h.RecordValue(int64(time.Duration(ms+1) * time.Millisecond)); err != nil {
			fmt.Println(err)
			return
		}
	}
	q := histogram.QuantilesOf(h)
	for _, ns := range []int64{q.P50, q.P99} {
		fmt.Println(time.Duration(ns).Round(time.Millisecond))
	}
	// Output:
	// 50ms
	// 99ms
}
