package gobench

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/gobench/loops"
)

const trapped = `package shop

import (
	"crypto/sha256"
	"sync/atomic"
	"testing"
	"time"
)

func half(x int) int { return x / 2 }

type counter struct{ n int }

func (c *counter) inc()     { c.n++ }
func (c *counter) get() int { return c.n }

func spin(d time.Duration) {
	for begun := time.Now(); time.Since(begun) < d; {
	}
}

func hash(data []byte) byte { h := sha256.Sum256(data); return h[0] }

func newOrders(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = hash(data[max(0, i-64):i])
	}
	return data
}

var sink int

// Results.

func BenchmarkDropped(b *testing.B) {
	for i := 0; i < b.N; i++ {
		half(i)
	}
}

func BenchmarkDroppedInto(b *testing.B) {
	var last int
	for i := range b.N {
		last = half(i)
	}
	_ = last
}

func BenchmarkDroppedSub(b *testing.B) {
	b.Run("blank", func(b *testing.B) {
		for range b.N {
			_ = half(7)
		}
	})
	b.Run("kept", func(b *testing.B) {
		for i := range b.N {
			sink += hash2(i)
		}
	})
}

func hash2(i int) int { return int(hash([]byte{byte(i)})) }

func BenchmarkUsed(b *testing.B) {
	total := 0
	for i := range b.N {
		total += hash2(i)
	}
	sink = total
}

func BenchmarkKeptByLoop(b *testing.B) {
	for b.Loop() {
		half(7)
	}
}

func BenchmarkStatement(b *testing.B) {
	var c counter
	var n atomic.Int64
	for range b.N {
		c.inc()
		n.Add(1)
	}
	sink = c.get()
}

// Set-up before the loop.

func BenchmarkSetUpTimed(b *testing.B) {
	spin(4 * time.Millisecond)
	for i := range b.N {
		sink += hash2(i)
	}
}

func BenchmarkSetUpReset(b *testing.B) {
	spin(4 * time.Millisecond)
	b.ResetTimer()
	for i := range b.N {
		sink += hash2(i)
	}
}

func BenchmarkSetUpStopped(b *testing.B) {
	b.StopTimer()
	spin(4 * time.Millisecond)
	b.StartTimer()
	for i := range b.N {
		sink += hash2(i)
	}
}

func BenchmarkSetUpLoop(b *testing.B) {
	spin(4 * time.Millisecond)
	for b.Loop() {
		sink += hash2(1)
	}
}

func BenchmarkSetUpSmall(b *testing.B) {
	spin(time.Microsecond)
	for i := range b.N {
		sink += hash2(i)
	}
}

func BenchmarkSetUpHelper(b *testing.B) { timed(b, 4*time.Millisecond) }

func timed(b *testing.B, d time.Duration) {
	spin(d)
	for i := range b.N {
		sink += hash2(i)
	}
}

// Set-up in the loop.

func BenchmarkPrepares(b *testing.B) {
	for b.Loop() {
		orders := newOrders(500)
		sink += int(hash(orders))
	}
}

func BenchmarkPrepared(b *testing.B) {
	orders := newOrders(500)
	for b.Loop() {
		sink += int(hash(orders))
	}
}

func BenchmarkNewOrders(b *testing.B) {
	for b.Loop() {
		orders := newOrders(500)
		sink += half(len(orders))
	}
}

// Allocation.

// The live heap makes collections rare: how the workers are scheduled does not matter, and
// clearing memory is the only other cost.
var (
	live = make([]byte, 64<<20)
	kept [1 << 10]*[8192]byte
)

func BenchmarkGarbage(b *testing.B) {
	for i := range b.N {
		kept[i%len(kept)] = new([8192]byte)
	}
	live[0]++
}

// Few iterations.

func BenchmarkSlow(b *testing.B) {
	for b.Loop() {
		time.Sleep(8 * time.Millisecond)
	}
}

// Parallel.

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			hash2(1)
		}
	})
}
`

