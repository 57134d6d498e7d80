package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/verify"
)

// walk draws a series whose windows are correlated by r.
func walk(rng *rand.Rand, n int, level, spread, r float64) []float64 {
	out, drift := make([]float64, n), 0.0
	for i := range out {
		drift = r*drift + math.Sqrt(1-r*r)*rng.NormFloat64()
		out[i] = level * math.Exp(spread*drift)
	}
	return out
}

func TestWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	m := verify.Metric{Name: "cpu_per_request", Unit: "ns"}
	r := windows(m, of(walk(rng, 600, 100e3, 0.05, 0)), of(walk(rng, 600, 110e3, 0.05, 0)))
	if !r.Known || r.Low > 0.10 || r.High < 0.10 || r.High-r.Low > 0.03 || r.Block != firstBlock {
		t.Errorf("10 %% more, independent windows: %+v", r)
	}
	m.Higher = true
	if r := windows(m, of(walk(rng, 600, 100, 0.05, 0)), of(walk(rng, 600, 80, 0.05, 0))); r.Estimate < 0.15 || r.Low <= 0 {
		t.Errorf("a fifth less of what should be more: %+v", r)
	}
	if r := windows(m, of(walk(rng, 3000, 100, 0.05, 0.98)), of(walk(rng, 3000, 100, 0.05, 0.98))); r.Known && r.Block <= firstBlock {
		t.Errorf("correlated windows were taken as independent: %+v", r)
	}
	short := windows(m, of(walk(rng, 50, 100, 0.05, 0)), of(walk(rng, 600, 100, 0.05, 0)))
	if r := short; r.Known || !strings.Contains(r.Why, "too short") {
		t.Errorf("five seconds: %+v", r)
	}
	if r := windows(m, of(nil), of(walk(rng, 600, 100, 0.05, 0))); r.Known || !strings.Contains(r.Why, "not recorded") {
		t.Errorf("missing on one side: %+v", r)
	}
}

// TestIntervalCovers: identical runs are called different in no more than the
// interval allows, autocorrelated as windows are.
func TestIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	const rounds = 300
	wrong, known := 0, 0
	for range rounds {
		r := windows(verify.Metric{}, of(walk(rng, 600, 100, 0.05, 0.7)), of(walk(rng, 600, 100, 0.05, 0.7)))
		if !r.Known {
			continue
		}
		if known++; r.Low > 0 || r.High < 0 {
			wrong++
		}
	}
	if known < rounds/2 || float64(wrong) > 0.10*float64(known) {
		t.Errorf("%d of %d comparisons of identical series exclude no change", wrong, known)
	}
}

func TestRuns(t *testing.T) {
	run := func(slow time.Duration, cpu time.Duration) *record.Record {
		b := diagnosetest.New(16, 10*time.Millisecond).CPU(2, 1, 0.5, 0.2, -1).
			Wait(breakdown.StateLock, slow, 1, "sync.(*Mutex).Lock", "shop/cache.(*Cache).Get@cache.go:41").
			Sample(cpu, "shop/price.total@price.go:7").Sample(time.Second, "shop/web.render@web.go:3")
		rec, a := b.Open(t)
		if err := disk.WriteJSON(rec.Dir, breakdown.File, a); err != nil {
			t.Fatal(err)
		}
		return rec
	}
	a, b := run(2*time.Millisecond, time.Second), run(6*time.Millisecond, 4*time.Second)
	r := Runs(a, b)
	if len(r.Parts) == 0 || !strings.HasPrefix(r.Parts[0].Place, "lock ") || r.Parts[0].B-r.Parts[0].A < 3e6 {
		t.Errorf("the mean request waits 4 ms longer for a lock, and reported is %+v", r.Parts)
	}
	if len(r.Functions) == 0 || r.Functions[0].Place != "shop/price.total" || r.Functions[0].B <= r.Functions[0].A {
		t.Errorf("total takes more CPU, and reported is %+v", r.Functions)
	}
	if same := Runs(a, a); len(same.Parts) != 0 || len(same.Functions) != 0 || len(same.Warnings) != 0 {
		t.Errorf("a run beside itself: %+v", same)
	}
	b.Run.Host.Kernel, b.Run.Scenario = "another", []byte(`{"load":{"connections":3}}`)
	if warned := strings.Join(Runs(a, b).Warnings, "; "); !strings.Contains(warned, "kernel") ||
		!strings.Contains(warned, "scenarios: not the same load") {
		t.Errorf("other machine and scenario: %q", warned)
	}
}

