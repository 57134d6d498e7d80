package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
)

// timed draws blocks of a service with the yardstick's beside them: a machine
// that is slower moves both.
type timed struct {
	rng              *rand.Rand
	service, machine float64 // slower by: 0.1 is 10 %
	change           func(n int, b *Block)
	n                int
}

func (d *timed) Measure(context.Context, Side) (Block, error) {
	vary := func(sd float64) float64 { return math.Exp(sd * d.rng.NormFloat64()) }
	slower := (1 + d.service) * (1 + d.machine)
	b := Block{Values: map[string]float64{
		"cpu_per_request": 40e3 * slower * vary(0.015), "throughput": 20e3 / slower * vary(0.015),
		"allocs_per_request": 50 * (1 + d.service) * vary(0.001), yardstick: 3e6 * (1 + d.machine) * vary(0.004),
	}, Latency: Latencies{}}
	for range 300 {
		b.Latency.Add(int64(1e6*slower*vary(0.3)), 1)
	}
	if d.n++; d.change != nil {
		d.change(d.n, &b)
	}
	return b, nil
}

func (d *timed) blocks(n int) (out []Block) {
	for range n {
		b, _ := d.Measure(context.Background(), Side{})
		out = append(out, b)
	}
	return out
}

func three() Rules {
	return Rules{Metrics: []Metric{
		{Name: "cpu_per_request", Unit: "ns", Margin: 0.05},
		{Name: "throughput", Unit: "1/s", Higher: true, Margin: 0.05},
		{Name: "allocs_per_request", Unit: "1", Margin: 0.05},
		{Name: "p50", Unit: "ns", Quantile: 0.5, Margin: 0.05, Advisory: true},
	}}
}

func stored() Baseline {
	return Baseline{
		Saved: time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC), Redline: "v1", Side: "./cmd/svc (work tree)", Commit: Commit{Hash: strings.Repeat("ab", 20), Branch: "main"},
		Circumstances: Circumstances{
			Host:       record.Host{OS: "linux", Arch: "amd64", Kernel: "6.1", CPUModel: "A", CPUs: 2, Memory: 8 << 30},
			GOMAXPROCS: 2, Go: "go1.26.0", Scenario: "gateway", Hash: "0011", Duration: 2 * time.Second, Warmup: time.Second,
		},
		Blocks: (&timed{rng: rand.New(rand.NewPCG(1, 2))}).blocks(20),
	}
}