// TestTraps runs benchmarks that have a trap, and others beside them that are
// written as they should be.
// fixedFigures is a TestMain for the same package that prints figures instead of
// measuring: what the traps do to times is tested on any machine, however busy.
// A single iteration of a benchmark with set-up includes the set-up.
const fixedFigures = `package shop

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

var figures = []struct {
	name         string
	n            int
	each, single float64 // ns
}{
	{"Dropped", 33_000_000, 0.3, 500}, {"DroppedInto", 33_000_000, 0.3, 500},
	{"DroppedSub/blank", 33_000_000, 0.3, 500}, {"DroppedSub/kept", 100_000, 100, 900},
	{"Used", 100_000, 100, 900}, {"KeptByLoop", 10_000_000, 0.9, 500}, {"Statement", 2_000_000, 5, 500},
	{"SetUpTimed", 100_000, 90, 4_000_100}, {"SetUpHelper", 100_000, 90, 4_000_100},
	{"SetUpReset", 100_000, 50, 900}, {"SetUpStopped", 100_000, 50, 900}, {"SetUpLoop", 100_000, 50, 900},
	{"SetUpSmall", 100_000, 50, 1_500}, {"Slow", 2, 8_100_000, 8_100_000}, {"Parallel", 50_000, 200, 1_000},
}

func TestMain(m *testing.M) {
	flag.Parse()
	get := func(name string) string { return flag.Lookup("test." + name).Value.String() }
	if get("bench") == "" {
		os.Exit(m.Run())
	}
	fmt.Printf("goos: %s\ngoarch: %s\npkg: shop\n", runtime.GOOS, runtime.GOARCH)
	count, _ := strconv.Atoi(get("count"))
	procs := "-" + strconv.Itoa(runtime.GOMAXPROCS(0))
	if get("cpu") == "1" || procs == "-1" {
		procs = "" // as package testing names it
	}
	for _, f := range figures {
		if !matches(get("bench"), f.name) {
			continue
		}
		for range count {
			n, ns := f.n, f.each
			if get("benchtime") == "1x" {
				n, ns = 1, f.single
			}
			fmt.Printf("Benchmark%s%s\t%d\t%g ns/op\t0 B/op\t0 allocs/op\n", f.name, procs, n, ns)
		}
	}
	fmt.Println("PASS")
}

func matches(pattern, name string) bool {
	parts := strings.Split("Benchmark"+name, "/")
	for i, p := range strings.Split(pattern, "/") {
		if i < len(parts) && !regexp.MustCompile(p).MatchString(parts[i]) {
			return false
		}
	}
	return true
}
`

func TestTraps(t *testing.T) {
	o := quick(t, module(t, map[string]string{"shop_test.go": trapped, "figures_test.go": fixedFigures}))
	o.BenchTime, o.Bench = "10ms", "Dropped|Used|Kept|Statement|SetUp|Slow|Parallel"
	checkTraps(t, run(t, o), map[string]Kind{
		"Dropped": Dropped, "DroppedInto": Dropped, "DroppedSub/blank": Dropped,
		"SetUpTimed": SetUpBefore, "SetUpHelper": SetUpBefore, "Slow": FewRuns,
	})

	// Shares of CPU do not depend on how much of it there is.
	o = quick(t, module(t, map[string]string{"shop_test.go": trapped}))
	o.Profiles, o.BenchTime, o.Bench = 10, "50ms", "Prepare|NewOrders|Garbage"
	r := run(t, o)
	checkTraps(t, r, map[string]Kind{"Prepares": SetUpInside, "Garbage": Collecting})
	if p := r.find(t, "Prepared").Profile; p == nil || len(p.Sides) != 1 || len(p.Sides[0].Top) == 0 || len(p.Changes) != 0 {
		t.Errorf("profile of one side: %+v", p)
	}
}

// checkTraps checks for exactly the wanted traps.
func checkTraps(t *testing.T, r *Report, want map[string]Kind) {
	t.Helper()
	if r.Undecided() || len(r.Missing) > 0 {
		t.Errorf("missing: %+v", r.Missing)
	}
	for name := range want {
		r.find(t, name)
	}
	for _, b := range r.Benchmarks {
		var kinds []Kind
		for _, trap := range b.Traps {
			kinds = append(kinds, trap.Kind)
			if trap.Evidence == "" || trap.Remedy == "" {
				t.Errorf("%s: %+v", b.Name, trap)
			}
		}
		kind, trapped := want[b.Name]
		if trapped != (len(kinds) > 0) || trapped && !slices.Equal(kinds, []Kind{kind}) {
			t.Errorf("%s: traps %+v, want %q; %+v", b.Name, b.Traps, kind, b.Metrics)
		}
	}
	for _, w := range r.Warnings {
		t.Errorf("warning: %s", w)
	}
}

// fixed is a benchmark whose rounds took so many seconds an iteration.
func fixed(n int, rounds ...float64) *decided {
	b := &benchmark{pkg: "shop", name: "X"}
	for _, sec := range rounds {
		b.series[0] = append(b.series[0], launch{procs: 4, result: &benchfmt.Result{Name: []byte("X"), Iters: n,
			Values: []benchfmt.Value{{Value: sec, Unit: perOp}}}})
	}
	return &decided{b: b, out: &Benchmark{Procs: 4, Iterations: n}, cores: 4, margin: 0.05}
}

func repeat(sec float64, n int, jitter float64) (all []float64) {
	for i := range n {
		all = append(all, sec*(1+jitter*math.Sin(float64(7*i))))
	}
	return all
}

