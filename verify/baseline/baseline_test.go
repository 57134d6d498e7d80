package baseline

import (
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
	"github.com/redline-go/redline/scenario/criteria"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify"
)

// blocksOf makes blocks of a service with the yardstick's beside them.
func blocksOf(n int) (out []verify.Block) {
	rng := rand.New(rand.NewPCG(1, 2))
	vary := func(sd float64) float64 { return math.Exp(sd * rng.NormFloat64()) }
	for range n {
		b := verify.Block{Values: map[string]float64{
			"cpu_per_request": 40e3 * vary(0.015), "throughput": 20e3 * vary(0.015), verify.MachineYardstick: 3e6 * vary(0.004),
		}, Latency: verify.Latencies{}}
		for range 300 {
			b.Latency.Add(int64(1e6*vary(0.3)), 1)
		}
		out = append(out, b)
	}
	return out
}

func stored() Baseline {
	return Baseline{
		Saved: time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC), Redline: "v1", Side: "./cmd/svc (work tree)",
		Commit: revision.Commit{Hash: strings.Repeat("ab", 20), Branch: "main"},
		Circumstances: Circumstances{
			Host:       record.Host{OS: "linux", Arch: "amd64", Kernel: "6.1", CPUModel: "A", CPUs: 2, Memory: 8 << 30},
			GOMAXPROCS: 2, Go: "go1.26.0", Scenario: "gateway", Hash: "0011", Duration: 2 * time.Second, Warmup: time.Second,
		},
		Blocks: blocksOf(20),
	}
}

func TestBaselineRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "base.json")
	b := stored()
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	b.Schema = Schema
	if !reflect.DeepEqual(got, b) {
		t.Errorf("got\n%+v\nwant\n%+v", got.Circumstances, b.Circumstances)
	}
	few := b
	few.Blocks = few.Blocks[:verify.LeastBlocks-1]
	if err := few.Save(path); err == nil || !strings.Contains(err.Error(), "too few") {
		t.Errorf("seven blocks: %v", err)
	}
	if again, err := Read(path); err != nil || len(again.Blocks) != 20 {
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
		"memory":             {func(c *Circumstances) { c.Host.Memory = 4 << 30 }, `"8.00 GiB" and "4.00 GiB"`},
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

// TestScenarioHash: a setting that changes the measurement changes the hash, and nothing
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
		"threshold": hash("http://127.0.0.1:1/a", func(p *scenario.Plan) { p.Thresholds = []criteria.Threshold{{}} }, 0),
		"margin":    hash("http://127.0.0.1:1/a", func(p *scenario.Plan) { p.Verify = []criteria.Comparison{{Metric: "p99", Margin: 1}} }, 0),
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

// TestHostileBaseline: a meaningless baseline is refused, with a message that says what is
// wrong.
func TestHostileBaseline(t *testing.T) {
	for want, change := range map[string]func(*Baseline){
		"its schema":                      func(b *Baseline) { b.Schema = "redline.baseline/2" },
		"too few":                         func(b *Baseline) { b.Blocks = b.Blocks[:3] },
		"more than 1000":                  func(b *Baseline) { b.Blocks = make([]verify.Block, 1001) },
		"it does not count":               func(b *Baseline) { b.Blocks[7].Void = "the target ended" },
		"is 0":                            func(b *Baseline) { b.Blocks[3].Values["p50"] = 0 },
		"is -1":                           func(b *Baseline) { b.Blocks[3].Values["cpu_per_request"] = -1 },
		"share of failed requests is 1.5": func(b *Baseline) { b.Blocks[3].Errors = 1.5 },
		"in bucket 2147483647":            func(b *Baseline) { b.Blocks[3].Latency[1<<31-1] = 1 },
		"in bucket -1":                    func(b *Baseline) { b.Blocks[3].Latency[-1] = 1 },
		"-5 latencies":                    func(b *Baseline) { b.Blocks[3].Latency[5] = -5 },
		"more latencies":                  func(b *Baseline) { b.Blocks[3].Latency[5], b.Blocks[3].Latency[6] = 1<<40, 1<<40 },
		"more than 64":                    func(b *Baseline) { flood(b.Blocks[3].Values) },
		"was not measured":                func(b *Baseline) { delete(b.Blocks[3].Values, verify.MachineYardstick) },
		"too long":                        func(b *Baseline) { b.Side = strings.Repeat("x", 5000) },
	} {
		b := stored()
		b.Schema = Schema
		change(&b)
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(data); err == nil || !strings.Contains(err.Error(), want) {
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
	for path, want := range map[string]string{huge: "larger than", dir: "not a file", filepath.Join(dir, "none"): "--save-baseline"} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func flood(values map[string]float64) {
	for i := range 100 {
		values[fmt.Sprint(i)] = 1
	}
}

// FuzzParseBaseline: an accepted baseline can be compared with, in bounded memory.
func FuzzParseBaseline(f *testing.F) {
	b := stored()
	b.Schema, b.Blocks = Schema, b.Blocks[:verify.LeastBlocks]
	for i := range b.Blocks {
		b.Blocks[i].Latency = verify.Latencies{2700: 5, 2800: 1}
	}
	data, err := json.Marshal(b)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := parse(data)
		if err != nil {
			return
		}
		if r := verify.DecideAgainst(b.Blocks, b.Blocks,
			verify.Rules{Metrics: verify.Metrics(false)}); r.Verdict == verify.Regression || r.Verdict == verify.Improvement {
			t.Errorf("a baseline against itself: %s (%s)", r.Verdict, r.Why)
		}
	})
}
