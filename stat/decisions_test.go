package stat

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// decisions is testdata/decisions.json, made by testdata/decisions.py.
type decisions struct {
	Two []struct {
		A, B                        []float64
		MannWhitney, Shift, Student float64
	}
	Looks []struct {
		Looks  int
		Alpha  float64
		Levels []float64
	}
	Effects []struct {
		SD           float64
		N            int
		Alpha, Power float64
		Effect       float64
	}
	Cuts []struct {
		D   []float64
		Cut int
	}
	Spread struct {
		D       []float64
		Mad, SD float64
	}
	Holm struct{ P, Adjusted []float64 }
}

func loadDecisions(t *testing.T) (d decisions) {
	t.Helper()
	data, err := os.ReadFile("testdata/decisions.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func within(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestTwoSamplesAgainstReference(t *testing.T) {
	for _, s := range loadDecisions(t).Two {
		if p := MannWhitney(s.A, s.B); !near(p, s.MannWhitney) {
			t.Errorf("%d against %d: p is %v, want %v", len(s.A), len(s.B), p, s.MannWhitney)
		}
		if d, _, _, _ := ShiftInterval(s.A, s.B, 0.95); !near(d, s.Shift) {
			t.Errorf("%d against %d: shift is %v, want %v", len(s.A), len(s.B), d, s.Shift)
		}
		if p := studentT(s.A, s.B); !near(p, s.Student) {
			t.Errorf("%d against %d: Student's p is %v, want %v", len(s.A), len(s.B), p, s.Student)
		}
	}
	if p := MannWhitney([]float64{2, 2, 2}, []float64{2, 2}); p != 1 {
		t.Errorf("equal samples differ with p = %v", p)
	}
	for _, bad := range [][2][]float64{{nil, {1}}, {{1}, nil}, {{1, math.NaN()}, {1}}, {{1}, {math.Inf(1)}}} {
		d, _, _, ok := ShiftInterval(bad[0], bad[1], 0.95)
		if p := MannWhitney(bad[0], bad[1]); !math.IsNaN(p) || !math.IsNaN(d) || ok {
			t.Errorf("%v: p %v, shift %v, %v", bad, p, d, ok)
		}
	}
}

// TestOBrienFleming compares with Jennison and Turnbull's table 2.3 (the constant
// C, which is the last look's critical value) and with scipy.
func TestOBrienFleming(t *testing.T) {
	for looks, c := range map[int]float64{1: 1.960, 2: 1.977, 3: 2.004, 4: 2.024, 5: 2.040, 10: 2.087} {
		levels := OBrienFleming(looks, 0.05)
		if got := normalQuantile(1 - levels[looks-1]/2); !within(got, c, 6e-4) {
			t.Errorf("%d looks: C is %.4f, the table has %.3f", looks, got, c)
		}
		if !slices.IsSorted(levels) {
			t.Errorf("%d looks: levels %v do not grow", looks, levels)
		}
	}
	for _, want := range loadDecisions(t).Looks {
		for i, level := range OBrienFleming(want.Looks, want.Alpha) {
			if !within(level, want.Levels[i], 2e-4) {
				t.Errorf("%d looks at %v: level %d is %v, want %v", want.Looks, want.Alpha, i+1, level, want.Levels[i])
			}
		}
	}
	for _, bad := range []struct {
		looks int
		alpha float64
	}{{0, 0.05}, {101, 0.05}, {3, 0}, {3, 0.6}, {3, math.NaN()}} {
		if levels := OBrienFleming(bad.looks, bad.alpha); levels != nil {
			t.Errorf("%+v gives %v", bad, levels)
		}
	}
}

// TestLooksKeepTheErrorRate applies the levels to signed-rank tests of growing
// samples without an effect: five looks together must reject in about 5 %.
func TestLooksKeepTheErrorRate(t *testing.T) {
	const sessions, each = 2000, 8
	levels := OBrienFleming(5, 0.05)
	rng := rand.New(rand.NewPCG(7, 7))
	rejected := 0
	for range sessions {
		var d []float64
		for _, level := range levels {
			for range each {
				d = append(d, rng.NormFloat64())
			}
			if SignedRankTest(d) <= level {
				rejected++
				break
			}
		}
	}
	// The binomial standard error is 0.5 %; the exact test is a little conservative.
	if rate := float64(rejected) / sessions; rate > 0.065 || rate < 0.03 {
		t.Errorf("%.1f %% of sessions without an effect were called different", 100*rate)
	}
}

func TestHolm(t *testing.T) {
	d := loadDecisions(t)
	for i, p := range Holm(d.Holm.P) {
		if !near(p, d.Holm.Adjusted[i]) {
			t.Errorf("p = %v is adjusted to %v, want %v", d.Holm.P[i], p, d.Holm.Adjusted[i])
		}
	}
	got := Holm([]float64{0.02, math.NaN(), 0.03})
	if !near(got[0], 0.04) || !math.IsNaN(got[1]) || !near(got[2], 0.04) {
		t.Errorf("with a test that could not be made: %v", got)
	}
}

func TestEffectsAgainstReference(t *testing.T) {
	d := loadDecisions(t)
	for _, want := range d.Effects {
		if got := DetectableEffect(want.SD, want.N, want.Alpha, want.Power); !near(got, want.Effect) {
			t.Errorf("%+v: got %v", want, got)
		}
	}
	if got := Spread(d.Spread.D); !within(got, d.Spread.Mad, 1e-4) {
		t.Errorf("spread %v, want %v", got, d.Spread.Mad)
	}
	if got := Deviation(d.Spread.D); !near(got, d.Spread.SD) {
		t.Errorf("deviation %v, want %v", got, d.Spread.SD)
	}
	if got := DetectableEffect(0.1, 1, 0.05, 0.8); !math.IsNaN(got) {
		t.Errorf("one pair detects %v", got)
	}
}

// TestDetectableEffectIsDetected: the signed-rank test finds an effect of the size that
// DetectableEffect returns about as often as it says.
func TestDetectableEffectIsDetected(t *testing.T) {
	const sessions, n, power = 1000, 20, 0.8
	rng := rand.New(rand.NewPCG(11, 3))
	effect := DetectableEffect(1, n, 0.05, power)
	found := 0
	for range sessions {
		d := make([]float64, n)
		for i := range d {
			d[i] = effect + rng.NormFloat64()
		}
		if SignedRankTest(d) <= 0.05 {
			found++
		}
	}
	if rate := float64(found) / sessions; rate < power-0.04 || rate > power+0.08 {
		t.Errorf("an effect said to be found in %v of sessions was found in %v", power, rate)
	}
}

func TestChangePointsAgainstReference(t *testing.T) {
	for _, want := range loadDecisions(t).Cuts {
		if got := energyCut(want.D); got != want.Cut {
			t.Errorf("%d values are cut at %d, want %d", len(want.D), got, want.Cut)
		}
	}
	rng := rand.New(rand.NewPCG(5, 5))
	var history []float64
	for i, level := range []float64{100, 106, 99} {
		for range []int{30, 12, 25}[i] {
			history = append(history, level+rng.NormFloat64())
		}
	}
	changes := ChangePoints(history, 0.001)
	if len(changes) != 2 || changes[0].At != 30 || changes[1].At != 42 || changes[0].After < 105 || changes[1].Before < 105 {
		t.Errorf("a rise at 30 and a fall at 42 are reported as %+v", changes)
	}
	for range 200 { // no change, so none may be found
		flat := make([]float64, 40)
		for i := range flat {
			flat[i] = rng.NormFloat64()
		}
		if found := ChangePoints(flat, 1e-6); len(found) != 0 {
			t.Fatalf("noise has the changes %+v", found)
		}
	}
	if got := ChangePoints([]float64{1, 1, 1, 1, 2, 2, 2, 2}, 0.001); len(got) != 1 || got[0].At != 4 || got[0].P != 0 {
		t.Errorf("a step without noise: %+v", got)
	}
	for _, bad := range [][]float64{nil, {1, 2, 3}, {1, 1, 1, math.NaN(), 2}, {3, 3, 3, 3, 3}} {
		if got := ChangePoints(bad, 0.001); got != nil {
			t.Errorf("%v has the changes %+v", bad, got)
		}
	}
}

// TestShiftIntervalCovers: of samples that are shifted by one, about 95 % of the
// intervals contain that shift, whatever the sizes of the samples.
func TestShiftIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	for _, size := range [][2]int{{12, 12}, {10, 30}, {60, 40}} {
		const rounds = 1000
		held := 0
		for range rounds {
			a, b := make([]float64, size[0]), make([]float64, size[1])
			for i := range a {
				a[i] = rng.ExpFloat64()
			}
			for i := range b {
				b[i] = 1 + rng.ExpFloat64()
			}
			estimate, low, high, ok := ShiftInterval(a, b, 0.95)
			if !ok || low > estimate || high < estimate {
				t.Fatalf("%v: %v in [%v, %v], %v", size, estimate, low, high, ok)
			}
			if low <= 1 && 1 <= high {
				held++
			}
		}
		if held < 925 || held > 980 {
			t.Errorf("sizes %v: %d of %d intervals hold the shift", size, held, rounds)
		}
	}
	if _, low, _, ok := ShiftInterval([]float64{1, 2}, []float64{3}, 0.95); ok || !math.IsNaN(low) {
		t.Error("three values have an interval")
	}
}
