package pace

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
)

// arrived is a ticket as a loop took it.
type arrived struct {
	n  int64
	at time.Duration
}

// takeAll takes every ticket of a loop.
func takeAll(a Arrivals) (all []arrived) {
	for n, at, ok := a.Peek(); ok; n, at, ok = a.Peek() {
		all = append(all, arrived{n, at})
		a.Take()
	}
	return all
}

// randomArrivals makes open loops of every kind.
func randomArrivals(r *rand.Rand) scenario.Load {
	l := randomLoad(r, true)
	l.Rate /= 4
	if r.IntN(2) == 0 {
		l.Arrivals = scenario.PoissonArrivals
	}
	switch r.IntN(4) {
	case 0:
		l.Connections = 1 + r.IntN(9)
		l.PerConnection = l.Rate / float64(l.Connections)
	case 1:
		l.Rate, l.Replay = 0, &scenario.Replay{}
		at := time.Duration(0)
		for range r.IntN(400) {
			at += time.Duration(r.IntN(3)) * time.Duration(r.IntN(20)) * time.Millisecond
			l.Replay.At = append(l.Replay.At, at)
		}
	}
	if r.IntN(3) == 0 {
		l.Requests = r.Int64N(300)
	}
	return l.WithDefaults()
}

// checkArrivals compares due with the tickets that the loops take, and the numbers with
// what their readers derive from them. It returns all tickets in order.
func checkArrivals(t *testing.T, l scenario.Load, loops int, seed uint64) []arrived {
	t.Helper()
	p := New(l)
	r := rand.New(rand.NewPCG(seed, 9))
	var all []arrived
	steady := int64(0)
	for loop := range loops {
		a := NewArrivals(l, &p, loop, loops, seed)
		tickets := takeAll(a)
		probes := []time.Duration{-1, 0, l.Warmup, p.end, p.end + 1}
		for range 10 {
			probes = append(probes, time.Duration(r.Int64N(int64(p.end))))
		}
		for i := 0; i <= len(tickets); i++ { // due is the same wherever the loop is
			if i == len(tickets) || i%(1+len(tickets)/5) == 0 {
				for _, at := range probes {
					want := int64(0)
					for _, k := range tickets {
						if k.at < at {
							want++
						}
					}
					if got := a.Due(at); got != want {
						t.Fatalf("%+v: loop %d of %d: %d due before %v after %d were taken, want %d of %d", l, loop,
							loops, got, at, i, want, len(tickets))
					}
				}
				for _, k := range tickets[min(i, len(tickets)):] {
					if n, at, ok := a.Peek(); !ok || n != k.n || at != k.at {
						t.Fatalf("%+v: due moved the loop to ticket %d at %v, %v; want %v", l, n, at, ok, k)
					}
					break
				}
			}
			a.Take()
		}
		last := time.Duration(0)
		for _, k := range tickets {
			if k.at < last || k.at >= p.end {
				t.Fatalf("%+v: ticket %v after %v", l, k, last)
			}
			last = k.at
			if k.at >= l.Warmup {
				steady++
			}
			if owner := k.n % int64(loops); l.PerConnection == 0 && owner != int64(loop) {
				t.Fatalf("%+v: loop %d has ticket %d", l, loop, k.n)
			}
			if c := k.n % int64(l.Connections); l.PerConnection > 0 && c%int64(loops) != int64(loop) {
				t.Fatalf("%+v: loop %d has ticket %d of connection %d", l, loop, k.n, c)
			}
		}
		all = append(all, tickets...)
	}
	if l.Requests > 0 && steady > l.Requests {
		t.Fatalf("%+v: %d requests in the span", l, steady)
	}
	slices.SortFunc(all, func(x, y arrived) int { return int(x.n - y.n) })
	for i := 1; i < len(all); i++ {
		if all[i].n == all[i-1].n {
			t.Fatalf("%+v: ticket %d twice", l, all[i].n)
		}
	}
	return all
}

func TestArrivals(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for round := range 150 {
		l := randomArrivals(r)
		all := checkArrivals(t, l, 1+r.IntN(5), uint64(round))
		if l.Arrivals == scenario.PoissonArrivals && l.Replay == nil {
			continue
		}
		// Together the loops have every ticket of the course.
		p := New(l)
		if due := p.Due(p.end); due != int64(len(all)) {
			t.Fatalf("%+v: %d tickets, %d due", l, len(all), due)
		}
		for i, k := range all {
			if at, ok := p.at(int64(i)); k.n != int64(i) || !ok || at != k.at {
				t.Fatalf("%+v: ticket %v at place %d, which is due at %v", l, k, i, at)
			}
		}
		if l.Replay != nil && l.Requests == 0 {
			for i, k := range all {
				if l.Replay.At[i] != k.at {
					t.Fatalf("entry %d at %v, in the log at %v", i, k.at, l.Replay.At[i])
				}
			}
		}
	}
}

