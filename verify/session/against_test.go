package session

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/baseline"
)

// timed draws blocks of a service with the yardstick's beside them: a machine
// that is slower moves both.
type timed struct {
	rng              *rand.Rand
	service, machine float64 // slower by: 0.1 is 10 %
	change           func(n int, b *verify.Block)
	n                int
}

func (d *timed) Measure(context.Context, Side) (verify.Block, error) {
	vary := func(sd float64) float64 { return math.Exp(sd * d.rng.NormFloat64()) }
	slower := (1 + d.service) * (1 + d.machine)
	b := verify.Block{Values: map[string]float64{
		"cpu_per_request": 40e3 * slower * vary(0.015), "throughput": 20e3 / slower * vary(0.015),
		"allocs_per_request": 50 * (1 + d.service) * vary(0.001), verify.MachineYardstick: 3e6 * (1 + d.machine) * vary(0.004),
	}, Latency: verify.Latencies{}}
	for range 300 {
		b.Latency.Add(int64(1e6*slower*vary(0.3)), 1)
	}
	if d.n++; d.change != nil {
		d.change(d.n, &b)
	}
	return b, nil
}

func (d *timed) blocks(n int) (out []verify.Block) {
	for range n {
		b, _ := d.Measure(context.Background(), Side{})
		out = append(out, b)
	}
	return out
}

func three() verify.Rules {
	return verify.Rules{Metrics: []verify.Metric{
		{Name: "cpu_per_request", Unit: "ns", Margin: 0.05},
		{Name: "throughput", Unit: "1/s", Higher: true, Margin: 0.05},
		{Name: "allocs_per_request", Unit: "1", Margin: 0.05},
		{Name: "p50", Unit: "ns", Quantile: 0.5, Margin: 0.05, Advisory: true},
	}}
}

