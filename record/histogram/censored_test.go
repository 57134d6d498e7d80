package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// countsOfValues is a histogram of values.
func countsOfValues(values []int64) *Counts {
	c := &Counts{}
	for _, v := range values {
		c.Add(v)
	}
	return c
}

func (q Quantiles) list() []int64 { return []int64{q.P50, q.P90, q.P95, q.P99, q.P999, q.Max} }

var listed = []float64{50, 90, 95, 99, 99.9, 100}

// TestCensoredWithoutUnfinished: nothing changes for a run in which all ended.
func TestCensoredWithoutUnfinished(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 300 {
		var values []int64
		for range n {
			values = append(values, int64(rng.ExpFloat64()*5e6))
		}
		c := countsOfValues(values)
		if got, want := c.Censored(&Counts{}), c.Quantiles(); got != want {
			t.Fatalf("%d values: %+v, want %+v", n, got, want)
		}
		if got, want := c.Censored(nil), c.Quantiles(); got != want {
			t.Fatalf("%d values: %+v, want %+v", n, got, want)
		}
	}
}

// redistributed is the estimator as Efron describes it, value by value: the smallest goes
// first, and one that is unfinished passes its share on to all larger ones.
func redistributed(ended, open []int64, percentile float64) (value int64, known bool) {
	type one struct {
		value int64
		open  bool
		share float64
	}
	var all []one
	for _, v := range ended {
		all = append(all, one{value: v})
	}
	for _, v := range open {
		all = append(all, one{value: v, open: true})
	}
	slices.SortStableFunc(all, func(a, b one) int { return int(a.value - b.value) })
	for i := range all {
		all[i].share = 1
	}
	want, sum := max(1, math.Floor(percentile/100*float64(len(all))+0.5)), 0.0
	for i, a := range all {
		if !a.open {
			if sum += a.share; sum >= want-1e-6 {
				return a.value, true
			}
			continue
		}
		for j := i + 1; j < len(all); j++ {
			all[j].share += a.share / float64(len(all)-i-1)
		}
	}
	return 0, false
}

// TestCensoredIsRedistribution compares the product over buckets with the plain algorithm
// over values, and the bounds with what is certain.
func TestCensoredIsRedistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for round := range 400 {
		var ended, open []int64
		for range rng.IntN(200) {
			ended = append(ended, rng.Int64N(2000)*64) // one value per bucket, below 131 us
		}
		for range 1 + rng.IntN(60) {
			open = append(open, rng.Int64N(int64(1+rng.IntN(2000)))*64)
		}
		q := countsOfValues(ended).Censored(countsOfValues(open))
		if q.Unfinished != int64(len(open)) {
			t.Fatalf("%d unfinished, want %d", q.Unfinished, len(open))
		}
		all := slices.Concat(ended, open)
		slices.Sort(all)
		least := int64(0)
		for i, p := range listed[:5] {
			got := q.list()[i]
			value, known := redistributed(ended, open, p)
			if known == q.Bound(p) || known && (got < value || got > value+64) {
				t.Fatalf("round %d, p%g: %d, lower bound %v; want %d, known %v", round, p, got, q.Bound(p), value, known)
			}
			at := all[max(0, int(math.Floor(p/100*float64(len(all))+0.5))-1)]
			if q.Bound(p) && got < at {
				t.Fatalf("round %d, p%g is at least %d, but %d is certain", round, p, got, at)
			}
			if got < least {
				t.Fatalf("round %d: p%g is %d, below the percentile before", round, p, got)
			}
			least = got
		}
		if q.Max != all[len(all)-1] || q.Max < least {
			t.Fatalf("max %d of %d", q.Max, all[len(all)-1])
		}
	}
}

// TestCensoredAgainstTruth cuts simulated requests off at an age that has
// nothing to do with how long they take, and compares with how long they took.
func TestCensoredAgainstTruth(t *testing.T) {
	const n = 200_000
	for name, test := range map[string]struct {
		share float64                      // of the requests that are cut off
		age   func(rng *rand.Rand) float64 // at which they would be
	}{
		"a handful, young":      {0.001, func(rng *rand.Rand) float64 { return rng.Float64() * 1e6 }},
		"a tenth, young":        {0.10, func(rng *rand.Rand) float64 { return rng.Float64() * 1e6 }},
		"a third, at any age":   {0.33, func(rng *rand.Rand) float64 { return rng.ExpFloat64() * 10e6 }},
		"all that are too slow": {1, func(*rand.Rand) float64 { return 12e6 }},
	} {
		rng := rand.New(rand.NewPCG(3, 3))
		var truth, ended, open []int64
		for range n {
			v := int64(rng.ExpFloat64() * 5e6)
			truth = append(truth, v)
			if rng.Float64() < test.share {
				if age := int64(test.age(rng)); age < v {
					open = append(open, age)
					continue
				}
			}
			ended = append(ended, v)
		}
		want, got := countsOfValues(truth).Quantiles(), countsOfValues(ended).Censored(countsOfValues(open))
		for i, p := range listed {
			real, said := float64(want.list()[i]), float64(got.list()[i])
			switch {
			case got.Bound(p) && said > real:
				t.Errorf("%s: p%g is at least %.0f, and was %.0f", name, p, said, real)
			case !got.Bound(p) && p < 100 && math.Abs(said/real-1) > 0.05:
				t.Errorf("%s: p%g is %.0f, and was %.0f", name, p, said, real)
			}
		}
		if name == "all that are too slow" && (got.AtLeast != 95 || got.P95 < 11_900_000) { // e^(-12/5) is 9 %
			t.Errorf("%s: from p%g a lower bound, p95 %d", name, got.AtLeast, got.P95)
		}
		if got.AtLeast == 0 && math.Abs(float64(got.Mean)/float64(want.Mean)-1) > 0.02 || got.Mean > want.Mean*102/100 {
			t.Errorf("%s: mean %d, and was %d", name, got.Mean, want.Mean)
		}
	}
}

// TestCensoredOfNothingEnded: where no request ended all figures are bounds.
func TestCensoredOfNothingEnded(t *testing.T) {
	q := (&Counts{}).Censored(countsOfValues([]int64{1e6, 2e6, 3e6}))
	if !q.Bound(50) || q.Unfinished != 3 || q.P50 < 2e6 || q.Max != 3e6 || q.Min != 1e6 {
		t.Errorf("%+v", q)
	}
	if (Quantiles{}).Bound(100) {
		t.Error("an empty histogram's max is a bound")
	}
}
