package render

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify"
)

var update = flag.Bool("update", false, "write what is rendered to testdata")

func gainOf(g float64) tune.Gain { return tune.Gain{Gain: g, Low: g - 0.02, High: g + 0.02} }

// example is a result in which each part has something to show.
func example() tune.Result {
	return tune.Result{
		Schema: tune.Schema, Verdict: tune.Recommend, Why: "+12.0 % (+9.1 % to +14.2 %) of throughput in 14 new pairs of launches",
		Objective: "more throughput at p99 < 20ms", Service: "./svc (work tree)", Seed: 7, Trials: 40, Space: 42, Tried: 21, Noise: 0.043,
		Best: []tune.Value{{Knob: "GOGC", Value: "200", Changed: true}, {Knob: "env:POOL", Value: "16",
			Changed: true}},
		Lines: []string{"GOGC=200", "POOL=16"},
		Worth: []tune.Worth{
			{Knob: "GOGC", From: "100", To: "200", Alone: gainOf(0.031), Last: gainOf(0.04)},
			{Knob: "env:POOL", From: "4", To: "16", Alone: gainOf(0.08), Last: gainOf(0.09)},
		},
		Together: []tune.Interaction{{A: "GOGC", B: "env:POOL", Both: gainOf(0.12), Excess: gainOf(0.01)}},
		Knobs: []tune.KnobResult{
			{Name: "GOGC", Scale: "log", Curve: []tune.Point{{Value: "100", Gain: gainOf(0.08), Present: true},
				{Value: "200", Gain: gainOf(0.12), Chosen: true}}},
			{Name: "env:POOL", Scale: "log", Plateau: "16", Curve: []tune.Point{
				{Value: "4", Gain: gainOf(0.04), Present: true}, {Value: "16", Gain: gainOf(0.12),
					Chosen: true}, {Value: "64", Out: true}}},
			{Name: "flag:-x", Scale: "list", Remark: "no effect seen alone; one of 3.0 % would have been",
				Curve: []tune.Point{{Value: "a", Gain: gainOf(0.12), Present: true, Chosen: true}, {Value: "b",
					Gain: gainOf(0.11)}}},
		},
		Surface: &tune.Surface{X: "env:POOL", Y: "GOGC", Xs: []string{"4", "16", "64"}, Ys: []string{"100", "200"},
			Gain:   [][]tune.Gain{{gainOf(0), gainOf(0.08), gainOf(0.1)}, {gainOf(0.031), gainOf(0.12), gainOf(0.1)}},
			Trials: [][]int{{0, 2, 1}, {1, 9, 0}}, Out: [][]bool{{false, false, true}, {false, false,
				true}}, BestX: 1, BestY: 1},
		Measured: []tune.Measured{
			{Values: []tune.Value{{Knob: "GOGC", Value: "200", Changed: true}, {Knob: "env:POOL", Value: "16",
				Changed: true}}, Trials: 9, Gain: &tune.Gain{Gain: 0.12, Low: 0.1, High: 0.14}},
			{Values: []tune.Value{{Knob: "GOGC", Value: "100"}, {Knob: "env:POOL", Value: "64", Changed: true}},
				Trials: 1, Out: "exit status 2: panic: too many connections"},
		},
		Confirmed: &verify.Result{Metrics: []verify.MetricResult{
			{Name: "throughput", A: 5000, B: 5600, Unit: "1/s"}, {Name: "p99", A: 18e6, B: 15e6, Unit: "ns",
				Advisory: true}}},
		PGO: &tune.Inlining{Total: 41, Calls: []tune.Inlined{{Caller: "store/order.go:70", Callee: "scan",
			Share: 0.12}}},
		Warnings: []string{"1 launch repeated: the generator could not keep up"},
	}
}

func TestGolden(t *testing.T) {
	keep := example()
	keep.Verdict, keep.Why = tune.Keep, "keep what you have: new launches did not confirm the gain"
	for name, write := range map[string]func(*strings.Builder) error{
		"recommend.txt": func(b *strings.Builder) error { return Text(b, example()) },
		"keep.txt":      func(b *strings.Builder) error { return Text(b, keep) },
		"recommend.md":  func(b *strings.Builder) error { return Markdown(b, example()) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(want) != b.String() {
			t.Errorf("%s differs from %s: %v\n%s", name, path, err, b.String())
		}
	}
	// What is not confirmed is not offered for copying.
	var b strings.Builder
	if err := Text(&b, keep); err != nil || strings.Contains(b.String(), "    GOGC=200\n") || strings.Contains(b.String(), "(confirmed") {
		t.Errorf("settings that were not confirmed are printed as lines, or as confirmed: %v", err)
	}
}

// TestEmpty: a result of nothing is written without a panic.
func TestEmpty(t *testing.T) {
	var b strings.Builder
	r := tune.Result{Verdict: tune.Invalid, Why: "nothing was measured", Knobs: []tune.KnobResult{{Name: "GOGC",
		Scale: "log"}}}
	if err := Text(&b, r); err != nil || !strings.HasPrefix(b.String(), "INVALID: nothing was measured\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if err := Markdown(&b, r); err != nil {
		t.Error(err)
	}
}