// TestAgainst: what can be decided against a stored baseline, and what cannot.
func TestAgainst(t *testing.T) {
	base := baseline.Baseline{Blocks: (&timed{rng: rand.New(rand.NewPCG(1, 2))}).blocks(20)}
	for name, c := range map[string]struct {
		service, machine float64
		change           func(n int, b *verify.Block)
		blocks           int
		verdict          verify.Verdict
		why              string
	}{
		"the same":                {verdict: verify.Pass},
		"slower":                  {service: 0.12, verdict: verify.Regression, why: "cpu_per_request"},
		"faster":                  {service: -0.20, verdict: verify.Improvement},
		"a slower machine":        {machine: 0.10, verdict: verify.Inconclusive, why: "cpu_per_request"},
		"a faster machine":        {machine: -0.10, verdict: verify.Inconclusive, why: "cpu_per_request"},
		"more failures":           {change: func(_ int, b *verify.Block) { b.Errors = 0.02 }, verdict: verify.Regression, why: "fails 2.0 %"},
		"every request fails":     {change: func(_ int, b *verify.Block) { b.Void = "every request failed" }, verdict: verify.Invalid, why: "every request failed"},
		"saturated in the end":    {change: func(n int, b *verify.Block) { b.Void = strings.Repeat("x", btoi(n > 15)) }, verdict: verify.Invalid, why: "side b: x"},
		"a metric missing once":   {change: func(n int, b *verify.Block) { without(b, "allocs_per_request", n == 3) }, verdict: verify.Inconclusive, why: "allocs_per_request"},
		"no yardstick":            {change: func(n int, b *verify.Block) { without(b, verify.MachineYardstick, true) }, verdict: verify.Inconclusive, why: "cpu_per_request"},
		"noise beyond the margin": {change: func(n int, b *verify.Block) { b.Values["cpu_per_request"] *= 1 + 0.2*float64(n%3) - 0.2 }, verdict: verify.Inconclusive, why: "cpu_per_request"},
	} {
		measurer := &timed{rng: rand.New(rand.NewPCG(3, 4)), service: c.service, machine: c.machine, change: c.change}
		s := &Against{Baseline: &base, Rules: three(), Blocks: c.blocks}
		s.Measurer = measurer
		r, err := s.Run(context.Background())
		if err != nil || r.Verdict != c.verdict || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s: %s (%s), %v", name, r.Verdict, r.Why, err)
		}
		if r.Stored == nil || r.Pairs != 0 {
			t.Errorf("%s: it does not say that it was not measured in pairs", name)
		}
		if c.verdict == verify.Pass && (len(r.Warnings) < 2 || r.Stored.Blocks != 20 || r.Stored.Launches != 20) {
			t.Errorf("%s: %+v, warnings %q", name, r.Stored, r.Warnings)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func without(b *verify.Block, name string, yes bool) {
	if yes {
		delete(b.Values, name)
	}
}

// TestAgainstWithoutTime: nothing was looked at, and the launch is counted in words.
func TestAgainstWithoutTime(t *testing.T) {
	s := &Against{Baseline: &baseline.Baseline{}, Rules: three(), MaxTime: 1, Measurer: &timed{rng: rand.New(rand.NewPCG(3, 4))}}
	r, err := s.Run(context.Background())
	if err != nil || r.Verdict != verify.Invalid || r.Looks != 0 || !strings.HasPrefix(r.Why, "there was time for 1 launch; at least 8") {
		t.Errorf("%s (%s) after %d looks, %v", r.Verdict, r.Why, r.Looks, err)
	}
}

// TestAgainstErrorRate: sessions without a change and on a machine that has not
// drifted are hardly ever called a regression, and wider intervals cost only
// passes.
func TestAgainstErrorRate(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	regressions, passes := 0, 0
	const sessions = 300
	for range sessions {
		draw := &timed{rng: rng}
		switch verify.DecideAgainst(draw.blocks(20), draw.blocks(20), three()).Verdict {
		case verify.Regression:
			regressions++
		case verify.Pass:
			passes++
		}
	}
	if regressions > sessions/100 || passes < sessions/2 {
		t.Errorf("of %d sessions without a change %d are called a regression and %d pass", sessions, regressions, passes)
	}
}

// TestAgainstResumes: an interrupted session's blocks are not measured again.
func TestAgainstResumes(t *testing.T) {
	base := baseline.Baseline{Blocks: (&timed{rng: rand.New(rand.NewPCG(1, 2))}).blocks(20)}
	dir := filepath.Join(t.TempDir(), "s")
	header := Header{A: "baseline", B: "svc", Plan: []byte(`{}`)}
	log, err := Create(dir, header)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	draw := &timed{rng: rand.New(rand.NewPCG(3, 4))}
	s := &Against{Baseline: &base, Rules: three(), Log: log,
		Measurer: &counted{f: func(ctx context.Context, side Side, n int) (verify.Block, error) {
			if n == 6 {
				stop()
				return verify.Block{}, ctx.Err()
			}
			return draw.Measure(ctx, side)
		}}}
	if _, err := s.Run(ctx); err == nil {
		t.Fatal("an interrupted session has a result")
	}
	s.Log.Close()
	again, _, err := Resume(dir, header)
	if err != nil {
		t.Fatal(err)
	}
	draw.n, s.Log, s.Measurer = 0, again, draw
	r, err := s.Run(context.Background())
	if err != nil || r.Verdict != verify.Pass || draw.n != 15 || len(again.Blocks()) != 20 {
		t.Errorf("%s (%s), %v: %d blocks measured, %d kept", r.Verdict, r.Why, err, draw.n, len(again.Blocks()))
	}
}

// TestYardstick measures this machine twice: the same work takes a time of the same
// order.
func TestYardstick(t *testing.T) {
	b, err := Yardstick{&timed{rng: rand.New(rand.NewPCG(1, 2))}}.Measure(context.Background(), Side{})
	if v := b.Values[verify.MachineYardstick]; err != nil || !(v > 1e5) || v > 1e9 {
		t.Errorf("%v ns, %v", v, err)
	}
	if now, then := spell(), spell(); now > 10*then || then > 10*now {
		t.Errorf("the same work takes %s and %s", now, then)
	}
}