// TestThresholds decides by fixed values.
func TestThresholds(t *testing.T) {
	unused := loops.Loop{Kind: loops.Counted, Dropped: []loops.Position{{File: "x_test.go", From: 3, Text: "half"}}}
	used := loops.Loop{Kind: loops.Counted}
	timed := loops.Loop{Kind: loops.Counted, Before: []loops.Position{{File: "x_test.go", From: 2, Text: "spin"}}}
	with := func(j *decided, change func(*decided)) *decided { change(j); return j }
	profile := func(collecting, allocating float64, samples int) func(*decided) {
		return func(j *decided) {
			j.out.Profile = &Profile{Sides: []ProfileSide{{Side: "a", Collecting: collecting, Allocating: allocating, Samples: samples}}}
		}
	}
	shift := append(repeat(1e-6, 10, 0.002), repeat(1.2e-6, 10, 0.002)...)
	for name, c := range map[string]struct {
		j    *decided
		want Kind
	}{
		"unused and empty":       {with(fixed(1e9, 0.3e-9), func(j *decided) { j.loops = []loops.Loop{unused} }), Dropped},
		"unused, but it works":   {with(fixed(1e9, 1.3e-9), func(j *decided) { j.loops = []loops.Loop{unused} }), ""},
		"used, one cycle":        {with(fixed(1e9, 0.3e-9), func(j *decided) { j.loops = []loops.Loop{used} }), Dropped},
		"used, two cycles":       {with(fixed(1e9, 0.7e-9), func(j *decided) { j.loops = []loops.Loop{used} }), ""},
		"kept by b.Loop":         {with(fixed(1e9, 0.3e-9), func(j *decided) { j.loops = []loops.Loop{{Kind: loops.Kept}} }), ""},
		"no source":              {fixed(1e9, 0.3e-9), ""},
		"it is not known which":  {with(fixed(1e9, 0.7e-9), func(j *decided) { j.loops = []loops.Loop{unused, used} }), ""},
		"set-up is a tenth":      {with(fixed(1000, 100e-6), func(j *decided) { j.loops, j.once = []loops.Loop{timed}, 10*time.Millisecond }), SetUpBefore},
		"set-up is a thousandth": {with(fixed(100_000, 100e-9), func(j *decided) { j.loops, j.once = []loops.Loop{timed}, 10*time.Microsecond }), ""},
		"a cold first iteration": {with(fixed(50, 100e-6), func(j *decided) { j.loops, j.once = []loops.Loop{timed}, 300*time.Microsecond }), ""},
		"collection":             {with(fixed(1000, 1e-6), profile(0.3, 0.1, 100)), Collecting},
		"allocation":             {with(fixed(1000, 1e-6), profile(0.1, 0.6, 100)), Collecting},
		"some of both":           {with(fixed(1000, 1e-6), profile(0.1, 0.3, 100)), ""},
		"too few samples":        {with(fixed(1000, 1e-6), profile(0.9, 0.1, 5)), ""},
		"three iterations":       {fixed(3, 0.03), FewRuns},
		"twelve iterations":      {fixed(12, 0.01), ""},
		"slower from the middle": {fixed(1000, shift...), Drift},
		"noise alone":            {fixed(1000, repeat(1e-6, 20, 0.05)...), ""},
		"a shift below margin":   {fixed(1000, append(repeat(1e-6, 10, 0.001), repeat(1.01e-6, 10, 0.001)...)...), ""},
		"parallel beyond cores":  {with(fixed(1000, 1e-6), func(j *decided) { j.cores, j.loops = 2, []loops.Loop{{Kind: loops.Parallel, File: "x_test.go"}} }), Overcommit},
		"--cpu beyond cores":     {with(fixed(1000, 1e-6), func(j *decided) { j.cores, j.chosen = 2, true }), Overcommit},
		"serial, beyond cores":   {with(fixed(1000, 1e-6), func(j *decided) { j.cores, j.loops = 2, []loops.Loop{used} }), ""},
		"parallel, on its cores": {with(fixed(1000, 1e-6), func(j *decided) { j.loops = []loops.Loop{{Kind: loops.Parallel}} }), ""},
	} {
		c.j.look("a")
		got := fmt.Sprint(c.j.out.Traps)
		if c.want == "" && len(c.j.out.Traps) != 0 || c.want != "" && (len(c.j.out.Traps) != 1 || c.j.out.Traps[0].Kind != c.want) {
			t.Errorf("%s: %s, want %q", name, got, c.want)
		}
	}
}

