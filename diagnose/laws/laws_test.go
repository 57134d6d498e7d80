package laws_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/redline-go/redline/diagnose/laws"
)

const cpus = "the host's 2 CPUs"

// near allows for an error of a hundredth.
func near(a, b float64) bool { return math.Abs(a-b) <= 0.01*b }

func TestWorkOnSaturatedCPUsIsWorthItsWhole(t *testing.T) {
	m := laws.Model{Response: 1, Resources: []laws.Resource{{Name: cpus, Servers: 2, Busy: 1.94, Queue: 1}}}
	if g := m.Gain(laws.Cut{Busy: map[string]float64{cpus: 0.97 * 1.94}}); !near(g.Factor, 1/0.03) ||
		g.Then != cpus || g.Of != laws.Throughput {
		t.Errorf("97 %% of the CPU at saturation: %+v, want 33x", g)
	}
}

func TestWaitIsWorthItsPartOfTheResponse(t *testing.T) {
	m := laws.Model{Response: 1, Resources: []laws.Resource{{Name: cpus, Servers: 2, Busy: 0.2}}}
	if g := m.Gain(laws.Cut{Time: 0.27}); !near(g.Factor, 1.37) || g.Then != "" {
		t.Errorf("27 %% of request time: %+v, want 1.37x", g)
	}
	m.Resources = append(m.Resources, laws.Resource{Name: "the pool of 10 connections", Servers: 10, Busy: 9})
	if g := m.Gain(laws.Cut{Time: 0.27}); !near(g.Factor, 10.0/9) || g.Then != "the pool of 10 connections" {
		t.Errorf("a pool nearly used up: %+v, want 1.11x, then the pool", g)
	}
}

// A wake-up for each request is in the demand of CPUs that are mostly idle, and busy CPUs are
// spared it: what they allow is then a floor. Not so where they are busy, where part of the demand goes,
// or where something else limits.
func TestDemandMeasuredIdleIsAFloor(t *testing.T) {
	m := laws.Model{Response: 1, Resources: []laws.Resource{{Name: cpus, Servers: 2, Busy: 0.2}}}
	if g := m.Gain(laws.Cut{Time: 0.99}); !g.AtLeast || !near(g.Factor, 10) || g.Then != cpus {
		t.Errorf("idle CPUs: %+v, want at least 10x", g)
	}
	if g := m.Gain(laws.Cut{Time: 0.5}); g.AtLeast {
		t.Errorf("the rest of the response limits: %+v", g)
	}
	if g := m.Gain(laws.Cut{Time: 0.99, Busy: map[string]float64{cpus: 0.05}}); !g.AtLeast {
		t.Errorf("a quarter of the demand goes: %+v", g)
	}
	if g := m.Gain(laws.Cut{Time: 0.99, Busy: map[string]float64{cpus: 0.15}}); g.AtLeast {
		t.Errorf("most of the demand goes: %+v", g)
	}
	if g := m.Gain(laws.Cut{Time: 1}); g.Factor != 10 {
		t.Errorf("%+v", g)
	}
	m.Resources[0].Counted = true
	if g := m.Gain(laws.Cut{Time: 0.99}); g.AtLeast {
		t.Errorf("connections wake nobody: %+v", g)
	}
	m.Resources[0] = laws.Resource{Name: cpus, Servers: 2, Busy: 1.2}
	if g := m.Gain(laws.Cut{Time: 0.99}); !g.AtLeast {
		t.Errorf("two CPUs, of which one is mostly idle: %+v", g)
	}
	m.Resources[0].Busy = 1.5
	if g := m.Gain(laws.Cut{Time: 0.99}); g.AtLeast {
		t.Errorf("busy CPUs: %+v", g)
	}
	if g := (laws.Model{Response: 1}).Gain(laws.Cut{Time: 1}); !g.AtLeast || g.Factor != laws.Most {
		t.Errorf("%+v, want 50x or more", g)
	}
}