func FuzzArrivals(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint8(3))
	f.Add(uint64(4), uint64(0), uint8(1))
	f.Fuzz(func(t *testing.T, shape, seed uint64, loops uint8) {
		checkArrivals(t, randomArrivals(rand.New(rand.NewPCG(shape, 1))), 1+int(loops%8), seed)
	})
}

func TestPerConnectionPhases(t *testing.T) {
	l := scenario.Load{Rate: 50, PerConnection: 10, Connections: 5, Duration: time.Second}.WithDefaults()
	all := checkArrivals(t, l, 2, 0)
	if len(all) != 50 {
		t.Fatalf("%d tickets", len(all))
	}
	for _, k := range all {
		i, m := k.n%5, k.n/5
		// Every 100 ms, 20 ms after the connection before.
		if want := time.Duration(100*m+20*i) * time.Millisecond; k.at != want {
			t.Errorf("connection %d's request %d at %v, want %v", i, m, k.at, want)
		}
	}
}

func TestRequestsBoundTheSpan(t *testing.T) {
	for _, arrive := range []scenario.Arrivals{scenario.ConstantArrivals, scenario.PoissonArrivals} {
		l := scenario.Load{Rate: 1000, Arrivals: arrive, Warmup: time.Second, Duration: time.Hour, Requests: 1001}.WithDefaults()
		n := 0
		for _, k := range checkArrivals(t, l, 3, 5) {
			if k.at >= l.Warmup {
				n++
			}
		}
		if n != 1001 {
			t.Errorf("%s: %d requests of the span", arrive, n)
		}
	}
}

// times returns the intended times of all loops together.
func times(l scenario.Load, loops int, seed uint64) []time.Duration {
	p := New(l)
	var all []time.Duration
	for loop := range loops {
		for _, k := range takeAll(NewArrivals(l, &p, loop, loops, seed)) {
			all = append(all, k.at)
		}
	}
	slices.Sort(all)
	return all
}

// TestPoissonArrivals tests the gaps against the exponential distribution
// (Kolmogorov and Smirnov), their independence by the correlation of
// neighbours, and the counts of short spans by their index of dispersion, which
// is 1 for a Poisson process. Stages are tested in rescaled time, where the
// process has rate 1. The seeds are fixed, so the test does not depend on luck.
func TestPoissonArrivals(t *testing.T) {
	ramp := []scenario.Stage{{To: 4000, Over: 10 * time.Second}, {To: 0, Over: 5 * time.Second}, {To: 0, Over: time.Second}, {To: 1500}}
	for _, test := range []struct {
		name  string
		l     scenario.Load
		loops int
	}{
		{"one loop", scenario.Load{Rate: 2000, Duration: 30 * time.Second}, 1},
		{"seven loops", scenario.Load{Rate: 2000, Duration: 30 * time.Second}, 7},
		{"stages", scenario.Load{Rate: 500, Warmup: 2 * time.Second, Duration: 30 * time.Second, Stages: ramp}, 3},
		{"per connection", scenario.Load{Rate: 2000, PerConnection: 400, Connections: 5, Duration: 30 * time.Second}, 2},
	} {
		l := test.l
		l.Arrivals = scenario.PoissonArrivals
		l = l.WithDefaults()
		p := New(l)
		var scaled []float64
		for _, at := range times(l, test.loops, 77) {
			scaled = append(scaled, p.integral(at))
		}
		total := p.segments[len(p.segments)-1].beyond
		if n := float64(len(scaled)); math.Abs(n-total) > 4*math.Sqrt(total) {
			t.Errorf("%s: %.0f arrivals, %.0f expected", test.name, n, total)
		}
		checkExponential(t, test.name, gaps(scaled))
		checkDispersion(t, test.name, scaled, total)
	}
}

func gaps(at []float64) []float64 {
	g := make([]float64, len(at))
	last := 0.0
	for i, v := range at {
		g[i], last = v-last, v
	}
	return g
}

func checkExponential(t *testing.T, name string, g []float64) {
	t.Helper()
	n := float64(len(g))
	neighbours := 0.0
	for i := 1; i < len(g); i++ {
		neighbours += (g[i] - 1) * (g[i-1] - 1) / n
	}
	if math.Abs(neighbours) > 4/math.Sqrt(n) {
		t.Errorf("%s: neighbouring gaps correlate by %.4f", name, neighbours)
	}
	slices.Sort(g)
	worst := 0.0
	for i, v := range g {
		f := 1 - math.Exp(-v)
		worst = max(worst, math.Abs(f-float64(i)/n), math.Abs(f-float64(i+1)/n))
	}
	if worst*math.Sqrt(n) > 1.63 { // the 1 % point of Kolmogorov's distribution
		t.Errorf("%s: gaps are off the exponential distribution by %.4f", name, worst)
	}
}

