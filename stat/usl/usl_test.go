package usl

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// sdm91 is a Sun SPARCcenter 2000 in the SPEC SDM91 benchmark: Gunther's own worked
// example (Guerrilla Capacity Planning, section 5.4), in jobs per hour, as the R package
// usl ships it.
var sdm91 = []Point{{1, 64.9}, {18, 995.9}, {36, 1652.4}, {72, 1853.2}, {108, 1828.9}, {144, 1775.0}, {216, 1702.2}}

// cisco is the benchmark in B. Schwartz, Practical Scalability Analysis with the
// Universal Scalability Law (2015).
var cisco = []Point{
	{1, 955.16}, {2, 1878.91}, {3, 2688.01}, {4, 3548.68}, {5, 4315.54}, {6, 5130.43}, {7, 5931.37}, {8, 6531.08},
	{9, 7219.8}, {10, 7867.61}, {11, 8278.71}, {12, 8646.7}, {13, 9047.84}, {14, 9426.55}, {15, 9645.37}, {16, 9897.24},
	{17, 10097.6}, {18, 10240.5}, {19, 10532.39}, {20, 10798.52}, {21, 11151.43}, {22, 11518.63}, {23, 11806}, {24, 12089.37},
	{25, 12075.41}, {26, 12177.29}, {27, 12211.41}, {28, 12158.93}, {29, 12155.27}, {30, 12118.04}, {31, 12140.4}, {32, 12074.39},
}

func near(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if !(math.Abs(got-want) <= part*math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestSDM91 has its values from the summary of the R package usl 3.0.0 (S. Möding), whose
// README prints them: nls on the throughputs.
func TestSDM91(t *testing.T) {
	f, err := Of(sdm91)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "lambda", f.Lambda, 89.9952330, 1e-4)
	near(t, "sigma", f.Sigma, 0.0277285, 1e-4)
	near(t, "kappa", f.Kappa, 0.0001044, 1e-3)
	near(t, "peak", f.Peak(), 96.5, 0.005)
	for i, want := range []float64{90, 1078, 1541, 1850, 1879, 1822, 1646} { // its fitted()
		near(t, fmt.Sprint("throughput at ", sdm91[i].N), f.At(sdm91[i].N), want, 0.001)
	}
	// Its standard errors are the slope of the profile at the estimate; with four degrees
	// of freedom the profile is about as wide, and leans to the right.
	for _, c := range []struct {
		name          string
		v, deviation  float64
		low, high     float64
		least, atMost float64
	}{
		{"sigma", f.Sigma, 0.0091217, f.SigmaInterval.Low, f.SigmaInterval.High, 0.7, 2.2},
		{"kappa", f.Kappa, 0.0000199, f.KappaInterval.Low, f.KappaInterval.High, 0.7, 2.2},
	} {
		wald := tQuantile(4) * c.deviation
		if c.v-c.low < c.least*wald || c.v-c.low > c.atMost*wald || c.high-c.v < c.least*wald || c.high-c.v > c.atMost*wald {
			t.Errorf("%s in %v to %v, Wald's would be %v to %v", c.name, c.low, c.high, c.v-wald, c.v+wald)
		}
	}
}

// TestCisco has the book's values. Its peak, at 35, lies beyond the 32 threads that were
// measured, so it is refused.
func TestCisco(t *testing.T) {
	f, err := Of(cisco)
	var outside *PeakOutsideError
	if !errors.As(err, &outside) {
		t.Fatalf("the error is %v", err)
	}
	near(t, "lambda", f.Lambda, 995.6486, 2e-4)
	near(t, "sigma", f.Sigma, 0.02671591, 2e-4)
	near(t, "kappa", f.Kappa, 7.690945e-4, 2e-4)
	near(t, "peak", outside.Peak, 35, 0.02)
	near(t, "throughput at the peak", f.Limit(), 12341, 2e-4)
}

// simulated returns the throughputs of three sweeps by a law, with multiplicative normal
// noise.
func simulated(l Law, noise float64, seed uint64) []Point {
	rng := rand.New(rand.NewPCG(seed, 1))
	var points []Point
	for range 3 {
		for n := 1.0; n <= 96; n += 1 + math.Floor(n/8) {
			points = append(points, Point{n, l.At(n) * (1 + noise*rng.NormFloat64())})
		}
	}
	return points
}

func TestRecoversKnownLaws(t *testing.T) {
	for _, law := range []Law{{1000, 0.05, 0.0005}, {1000, 0.02, 0.001}, {50, 0.2, 0.002}, {20_000, 0.1, 0.0003}} {
		for seed := range uint64(25) {
			f, err := Of(simulated(law, 0.01, seed))
			if err != nil {
				t.Fatalf("%v: %v", law, err)
			}
			near(t, fmt.Sprint(law, ": sigma"), f.Sigma, law.Sigma, 0.1)
			near(t, fmt.Sprint(law, ": kappa"), f.Kappa, law.Kappa, 0.1)
		}
	}
}

func TestIntervalsCover(t *testing.T) {
	law, sigmas, kappas := Law{1000, 0.05, 0.0005}, 0, 0
	const rounds = 200
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var points []Point
		for n := 1.0; n <= 128; n *= 2 {
			points = append(points, Point{n, law.At(n) + 150*rng.NormFloat64()}, Point{n, law.At(n) + 150*rng.NormFloat64()})
		}
		f, _ := Of(points)
		if f == nil {
			t.Fatal("no fit")
		}
		if f.SigmaInterval.Low <= law.Sigma && law.Sigma <= f.SigmaInterval.High {
			sigmas++
		}
		if f.KappaInterval.Low <= law.Kappa && law.Kappa <= f.KappaInterval.High {
			kappas++
		}
	}
	// If each holds with a probability of 95 %, fewer than 180 of 200 do so once in 860
	// times.
	if sigmas < 180 || kappas < 180 {
		t.Errorf("of %d intervals %d contain sigma and %d kappa", rounds, sigmas, kappas)
	}
}