// A single goroutine that works for all requests is worth its demand, however idle
// the CPUs are.
func TestSerialResourceBoundsWhateverTheCPUsDo(t *testing.T) {
	loop := "the goroutine of (*Store).loop"
	m := laws.Model{Response: 1, Resources: []laws.Resource{
		{Name: cpus, Servers: 2, Busy: 1},
		{Name: loop, Servers: 1, Busy: 1, Queue: 0.99},
	}}
	if g := m.Gain(laws.Cut{Busy: map[string]float64{cpus: 0.95, loop: 0.95}}); !near(g.Factor, 20) || g.Then != loop {
		t.Errorf("95 %% of a serial goroutine: %+v, want 20x", g)
	}
	if g := m.Gain(laws.Cut{Busy: map[string]float64{loop: 1}}); !near(g.Factor, 2) || g.Then != cpus {
		t.Errorf("a second goroutine: %+v, want the 2x that the CPUs carry", g)
	}
}

func TestOpenLoopBelowSaturationGainsLatency(t *testing.T) {
	m := laws.Model{Open: true, Response: 0.1, Think: 5, Resources: []laws.Resource{{Name: cpus, Servers: 2, Busy: 1.6}}}
	if g := m.Gain(laws.Cut{Time: 0.05}); g.Of != laws.Latency || !near(g.Factor, 2) {
		t.Errorf("%+v, want 2x of latency", g)
	}
	m.Resources[0].Busy = 2
	if g := m.Gain(laws.Cut{Time: 0.05}); g.Of != laws.Throughput || g.Factor != 1 || g.Then != cpus {
		t.Errorf("%+v, want nothing: the CPUs are used up", g)
	}
}

func TestThinkTimeIsNotGained(t *testing.T) {
	m := laws.Model{Response: 1, Think: 1}
	if g := m.Gain(laws.Cut{Time: 1}); !near(g.Factor, 2) {
		t.Errorf("%+v, want 2x: the client thinks for as long", g)
	}
}

// Any model: a gain is 1 or more, grows with the cut, and is never above the
// bound of a resource that the cut does not affect.
func TestBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		m := laws.Model{Open: r.IntN(2) == 0, Response: r.Float64(), Think: r.Float64() * float64(r.IntN(2))}
		names := []string{"a", "b", "c"}
		for _, name := range names[:1+r.IntN(3)] {
			servers := 1 + float64(r.IntN(8))
			busy := servers * r.Float64()
			if r.IntN(3) == 0 {
				busy = servers
			}
			m.Resources = append(m.Resources, laws.Resource{Name: name, Servers: servers, Busy: busy, Queue: m.Response * r.Float64() / 3})
		}
		cut := laws.Cut{Time: r.Float64() * m.Response, Busy: map[string]float64{"a": r.Float64() * m.Resources[0].Busy}}
		more := laws.Cut{Time: cut.Time * (1 + r.Float64()),
			Busy: map[string]float64{"a": cut.Busy["a"] + r.Float64()*(m.Resources[0].Busy-cut.Busy["a"])}}
		less, gain := m.Gain(cut), m.Gain(more)
		if less.Factor < 1 || less.Factor > laws.Most || math.IsNaN(less.Factor) {
			t.Fatalf("%+v: %+v gives %+v", m, cut, less)
		}
		if gain.Factor < less.Factor-1e-9 {
			t.Fatalf("%+v: %+v gives %+v, and %+v only %+v", m, cut, less, more, gain)
		}
		for _, other := range m.Resources[1:] {
			if most := 1 / other.Use(); gain.Of == laws.Throughput && gain.Factor > math.Max(1, most)+1e-9 {
				t.Fatalf("%+v: %+v gives %+v, above what %s carries", m, more, gain, other.Name)
			}
		}
	}
	if g := (laws.Model{}).Gain(laws.Cut{}); g.Factor != 1 {
		t.Errorf("nothing cut gives %+v", g)
	}
}

// Work that runs at any rate is no demand of a request: it occupies its servers for good.
func TestFixedUseIsNotGained(t *testing.T) {
	m := laws.Model{Response: 1, Resources: []laws.Resource{{Name: cpus, Servers: 2, Busy: 1.9, Queue: 1, Fixed: 0.5}}}
	if g := m.Gain(laws.Cut{Busy: map[string]float64{cpus: 1.2}}); !near(g.Factor, 1.4/0.2) {
		t.Errorf("%+v, want 7x: of 1.4 CPUs that requests use, 0.2 remain", g)
	}
	m.Resources[0].Busy = 1
	if g := m.Gain(laws.Cut{Time: 0.9}); !near(g.Factor, 1.5/0.5) {
		t.Errorf("%+v, want 3x: requests may use 1.5 CPUs, and use 0.5", g)
	}
}