func checkDispersion(t *testing.T, name string, at []float64, total float64) {
	t.Helper()
	const width = 20
	counts := make([]float64, int(total/width))
	for _, v := range at {
		if i := int(v / width); i < len(counts) {
			counts[i]++
		}
	}
	mean, variance := 0.0, 0.0
	for _, c := range counts {
		mean += c / float64(len(counts))
	}
	for _, c := range counts {
		variance += (c - mean) * (c - mean) / float64(len(counts)-1)
	}
	if index := variance / mean; math.Abs(index-1) > 4*math.Sqrt(2/float64(len(counts))) {
		t.Errorf("%s: index of dispersion %.3f", name, index)
	}
}

func TestPoissonConnectionsAreEven(t *testing.T) {
	l := scenario.Load{Rate: 5000, PerConnection: 1000, Connections: 5, Duration: 10 * time.Second,
		Arrivals: scenario.PoissonArrivals}.WithDefaults()
	var each [5]float64
	for _, k := range checkArrivals(t, l, 2, 3) {
		each[k.n%5]++
	}
	for i, n := range each {
		if math.Abs(n-10_000) > 4*math.Sqrt(10_000) {
			t.Errorf("connection %d has %.0f requests, 10000 expected", i, n)
		}
	}
}

func TestSeedDecidesArrivals(t *testing.T) {
	l := scenario.Load{Rate: 100, Duration: time.Second, Arrivals: scenario.PoissonArrivals}.WithDefaults()
	if a, b := times(l, 2, 1), times(l, 2, 1); !slices.Equal(a, b) {
		t.Error("the same seed gave other arrivals")
	}
	if a, b := times(l, 2, 1), times(l, 2, 2); slices.Equal(a, b) {
		t.Error("another seed gave the same arrivals")
	}
	p := New(l)
	if a, b := takeAll(NewArrivals(l, &p, 0, 2, 1)), takeAll(NewArrivals(l, &p, 1, 2, 1)); a[0].at == b[0].at {
		t.Error("two loops have the same arrivals")
	}
}

func TestArrivalsDoNotAllocate(t *testing.T) {
	for _, arrive := range []scenario.Arrivals{scenario.ConstantArrivals, scenario.PoissonArrivals} {
		l := scenario.Load{Rate: 1000, Duration: time.Hour, Arrivals: arrive}.WithDefaults()
		p := New(l)
		a := NewArrivals(l, &p, 0, 2, 1)
		if n := testing.AllocsPerRun(1000, func() {
			_, at, _ := a.Peek()
			a.Take()
			a.Due(at)
		}); n > 0 {
			t.Errorf("%s: %v allocations per ticket", arrive, n)
		}
	}
}

func TestThinkTime(t *testing.T) {
	rng := rand.NewPCG(1, 2)
	var sum time.Duration
	lowest, highest := time.Hour, time.Duration(0)
	for range 100_000 {
		d := Think(scenario.Think{Min: 10 * time.Millisecond, Max: 30 * time.Millisecond}, rng)
		sum, lowest, highest = sum+d, min(lowest, d), max(highest, d)
	}
	if mean := sum / 100_000; lowest < 10*time.Millisecond || highest > 30*time.Millisecond ||
		(mean-20*time.Millisecond).Abs() > 100*time.Microsecond {
		t.Errorf("even think time from %v to %v, mean %v", lowest, highest, mean)
	}
	draws := make([]float64, 20_000)
	for i := range draws {
		draws[i] = Think(scenario.Think{Mean: time.Second}, rng).Seconds()
	}
	checkExponential(t, "think time", draws)
	if d := Think(scenario.Think{}, rng); d != 0 {
		t.Errorf("no think time is %v", d)
	}
	if d := Think(scenario.Think{Min: time.Second}, rng); d != time.Second {
		t.Errorf("a think time of at least 1 s and at most nothing is %v", d)
	}
}

func BenchmarkArrivals(b *testing.B) {
	for _, arrive := range []scenario.Arrivals{scenario.ConstantArrivals, scenario.PoissonArrivals} {
		b.Run(string(arrive), func(b *testing.B) {
			l := scenario.Load{Rate: 1e6, Duration: 1e6 * time.Hour, Arrivals: arrive}.WithDefaults()
			p := New(l)
			a := NewArrivals(l, &p, 0, 2, 1)
			b.ReportAllocs()
			for b.Loop() {
				a.Take()
			}
		})
	}
}
