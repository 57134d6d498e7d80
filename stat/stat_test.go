package stat

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// reference is testdata/reference.json, made by testdata/reference.py.
type reference struct {
	Samples []struct {
		D         []float64
		P         float64
		Intervals map[string]struct {
			Estimate, Low, High float64
			OK                  bool
		}
	}
	Ties []struct {
		D []float64
		P float64
	}
	Large struct {
		D []float64
		P float64
	}
	Quantile struct {
		D []float64
		Q map[string]float64
	}
	Lag1 struct {
		D []float64
		R float64
	}
}

func load(t *testing.T) reference {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func TestIntervalAgainstReference(t *testing.T) {
	for _, sample := range load(t).Samples {
		for text, want := range sample.Intervals {
			confidence, _ := strconv.ParseFloat(text, 64)
			estimate, low, high, ok := SignedRankInterval(sample.D, confidence)
			if !near(estimate, want.Estimate) || ok != want.OK {
				t.Errorf("n=%d at %s: estimate %v ok %v, want %v %v", len(sample.D), text, estimate, ok, want.Estimate, want.OK)
			}
			if ok && (!near(low, want.Low) || !near(high, want.High)) {
				t.Errorf("n=%d at %s: [%v, %v], want [%v, %v]", len(sample.D), text, low, high, want.Low, want.High)
			}
			if !ok && !(math.IsNaN(low) && math.IsNaN(high)) {
				t.Errorf("n=%d at %s: limits [%v, %v] though there is no interval", len(sample.D), text, low, high)
			}
		}
	}
}

func TestSignedRankTestAgainstReference(t *testing.T) {
	r := load(t)
	for _, sample := range r.Samples {
		if p := SignedRankTest(sample.D); !near(p, sample.P) {
			t.Errorf("n=%d: p = %v, want %v", len(sample.D), p, sample.P)
		}
	}
	for _, tied := range r.Ties {
		if p := SignedRankTest(tied.D); !near(p, tied.P) {
			t.Errorf("ties %v: p = %v, want %v", tied.D, p, tied.P)
		}
	}
	if p := SignedRankTest(r.Large.D); math.Abs(p-r.Large.P) > 1e-6 {
		t.Errorf("n=%d: p = %v, want %v", len(r.Large.D), p, r.Large.P)
	}
	if p := SignedRankTest([]float64{0, 0}); p != 1 {
		t.Errorf("only zeros: p = %v, want 1", p)
	}
}

// The critical values of the published table (HWC table A.4; two-sided 0.05):
// the largest t with P(T+ <= t) <= 0.025.
func TestSignedRanksAgainstTable(t *testing.T) {
	for n, critical := range map[int]int{
		6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21, 15: 25,
		16: 29, 17: 34, 18: 40, 19: 46, 20: 52, 25: 89, 30: 137,
	} {
		if at, next := signedRankTable(n)[critical], signedRankTable(n)[critical+1]; at > 0.025 || next <= 0.025 {
			t.Errorf("n=%d: P(T+ <= %d) = %v and P(T+ <= %d) = %v do not enclose 0.025", n, critical, at, critical+1, next)
		}
	}
	if exact, normal := signedRankTable(50)[434], normalCDF((434.5-637.5)/math.Sqrt(50*51*101/24.0)); math.Abs(exact-normal) > 5e-4 {
		t.Errorf("at n=50 exact %v and normal %v differ", exact, normal)
	}
	if cdf := signedRankTable(5); len(cdf) != 16 || !near(cdf[15], 1) {
		t.Errorf("the distribution of five values ends with %v", cdf[len(cdf)-1])
	}
}

func TestIntervalBeyondExactIsContinuous(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := make([]float64, 51)
	for i := range d {
		d[i] = rng.NormFloat64() + 0.3
	}
	for _, n := range []int{50, 51} {
		estimate, low, high, ok := SignedRankInterval(d[:n], 0.95)
		if !ok || !(low < estimate && estimate < high) {
			t.Fatalf("n=%d: %v [%v, %v] %v", n, estimate, low, high, ok)
		}
	}
	// One value more must not move the depth by more than the ranks it adds.
	if a, b := signedRankDepth(50, 0.95), signedRankDepth(51, 0.95); b < a || b > a+25 {
		t.Errorf("depth jumps from %d to %d where the normal approximation begins", a, b)
	}
}

// The k-th Walsh average is found without listing them; here they are listed.
func TestWalshAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		d := make([]float64, 1+rng.IntN(12))
		for i := range d {
			d[i] = math.Round(rng.NormFloat64()*4) / 4 // ties on purpose
		}
		var all []float64
		for i := range d {
			for j := i; j < len(d); j++ {
				all = append(all, average(d[i], d[j]))
			}
		}
		slices.Sort(all)
		w, ok := newWalsh(d)
		if !ok || w.total() != len(all) {
			t.Fatalf("%v: ok %v, total %d, want %d", d, ok, w.total(), len(all))
		}
		for k, want := range all {
			if got := w.kth(k + 1); got != want {
				t.Fatalf("%v: Walsh average %d is %v, want %v", d, k+1, got, want)
			}
		}
	}
}