// TestConclusions: a comparison that could not have failed does not pass.
func TestConclusions(t *testing.T) {
	pass := func() *Report {
		return &Report{Sides: make([]SideReport, 2), Benchmarks: []Benchmark{{Name: "X", Verdict: verify.Pass, Metrics: []Metric{{}}}}}
	}
	for name, c := range map[string]struct {
		change func(r *Report)
		rounds int
		want   verify.Verdict
	}{
		"all is well":   {func(*Report) {}, 20, verify.Pass},
		"no round":      {func(*Report) {}, 0, verify.Inconclusive},
		"one fails":     {func(r *Report) { r.Missing = []Missing{{Name: "Y", Failed: true}} }, 20, verify.Inconclusive},
		"one is new":    {func(r *Report) { r.Missing = []Missing{{Name: "Y"}} }, 20, verify.Pass},
		"dropped work":  {func(r *Report) { r.Benchmarks[0].Traps = []Trap{{Kind: Dropped}} }, 20, verify.Inconclusive},
		"nothing there": {func(r *Report) { r.Benchmarks = nil }, 20, verify.Inconclusive},
		"better":        {func(r *Report) { r.Benchmarks[0].Verdict = verify.Improvement }, 20, verify.Improvement},
		"worse, and one fails": {func(r *Report) {
			r.Benchmarks[0].Verdict, r.Missing = verify.Regression, []Missing{{Name: "Y", Failed: true}}
		}, 20, verify.Regression},
	} {
		r := pass()
		c.change(r)
		s := &session{sides: make([]*built, 2), rounds: c.rounds, planned: c.rounds}
		if s.conclude(r); r.Verdict != c.want || r.Why == "" {
			t.Errorf("%s: %s (%s), want %s", name, r.Verdict, r.Why, c.want)
		}
	}
	noisy := pass()
	noisy.Rounds, noisy.Benchmarks[0].Metrics[0].MetricResult = 20,
		verify.MetricResult{Verdict: verify.Inconclusive, MDE: 0.10, Margin: 0.05}
	if n := noisy.enough(); n != 80 {
		t.Errorf("half the smallest change takes %d rounds, four times 20", n)
	}
	if decidable(6, 3) || !decidable(20, 500) || !decidable(7, 1) {
		t.Error("2^(1-n) times the tests against 2 %")
	}
}

// TestZeroes: from none to one allocation is a change, and the share of the set-up per
// iteration is none.
func TestZeroes(t *testing.T) {
	series := func(values ...float64) []float64 { return values }
	for name, c := range map[string]struct {
		unit     string
		a, b     []float64
		constant bool
	}{
		"none":          {allocsOp, series(0, 0), series(0, 0), true},
		"one more":      {allocsOp, series(0, 0), series(1, 1), false},
		"of the set-up": {bytesOp, series(0, 1), series(2, 0), true},
		"an object":     {bytesOp, series(0, 0), series(8, 8), false},
		"not there":     {allocsOp, series(0, math.NaN()), series(0, math.NaN()), false},
	} {
		x := compared{unit: c.unit, sides: [2][]float64{c.a, c.b}}
		x.lift()
		if x.constant() != c.constant {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

// TestZeroesOfSmallMetrics: a benchmark's own metric may be far below one, and from none to some is a change of it.
func TestZeroesOfSmallMetrics(t *testing.T) {
	const rounds = 20
	series := func(v float64, unit string) (list []launch) {
		for range rounds {
			list = append(list, launch{result: &benchfmt.Result{Iters: 1000, Values: []benchfmt.Value{{Value: v, Unit: unit}}}})
		}
		return list
	}
	for unit, v := range map[string]float64{"failed/op": 0.01, "retries/op": 2, allocsOp: 1} {
		b := &benchmark{series: [2][]launch{series(0, unit), series(v, unit)}}
		s := &session{o: Options{Margin: DefaultMargin}, rounds: rounds, files: &files{units: benchfmt.UnitMetadataMap{}}}
		r := &Report{Benchmarks: make([]Benchmark, 1)}
		s.compare(r, []*benchmark{b})
		if m := r.Benchmarks[0].Metrics[0]; m.Verdict != verify.Regression || m.A != 0 || m.B != v {
			t.Errorf("%s: from %v to %v is %s (%s)", unit, m.A, m.B, m.Verdict, m.Why)
		}
	}
}

func TestAffordable(t *testing.T) {
	for _, c := range []struct {
		each         time.Duration
		max          time.Duration
		rounds, same int
	}{
		{time.Second, time.Hour, 20, 6}, {time.Second, 17 * time.Second, 14, 4}, {time.Minute, time.Second, 1, 1}, {0, time.Second, 1, 1},
	} {
		s := &session{o: Options{Rounds: 20, MaxTime: c.max + 500*time.Millisecond}, begun: time.Now()}
		if rounds, same := s.affordable(c.each, sameRounds); rounds != c.rounds || same != c.same {
			t.Errorf("%+v: %d rounds and %d with itself", c, rounds, same)
		}
	}
}