func TestRefusals(t *testing.T) {
	points := func(at func(n float64) float64) (all []Point) {
		for i, n := range []float64{1, 2, 4, 8, 16, 32, 64} {
			all = append(all, Point{n, at(n) * (1 + 0.01*float64(i%3-1))})
		}
		return all
	}
	t.Run("a peak that was not measured", func(t *testing.T) {
		law := Law{1000, 0.02, 0.00002} // peak at 221
		var refusal *PeakOutsideError
		if f, err := Of(points(law.At)); !errors.As(err, &refusal) || f == nil || refusal.Most != 64 || refusal.Peak < 64 {
			t.Errorf("%v", err)
		}
	})
	t.Run("throughput that stops growing and does not fall", func(t *testing.T) {
		var refusal *PeakOutsideError
		four := func(n float64) float64 { return min(200*n, 800) }
		if _, err := Of(points(four)); !errors.As(err, &refusal) || !math.IsInf(refusal.Farthest, 1) {
			t.Errorf("%v", err)
		}
	})
	t.Run("a straight line", func(t *testing.T) {
		var refusal *WorseThanLineError
		line := []Point{{1, 485}, {2, 425}, {4, 625}, {8, 1185}, {16, 1985}, {32, 3425}, {64, 6685}} // 305 + 100 n, give or take 80
		if _, err := Of(line); !errors.As(err, &refusal) {
			t.Errorf("%v", err)
		}
	})
	t.Run("faster than linear", func(t *testing.T) {
		var refusal *UnphysicalError
		if _, err := Of(points(func(n float64) float64 { return 100 * math.Pow(n, 1.3) })); !errors.As(err, &refusal) {
			t.Errorf("%v", err)
		} else if refusal.Law.Sigma >= 0 && refusal.Law.Kappa >= 0 {
			t.Errorf("%+v is physical", refusal.Law)
		}
	})
	t.Run("too few", func(t *testing.T) {
		var refusal *TooFewError
		if f, err := Of(sdm91[:4]); !errors.As(err, &refusal) || f != nil || refusal.Distinct != 4 {
			t.Errorf("%v", err)
		}
		if _, err := Of(append([]Point{{3, math.NaN()}}, sdm91...)); !errors.As(err, &refusal) {
			t.Errorf("%v", err)
		}
	})
}