func TestIntervalRefuses(t *testing.T) {
	for _, c := range []struct {
		name       string
		d          []float64
		confidence float64
	}{
		{"nothing", nil, 0.95},
		{"not a number", []float64{1, 2, math.NaN(), 4, 5, 6, 7}, 0.95},
		{"infinite", []float64{1, 2, math.Inf(1), 4, 5, 6, 7}, 0.95},
		{"five values at 95 %", []float64{1, 2, 3, 4, 5}, 0.95},
		{"confidence 1", []float64{1, 2, 3, 4, 5, 6, 7}, 1},
		{"confidence 0", []float64{1, 2, 3, 4, 5, 6, 7}, 0},
		{"confidence NaN", []float64{1, 2, 3, 4, 5, 6, 7}, math.NaN()},
	} {
		if _, low, high, ok := SignedRankInterval(c.d, c.confidence); ok || !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("%s: [%v, %v] ok %v, want none", c.name, low, high, ok)
		}
	}
	if _, low, high, ok := SignedRankInterval([]float64{1, 2, 3, 4, 5, 6}, 0.95); !ok || low != 1 || high != 6 {
		t.Errorf("six values at 95 %%: [%v, %v] %v, want the extremes", low, high, ok)
	}
	if v := HodgesLehmann([]float64{math.MaxFloat64, math.MaxFloat64}); v != math.MaxFloat64 {
		t.Errorf("huge values overflow: %v", v)
	}
}

func TestBootstrapCoversAndReplays(t *testing.T) {
	values := []float64{3, 5, 4, 6, 5, 4, 5, 7, 3, 5}
	mean := func(indices []int) float64 {
		sum := 0.0
		for _, i := range indices {
			sum += values[i]
		}
		return sum / float64(len(indices))
	}
	low, high, ok := Bootstrap(rand.New(rand.NewPCG(5, 6)), len(values), 2000, 0.95, mean)
	// The mean is 4.7 with a standard error of 0.37.
	if !ok || low < 3.8 || low > 4.2 || high < 5.2 || high > 5.6 {
		t.Errorf("[%v, %v] %v", low, high, ok)
	}
	again, _, _ := Bootstrap(rand.New(rand.NewPCG(5, 6)), len(values), 2000, 0.95, mean)
	if again != low {
		t.Errorf("the same seed gives %v and %v", low, again)
	}
	if _, _, ok := Bootstrap(rand.New(rand.NewPCG(5, 6)), 5, 100, 0.95, func([]int) float64 { return math.NaN() }); ok {
		t.Error("an interval without a single value")
	}
	if _, _, ok := Bootstrap(rand.New(rand.NewPCG(5, 6)), 1, 100, 0.95, mean); ok {
		t.Error("an interval from one unit")
	}
}

func TestQuantileAndLag1AgainstReference(t *testing.T) {
	r := load(t)
	for text, want := range r.Quantile.Q {
		q, _ := strconv.ParseFloat(text, 64)
		if got := Quantile(append(r.Quantile.D, math.NaN()), q); !near(got, want) {
			t.Errorf("quantile %s = %v, want %v", text, got, want)
		}
	}
	if got := Lag1(r.Lag1.D); !near(got, r.Lag1.R) {
		t.Errorf("lag 1 = %v, want %v", got, r.Lag1.R)
	}
	if !math.IsNaN(Quantile(nil, 0.5)) || !math.IsNaN(Quantile([]float64{1}, 2)) || !math.IsNaN(Lag1([]float64{1, 1, 1})) {
		t.Error("a figure where there is none")
	}
}

func TestChangePoint(t *testing.T) {
	noise := rand.New(rand.NewPCG(7, 8))
	shifted := make([]float64, 60)
	steady := make([]float64, 60)
	for i := range shifted {
		steady[i] = 10 + noise.NormFloat64()
		shifted[i] = 10 + noise.NormFloat64()
		if i < 15 {
			shifted[i] += 8
		}
	}
	if at, p := ChangePoint(shifted); at < 14 || at > 16 || p > 0.001 {
		t.Errorf("shift at 15: found at %d with p %v", at, p)
	}
	// Of 11,440 ways to choose the seven values that come first, two give a perfect shift after the seventh;
	// after the eighth, two of 12,870.
	few := []float64{9, 12, 10, 8, 11, 14, 13, 2, 1, 3, 5, 4, 0, 7, 6, -1}
	if at, p := PermutedChangePoint(few); at != 7 || p > 0.001 || p < 0.0001 {
		t.Errorf("a shift of few values at %d, p %.5f", at, p)
	}
	if _, p := ChangePoint(steady); p < 0.05 {
		t.Errorf("no shift: p %v", p)
	}
	for _, none := range [][]float64{nil, {1, 2, 3}, {5, 5, 5, 5, 5}, {1, math.NaN(), 9, 9, 9}} {
		if at, p := ChangePoint(none); at != 0 || p != 1 {
			t.Errorf("%v: found at %d with p %v", none, at, p)
		}
	}
}