// TestCountedServers: measured CPUs are used up a little below 1, connections that were
// counted at 1.
func TestCountedServers(t *testing.T) {
	gain := func(counted bool) float64 {
		m := laws.Model{Response: 1, Resources: []laws.Resource{{Name: "r", Servers: 2, Busy: 1.9, Counted: counted}}}
		return m.Gain(laws.Cut{Time: 0.5}).Factor
	}
	if got := gain(false); got != 1 {
		t.Errorf("beside used-up CPUs a cut gains %.2f, want nothing", got)
	}
	if got := gain(true); math.Abs(got-2/1.9) > 1e-9 {
		t.Errorf("beside connections of which a twentieth is free a cut gains %.3f, want %.3f", got, 2/1.9)
	}
}

// Near the pole a hundredth of the whole is a multiple of the factor; far from it, it is nothing; and
// if another resource limits, the cut's error is not the gain's.
func TestGainHasTheErrorOfItsShare(t *testing.T) {
	m := laws.Model{Response: 1, Resources: []laws.Resource{{Name: cpus, Servers: 2, Busy: 2, Queue: 1}}}
	ran := func(share float64) laws.Gain {
		return m.Gain(laws.Cut{Busy: map[string]float64{cpus: share * 2}, Error: 0.02 / share / 2}) // two errors are 0.02
	}
	if g := ran(0.95); !near(g.Low, 1/0.07) || !near(g.High, 1/0.03) || !near(g.Factor, 20) {
		t.Errorf("95 ± 2 %%: %+v, want 14.3 to 33x", g)
	}
	if g := ran(0.99); g.High != laws.Most || !near(g.Low, 1/0.03) {
		t.Errorf("99 ± 2 %%: %+v, want 33x to the most", g)
	}
	if g := ran(0.3); g.High > 1.06*g.Low {
		t.Errorf("30 ± 2 %%: %+v", g)
	}
	idle := laws.Model{Response: 1, Resources: []laws.Resource{{Name: cpus, Servers: 2, Busy: 0.25}}}
	if g := idle.Gain(laws.Cut{Time: 0.97, Error: 0.01}); g.Low != 8 || g.High != 8 {
		t.Errorf("the CPUs allow 8x, whatever the wait is: %+v", g)
	}
	if g := m.Gain(laws.Cut{Busy: map[string]float64{cpus: 1}}); g.Low != 0 || g.High != 0 {
		t.Errorf("without an error: %+v", g)
	}
}

func TestQueueShortensByMoreThanItsShare(t *testing.T) {
	for _, c := range []struct{ use, freed, want float64 }{
		{0.5, 0.25, 3}, {0.5, 0, 1}, {0.5, 0.6, laws.Most}, {1, 0.5, laws.Most - 1}, {math.NaN(), 0.5, 1}, {0.5, math.NaN(), 1},
	} {
		if got := laws.Queue(c.use, c.freed); !near(got, c.want) {
			t.Errorf("use %v, less %v: %v, want %v", c.use, c.freed, got, c.want)
		}
	}
}

func TestClaimIsAFigureARangeOrAFloor(t *testing.T) {
	floor := math.Inf(1)
	for _, c := range []struct {
		gain     laws.Gain
		from, to float64
	}{
		{laws.Gain{Factor: 2}, 2, 2},
		{laws.Gain{Factor: 2, Low: 1.8, High: 2.3}, 2, 2},
		{laws.Gain{Factor: 6, Low: 4, High: 9}, 4, 9},
		{laws.Gain{Factor: 6, AtLeast: true}, 6, floor},
		{laws.Gain{Factor: 6, Low: 4, High: 9, AtLeast: true}, 4, floor},
		{laws.Gain{Factor: 14, Low: 5.6, High: laws.Most}, 5.6, floor},
		{laws.Gain{Factor: laws.Most}, laws.Most, floor},
		{laws.Gain{Factor: laws.Most, Low: 38, High: laws.Most}, laws.Most, floor},
		{laws.Gain{Factor: laws.Most, Low: 8, High: laws.Most}, 8, floor},
	} {
		if from, to := c.gain.Claim(); from != c.from || to != c.to {
			t.Errorf("%+v claims %v to %v, want %v to %v", c.gain, from, to, c.from, c.to)
		}
	}
}
