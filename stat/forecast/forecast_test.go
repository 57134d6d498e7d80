package forecast

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// simulated is an ARIMA(1,0,1) process of n values around 50.
func simulated(n int, phi, theta float64) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	out, before, last := make([]float64, n), 0.0, 0.0
	for i := range out {
		e := rng.NormFloat64()
		before = phi*before + e + theta*last
		last = e
		out[i] = 50 + before
	}
	return out
}

// TestARIMARecovers the coefficients of a simulated process.
func TestARIMARecovers(t *testing.T) {
	o := order{p: 1, q: 1, m: 1, drift: true}
	x, _ := o.fit(simulated(3000, 0.7, 0.4))
	ar, ma, centre := o.coefficients(x)
	if math.Abs(ar[0].by-0.7) > 0.05 || math.Abs(ma[0].by-0.4) > 0.05 || math.Abs(centre-50) > 0.3 {
		t.Errorf("phi %.3f, theta %.3f, mean %.2f", ar[0].by, ma[0].by, centre)
	}
}

// TestSeasonalPolynomials multiplies (1 - 0.5 B)(1 - 0.3 B^12) out, by hand.
func TestSeasonalPolynomials(t *testing.T) {
	ar, ma := polynomials([]float64{0.5}, []float64{0.3}, []float64{-0.4}, []float64{-0.6}, 12)
	for lag, want := range map[int]float64{1: 0.5, 12: 0.3, 13: -0.15} {
		if got := coefficient(ar, lag); math.Abs(got-want) > 1e-12 {
			t.Errorf("autoregressive lag %d: %v, want %v", lag, got, want)
		}
	}
	for lag, want := range map[int]float64{1: -0.4, 12: -0.6, 13: 0.24} {
		if got := coefficient(ma, lag); math.Abs(got-want) > 1e-12 {
			t.Errorf("moving-average lag %d: %v, want %v", lag, got, want)
		}
	}
}

func coefficient(all []lag, steps int) float64 {
	for _, l := range all {
		if l.steps == steps {
			return l.by
		}
	}
	return 0
}

// TestReaches: a line with little noise passes its limit at a known step; one that falls
// never does.
func TestReaches(t *testing.T) {
	rising, falling := make([]float64, 80), make([]float64, 80)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range rising {
		noise := rng.NormFloat64() / 10
		rising[i], falling[i] = 100+float64(i)+noise, 200-float64(i)+noise
	}
	f, err := Choose(Series{Values: rising}, Options{Horizon: 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if p := f.Reaches(200); p.Middle < 18 || p.Middle > 22 || p.Early > p.Middle || p.Late < p.Middle || p.Share < 0.99 {
		t.Errorf("reached at %+v, want 20", p)
	}
	if f, err = Choose(Series{Values: falling}, Options{Horizon: 40, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if p := f.Reaches(200); p.Middle != -1 || p.Share > 0.1 {
		t.Errorf("a falling history reaches %+v", p)
	}
}

// TestGaps: missing values are not taken as zeros, and hardly move the forecast.
func TestGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	whole := make([]float64, 24*14)
	for i := range whole {
		whole[i] = 1000 + 300*math.Sin(2*math.Pi*float64(i)/24) + 10*rng.NormFloat64()
	}
	holes := append([]float64{}, whole...)
	for i := 100; i < 130; i++ {
		holes[i] = math.NaN()
	}
	a, err := Choose(Series{whole, []int{24}}, Options{Horizon: 24, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Choose(Series{holes, []int{24}}, Options{Horizon: 24, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Middle {
		if math.Abs(a.Middle[i]-b.Middle[i]) > 25 {
			t.Errorf("step %d: %.0f without gaps, %.0f with", i, a.Middle[i], b.Middle[i])
		}
	}
}

func TestShort(t *testing.T) {
	nan := math.NaN()
	for _, s := range []Series{{}, {Values: make([]float64, LeastValues-1)},
		{Values: []float64{1, nan, nan, 2, nan, nan, 3, nan, nan, 4, nan, nan, 5, 6, nan, 7, nan, 8, nan, 9, nan, nan, 1, 2,
			nan, 3, nan, nan}},
		{Values: make([]float64, 40), Seasons: []int{24}}} {
		if _, err := Choose(s, Options{Horizon: 5}); !errors.Is(err, ErrShort) {
			t.Errorf("%d values, seasons %v: %v", len(s.Values), s.Seasons, err)
		}
	}
	bad := simulated(50, 0, 0)
	bad[7] = math.Inf(1)
	if _, err := Choose(Series{Values: bad}, Options{Horizon: 5}); err == nil || errors.Is(err, ErrShort) {
		t.Errorf("an infinite value: %v", err)
	}
}

// TestSameSeedSameFigures: the same seed gives the same forecast.
func TestSameSeedSameFigures(t *testing.T) {
	s := Series{Values: simulated(80, 0.5, 0)}
	a, _ := Choose(s, Options{Horizon: 5, Seed: 7})
	b, _ := Choose(s, Options{Horizon: 5, Seed: 7})
	for i := range a.Low {
		if a.Low[i] != b.Low[i] || a.High[i] != b.High[i] || a.Low[i] >= a.High[i] {
			t.Fatalf("step %d: %v to %v and %v to %v", i, a.Low[i], a.High[i], b.Low[i], b.High[i])
		}
	}
}

// TestIntervalsHold: about 80 % of simulated continuations lie within the intervals.
func TestIntervalsHold(t *testing.T) {
	within, all := 0, 0
	long := simulated(60*80, 0.8, 0)
	for at := 0; at+66 <= len(long); at += 80 {
		f, err := Choose(Series{Values: long[at : at+60]}, Options{Horizon: 6, Paths: 500})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range long[at+60 : at+66] {
			all++
			if v >= f.Low[i] && v <= f.High[i] {
				within++
			}
		}
	}
	if share := float64(within) / float64(all); share < 0.7 || share > 0.9 {
		t.Errorf("%.2f of %d values within", share, all)
	}
}

// certain is a model that allows for one future.
type certain float64

func (c certain) name() string { return "certain" }

func (c certain) mean(steps int) []float64 {
	out := make([]float64, steps)
	c.path(nil, out)
	return out
}

func (c certain) path(_ *rand.Rand, out []float64) {
	for i := range out {
		out[i] = float64(c)
	}
}

// TestIntervalWithoutWidth: it holds what it forecasts, and nothing else.
func TestIntervalWithoutWidth(t *testing.T) {
	for _, c := range []struct {
		actual        []float64
		stretch, held float64
	}{
		{[]float64{5, 5, 5, 5}, 0.5, 1},
		{[]float64{5, 5, 7, 3}, 3, 0.5},
		{[]float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, math.NaN(), 4}, 0.5, 10.0 / 11},
	} {
		runs := make([]past, 1000) // so many origins that the model's own width does not count
		for i := range runs {
			runs[i] = past{actual: c.actual, models: map[string]model{"certain": certain(5)}}
		}
		stretch, held := calibration(runs, "certain", 0.8, rand.New(rand.NewPCG(1, 1)))
		if stretch != c.stretch || math.Abs(held-c.held) > 1e-9 {
			t.Errorf("%v: %v within, stretched by %v", c.actual, held, stretch)
		}
	}
}