// TestAgainst: what a stored baseline lets be decided, and what it does not.
func TestAgainst(t *testing.T) {
	base := stored()
	for name, c := range map[string]struct {
		service, machine float64
		change           func(n int, b *Block)
		blocks           int
		verdict          Verdict
		why              string
	}{
		"the same":                {verdict: Pass},
		"slower":                  {service: 0.12, verdict: Regression, why: "cpu_per_request"},
		"faster":                  {service: -0.20, verdict: Improvement},
		"a slower machine":        {machine: 0.10, verdict: Inconclusive, why: "cpu_per_request"},
		"a faster machine":        {machine: -0.10, verdict: Inconclusive, why: "cpu_per_request"},
		"more failures":           {change: func(_ int, b *Block) { b.Errors = 0.02 }, verdict: Regression, why: "fails 2.00 %"},
		"every request fails":     {change: func(_ int, b *Block) { b.Void = "every request failed" }, verdict: Invalid, why: "every request failed"},
		"saturated in the end":    {change: func(n int, b *Block) { b.Void = strings.Repeat("x", btoi(n > 15)) }, verdict: Invalid, why: "side b: x"},
		"a metric missing once":   {change: func(n int, b *Block) { without(b, "allocs_per_request", n == 3) }, verdict: Inconclusive, why: "allocs_per_request"},
		"no yardstick":            {change: func(n int, b *Block) { without(b, yardstick, true) }, verdict: Inconclusive, why: "cpu_per_request"},
		"noise beyond the margin": {change: func(n int, b *Block) { b.Values["cpu_per_request"] *= 1 + 0.2*float64(n%3) - 0.2 }, verdict: Inconclusive, why: "cpu_per_request"},
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
		if c.verdict == Pass && (len(r.Warnings) < 2 || r.Stored.Blocks != 20 || r.Stored.Launches != 20) {
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

func without(b *Block, name string, yes bool) {
	if yes {
		delete(b.Values, name)
	}
}

// TestAgainstErrorRate: sessions without a change and on a machine that has not
// drifted are hardly ever called a regression, and wider intervals cost passes
// only.
func TestAgainstErrorRate(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	regressions, passes := 0, 0
	const sessions = 300
	for range sessions {
		draw := &timed{rng: rng}
		switch DecideAgainst(draw.blocks(20), draw.blocks(20), three()).Verdict {
		case Regression:
			regressions++
		case Pass:
			passes++
		}
	}
	if regressions > sessions/100 || passes < sessions/2 {
		t.Errorf("of %d sessions without a change %d are called a regression and %d pass", sessions, regressions, passes)
	}
}

// TestAgainstResumes: an interrupted session's blocks are not measured again.
func TestAgainstResumes(t *testing.T) {
	base := stored()
	dir := filepath.Join(t.TempDir(), "s")
	header := Header{A: "baseline", B: "svc", Plan: []byte(`{}`)}
	log, err := Create(dir, header)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	draw := &timed{rng: rand.New(rand.NewPCG(3, 4))}
	s := &Against{Baseline: &base, Rules: three(), Log: log, Measurer: &counted{f: func(ctx context.Context, side Side, n int) (Block, error) {
		if n == 6 {
			stop()
			return Block{}, ctx.Err()
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
	if err != nil || r.Verdict != Pass || draw.n != 15 || len(again.Blocks()) != 20 {
		t.Errorf("%s (%s), %v: %d blocks measured, %d kept", r.Verdict, r.Why, err, draw.n, len(again.Blocks()))
	}
}

func TestBaselineRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "base.json")
	b := stored()
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	b.Schema = BaselineSchema
	if !reflect.DeepEqual(got, b) {
		t.Errorf("got\n%+v\nwant\n%+v", got.Circumstances, b.Circumstances)
	}
	few := b
	few.Blocks = few.Blocks[:leastBaseline-1]
	if err := few.Save(path); err == nil || !strings.Contains(err.Error(), "too few") {
		t.Errorf("seven blocks: %v", err)
	}
	if again, err := ReadBaseline(path); err != nil || len(again.Blocks) != 20 {
		t.Errorf("what failed to be saved took the old baseline with it: %v", err)
	}
	if err := b.Save(filepath.Join(t.TempDir(), "base.txt")); err == nil || !strings.Contains(err.Error(), ".json") {
		t.Errorf("another name: %v", err)
	}
}

// TestCircumstances: each field by itself keeps a baseline from being used, and
// is named with both values.
func TestCircumstances(t *testing.T) {
	b := stored()
	if err := b.Usable(b.Circumstances); err != nil {
		t.Fatal(err)
	}
	boot := b.Circumstances
	boot.Host.Memory -= 1 << 20
	boot.Scenario = "renamed"
	if err := b.Usable(boot); err != nil {
		t.Errorf("another boot and name: %v", err)
	}
	for field, c := range map[string]struct {
		change func(*Circumstances)
		values string
	}{
		"operating system":   {func(c *Circumstances) { c.Host.OS = "darwin" }, `"linux" and "darwin"`},
		"architecture":       {func(c *Circumstances) { c.Host.Arch = "arm64" }, `"amd64" and "arm64"`},
		"kernel":             {func(c *Circumstances) { c.Host.Kernel = "6.2" }, `"6.1" and "6.2"`},
		"CPU model":          {func(c *Circumstances) { c.Host.CPUModel = "B" }, `"A" and "B"`},
		"CPUs":               {func(c *Circumstances) { c.Host.CPUs = 4 }, `"2" and "4"`},
		"memory":             {func(c *Circumstances) { c.Host.Memory = 4 << 30 }, `"8 GiB" and "4 GiB"`},
		"GOMAXPROCS":         {func(c *Circumstances) { c.GOMAXPROCS = 1 }, `"2" and "1"`},
		"Go version":         {func(c *Circumstances) { c.Go = "go1.27.0" }, `"go1.26.0" and "go1.27.0"`},
		"scenario":           {func(c *Circumstances) { c.Hash = "2233" }, `"0011" and "2233"`},
		"length of a launch": {func(c *Circumstances) { c.Duration = time.Second }, `"2s" and "1s"`},
		"warm-up":            {func(c *Circumstances) { c.Warmup = 0 }, `"1s" and "0s"`},
	} {
		now := b.Circumstances
		c.change(&now)
		if err := b.Usable(now); err == nil || !strings.Contains(err.Error(), field+": "+c.values) {
			t.Errorf("another %s: %v", field, err)
		}
	}
}

// TestScenarioHash: what changes the measurement changes the hash, and nothing
// else does.
func TestScenarioHash(t *testing.T) {
	hash := func(url string, change func(*scenario.Plan), block time.Duration) string {
		t.Helper()
		p, err := scenario.FromURL(url, scenario.Flags{Rate: "100/s"})
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(p)
		}
		h, err := ScenarioHash(p.Redacted(), block)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	base := hash("http://127.0.0.1:1/a", nil, 0)
	for name, other := range map[string]string{
		"name":      hash("http://127.0.0.1:1/a", func(p *scenario.Plan) { p.Name = "x" }, 0),
		"threshold": hash("http://127.0.0.1:1/a", func(p *scenario.Plan) { p.Thresholds = []scenario.Threshold{{}} }, 0),
		"margin":    hash("http://127.0.0.1:1/a", func(p *scenario.Plan) { p.Verify = []scenario.Comparison{{Metric: "p99", Margin: 1}} }, 0),
	} {
		if other != base {
			t.Errorf("another %s changes the hash", name)
		}
	}
	for name, other := range map[string]string{
		"path":   hash("http://127.0.0.1:1/b", nil, 0),
		"rate":   hash("http://127.0.0.1:1/a", func(p *scenario.Plan) { p.Load.Rate = 200 }, 0),
		"launch": hash("http://127.0.0.1:1/a", nil, time.Second),
		"target": hash("http://127.0.0.1:1/a", func(p *scenario.Plan) { p.Target.Args = []string{"-x"} }, 0),
	} {
		if other == base {
			t.Errorf("another %s has the same hash", name)
		}
	}
	if _, err := ScenarioHash([]byte("{"), 0); err == nil {
		t.Error("half a plan has a hash")
	}
}

// TestHostileBaseline: what would be compared with and means nothing is refused,
// in words that say what is wrong.
func TestHostileBaseline(t *testing.T) {
	for want, change := range map[string]func(*Baseline){
		"its schema":           func(b *Baseline) { b.Schema = "redline.baseline/2" },
		"too few":              func(b *Baseline) { b.Blocks = b.Blocks[:3] },
		"more than 1000":       func(b *Baseline) { b.Blocks = make([]Block, 1001) },
		"it does not count":    func(b *Baseline) { b.Blocks[7].Void = "the target ended" },
		"is 0":                 func(b *Baseline) { b.Blocks[3].Values["p50"] = 0 },
		"is -1":                func(b *Baseline) { b.Blocks[3].Values["cpu_per_request"] = -1 },
		"share of failures":    func(b *Baseline) { b.Blocks[3].Errors = 1.5 },
		"in bucket 2147483647": func(b *Baseline) { b.Blocks[3].Latency[1<<31-1] = 1 },
		"in bucket -1":         func(b *Baseline) { b.Blocks[3].Latency[-1] = 1 },
		"-5 latencies":         func(b *Baseline) { b.Blocks[3].Latency[5] = -5 },
		"more latencies":       func(b *Baseline) { b.Blocks[3].Latency[5], b.Blocks[3].Latency[6] = mostCounted, mostCounted },
		"more than 64":         func(b *Baseline) { flood(b.Blocks[3].Values) },
		"was not measured":     func(b *Baseline) { delete(b.Blocks[3].Values, yardstick) },
		"too long":             func(b *Baseline) { b.Side = strings.Repeat("x", 5000) },
	} {
		b := stored()
		b.Schema = BaselineSchema
		change(&b)
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseBaseline(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.json")
	if err := os.WriteFile(huge, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 1<<40); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{huge: "larger than", dir: "no file", filepath.Join(dir, "none"): "--save-baseline"} {
		if _, err := ReadBaseline(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func flood(values map[string]float64) {
	for i := range 100 {
		values[fmt.Sprint(i)] = 1
	}
}

// FuzzParseBaseline: what is taken can be compared with, in bounded memory.
func FuzzParseBaseline(f *testing.F) {
	b := stored()
	b.Schema, b.Blocks = BaselineSchema, b.Blocks[:leastBaseline]
	for i := range b.Blocks {
		b.Blocks[i].Latency = Latencies{2700: 5, 2800: 1}
	}
	data, err := json.Marshal(b)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := parseBaseline(data)
		if err != nil {
			return
		}
		if r := DecideAgainst(b.Blocks, b.Blocks, three()); r.Verdict == Regression || r.Verdict == Improvement {
			t.Errorf("a baseline against itself: %s (%s)", r.Verdict, r.Why)
		}
	})
}

// TestYardstick measures this machine: the same work takes a time of the same
// order twice.
func TestYardstick(t *testing.T) {
	b, err := Yardstick{&timed{rng: rand.New(rand.NewPCG(1, 2))}}.Measure(context.Background(), Side{})
	if v := b.Values[yardstick]; err != nil || !(v > 1e5) || v > 1e9 {
		t.Errorf("%v ns, %v", v, err)
	}
	if now, then := spell(), spell(); now > 10*then || then > 10*now {
		t.Errorf("the same work takes %s and %s", now, then)
	}
}
