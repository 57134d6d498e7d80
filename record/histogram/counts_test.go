package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestCounts compares Counts with hdrhistogram-go's histogram.
func TestCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var sum, both Counts
	all := New()
	for round := range 60 {
		var c Counts
		h := New()
		for range rng.IntN(1 << (round % 12)) {
			v := int64(math.Exp(rng.Float64() * math.Log(float64(Highest))))
			if rng.IntN(50) == 0 {
				v = [...]int64{0, 63, 64, 1<<17 - 1, 1 << 17, Highest}[rng.IntN(6)]
			}
			c.Add(v)
			both.Add(v)
			must(t, h.RecordValue(v))
		}
		if !c.Histogram().Equals(h) || c.Total() != h.TotalCount() {
			t.Fatalf("round %d: the buckets differ from hdrhistogram-go's", round)
		}
		sum.Merge(&c)
		all.Merge(h)
		checkQuantiles(t, c.Quantiles(), QuantilesOf(h))
		var bars []Bucket
		for _, b := range h.Distribution() {
			if b.Count > 0 {
				bars = append(bars, Bucket(b))
			}
		}
		if got := slices.Collect(c.Buckets()); !slices.Equal(got, bars) {
			t.Fatalf("round %d: buckets %v, hdrhistogram-go has %v", round, got, bars)
		}
		taken, err := CountsOf(h)
		must(t, err)
		if taken.Total() != c.Total() || taken.Total() > 0 && len(taken.used()) != len(c.used()) {
			t.Fatalf("round %d: taken over as %d values", round, taken.Total())
		}
		c.Reset()
		if !c.Histogram().Equals(New()) || c.Quantiles() != (Quantiles{}) {
			t.Fatalf("round %d: not empty after Reset", round)
		}
	}
	if !sum.Histogram().Equals(all) || sum.Quantiles() != both.Quantiles() {
		t.Error("the sum differs from the histogram of all values")
	}
}

// checkQuantiles compares with the library's, whose quantiles and largest value
// are the ends of buckets.
func checkQuantiles(t *testing.T, got, want Quantiles) {
	t.Helper()
	if got.Min < want.Min || got.Max > want.Max {
		t.Errorf("from %d to %d, the buckets go from %d to %d", got.Min, got.Max, want.Min, want.Max)
	}
	for _, p := range [][2]int64{{got.P50, want.P50}, {got.P90, want.P90}, {got.P95, want.P95}, {got.P99, want.P99},
		{got.P999, want.P999}} {
		if p[0] != min(p[1], got.Max) {
			t.Errorf("quantiles %+v, hdrhistogram-go has %+v", got, want)
		}
	}
	if math.Abs(float64(got.Mean-want.Mean)) > 1+1e-9*float64(want.Mean) {
		t.Errorf("mean %d, hdrhistogram-go has %d", got.Mean, want.Mean)
	}
}

func TestCountsBoundValues(t *testing.T) {
	var c Counts
	c.Add(-5)
	c.Add(int64(100 * time.Hour))
	if q := c.Quantiles(); q.Min != 0 || q.Max != Highest || c.Total() != 2 {
		t.Errorf("%+v", q)
	}
	c.Merge(&Counts{})
	if c.Total() != 2 {
		t.Error("merging an empty histogram changed the count")
	}
}