// TestMediansOfMixedWindows: in some windows most requests are fast, in b more often. The change of the median is that
// of the ordinary windows, and of the two values beside it.
func TestMediansOfMixedWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	mixed := func(level, fast float64) []float64 {
		list := walk(rng, 600, level, 0.02, 0)
		for i := range list {
			if rng.Float64() < fast {
				list[i] = 10e6
			}
		}
		return list
	}
	r := windows(verify.Metric{Name: "p50", Unit: "ns"}, of(mixed(170e6, 0.02)), of(mixed(101e6, 0.2)))
	if !r.Known || math.Abs(r.Estimate-(101.0/170-1)) > 0.02 || math.Abs(r.B/r.A-1-r.Estimate) > 0.01 {
		t.Errorf("%+v", r)
	}
}

// TestWindowsWithoutRequests: at a few requests a second most windows are empty, and they count.
func TestWindowsWithoutRequests(t *testing.T) {
	const cost = 300e6 // of a request, ns, three windows long
	slow := func(perSecond float64) (served, cpu []float64) {
		rng := rand.New(rand.NewPCG(uint64(perSecond), 9))
		served, cpu = make([]float64, 600), make([]float64, 600)
		for i := range served {
			if rng.Float64() < perSecond/10 {
				served[i]++
				for back := range min(3, i+1) {
					cpu[i-back] += cost / 3
				}
			}
		}
		served[17], cpu[17] = math.NaN(), math.NaN() // a gap
		return served, cpu
	}
	width := slices.Repeat([]float64{0.1}, 600)
	a, cpuA := slow(3)
	b, cpuB := slow(6)
	r := windows(verify.Metric{Name: "throughput", Unit: "1/s", Higher: true}, per(a, width), per(b, width))
	if !r.Known || math.Abs(r.A-3) > 0.5 || math.Abs(r.B-6) > 0.8 || r.High > -0.3 {
		t.Errorf("3/s and 6/s: %+v", r)
	}
	r = windows(verify.Metric{Name: "cpu_per_request", Unit: "ns"}, per(cpuA, a), per(cpuB, b))
	if math.Abs(r.A/cost-1) > 0.1 || math.Abs(r.B/cost-1) > 0.1 || r.Known && (r.Low > 0 || r.High < 0) {
		t.Errorf("300 ms per request on both sides: %+v", r)
	}
	none := make([]float64, 600)
	if r = windows(verify.Metric{Name: "throughput"}, per(a, width), per(none, width)); r.Known || r.B != 0 || r.Why == "" {
		t.Errorf("a service that serves nothing: %+v", r)
	}
	if r = windows(verify.Metric{Name: "cpu_per_request"}, per(cpuA, a), per(none, none)); r.Known || !finite(r.B) || r.Why == "" {
		t.Errorf("no CPU of no request: %+v", r)
	}
	if r = windows(verify.Metric{Name: "cpu_per_request"}, per(cpuA, a), per(cpuB, none)); r.Known || !finite(r.B) || r.Why == "" {
		t.Errorf("CPU of no request: %+v", r)
	}
}

// BenchmarkWindows compares 100,000 windows of either run.
func BenchmarkWindows(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 9))
	one, two := of(walk(rng, 100_000, 100, 0.05, 0.7)), of(walk(rng, 100_000, 101, 0.05, 0.7))
	for b.Loop() {
		windows(verify.Metric{Name: "p50"}, one, two)
	}
}
