//go:build linux

package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/run"
)

// Every source of a run is measured, but for the two that conditions
// name.
func TestEverySourceIsMeasured(t *testing.T) {
	measured := map[string]bool{"spans": true, "collections": true}
	for _, c := range conditions {
		for _, name := range c.sources {
			measured[name] = true
		}
	}
	list := run.Sources(observe.Subject{})
	for _, source := range list {
		if name := source.Describe().Name; !measured[name] {
			t.Errorf("source %s has no condition", name)
		}
	}
	if got, samples, counts := sourcesOf(all, observe.Subject{}); len(got) != len(list) || !samples || !counts {
		t.Errorf("all opens %d of %d sources, the probe samples: %t", len(got), len(list), samples)
	}
	if got, samples, counts := sourcesOf("events", observe.Subject{}); len(got) != 1 ||
		got[0].Describe().Name != "events" || samples || counts {
		t.Errorf("events alone opens %d sources, the probe samples: %t", len(got), samples)
	}
	if got, samples, _ := sourcesOf("", observe.Subject{}); len(got) != 0 || samples {
		t.Errorf("a blind block opens %d sources, the probe samples: %t", len(got), samples)
	}
}

// A block's answers are those of its windows.
func TestBlockCountsItsWindows(t *testing.T) {
	rates := map[int64]float64{}
	for w := range int64(20) {
		rates[w] = float64(100 * w)
	}
	b := block{span: timebase.Span{From: 5 * window, To: 7 * window}, used: usage{seconds: 0.2, target: 110e6, host: 220e6, agent: 10e6}}
	b.count(rates)
	if math.Abs(b.Rate-550) > 1e-6 || math.Abs(b.Target-1e6) > 1e-3 || math.Abs(b.Host-2e6) > 1e-3 || math.Abs(b.Agent-50e6) > 1e-3 {
		t.Errorf("%+v", b)
	}
}

// A round in which a request failed, or in which no request was answered for a block, has
// no figures.
func TestFailedRoundsHaveNoBlocks(t *testing.T) {
	driven := driving{cancel: func() {}, done: make(chan struct{}), rates: map[int64]float64{5: 100}, errors: 1}
	close(driven.done)
	if rates, err := driven.end(); err == nil || rates != nil {
		t.Errorf("with a failed request: %v, %v", rates, err)
	}
	blocks := func() []block {
		return []block{{span: timebase.Span{From: 5 * window, To: 6 * window}}, {span: timebase.Span{From: 6 * window, To: 7 * window}}}
	}
	if got, err := counted(blocks(), map[int64]float64{5: 100}); err == nil || got != nil {
		t.Errorf("with a silent block: %+v, %v", got, err)
	}
	if got, err := counted(blocks(), map[int64]float64{5: 100, 6: 90}); err != nil || len(got) != 2 || got[1].Rate != 90 {
		t.Errorf("%+v, %v", got, err)
	}
}

// trials are observed blocks that lose a share of throughput against blind ones
// that drift.
func trials(condition string, n int, lost float64) (list []trial) {
	at := func(rate, cost float64) block {
		return block{Rate: rate * (1 - cost), Target: 1e5 / (1 - cost), Host: 3e5 / (1 - cost), Agent: 1e8,
			Sources: map[string]float64{"runtime": 1e6, "events": 4e6}}
	}
	for i := range n {
		rate := 5000 + 100*float64(i)
		list = append(list, trial{Condition: condition, Blind: [2]block{at(rate-50, 0), at(rate+50, 0)}, Observed: at(rate, lost)})
	}
	return list
}

func TestEvenDriftCancels(t *testing.T) {
	e := estimated(trials(all, 12, 0.02), trial.rate, loss)
	if !e.Known || math.Abs(e.Value-0.02) > 1e-4 || e.Low > e.Value || e.High < e.Value {
		t.Errorf("%+v, want 0.02", e)
	}
	if e := estimated(trials(all, 12, 0.02), trial.target, growth); math.Abs(e.Value-1/0.98+1) > 1e-4 {
		t.Errorf("CPU %+v", e)
	}
	if e := estimated(trials(all, 12, 0), trial.accounted, same); math.Abs(e.Value-0.005) > 1e-9 {
		t.Errorf("accounted %+v", e)
	}
	if e := estimated(trials(all, 3, 0.02), trial.rate, loss); e.Known || !strings.Contains(e.percent(), "too few") {
		t.Errorf("three trials: %+v", e)
	}
}

// A trial is left out by its blind blocks alone.
func TestUnsteadyTrialsAreLeftOut(t *testing.T) {
	r := results{Trials: trials(all, 8, 0.3)}
	r.Trials[3].Blind[1].Rate *= 1.2
	if steady, made := r.of(all); len(steady) != 7 || made != 8 {
		t.Errorf("%d of %d trials are steady, want 7 of 8", len(steady), made)
	}
}

func TestVerdicts(t *testing.T) {
	for want, e := range map[string]estimate{
		"met": {Value: 0.01, Low: 0, High: 0.02, Known: true}, "MISSED": {Value: 0.05, Low: 0.04, High: 0.06, Known: true},
		"open": {Value: 0.02, Low: 0, High: 0.04, Known: true}, "MISSED, though": {Value: 0.04, Low: 0.02, High: 0.06, Known: true},
		"not measured": {Value: 0.01, N: 2},
	} {
		if got := e.verdict(0.03); !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
}

func TestRoundsAreAdded(t *testing.T) {
	o := options{out: filepath.Join(t.TempDir(), "results", "out.json"), length: time.Second, add: true}
	for n := 1; n <= 2; n++ {
		r, err := openResults(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.keep(trials(all, 8, 0.01)); err != nil {
			t.Fatal(err)
		}
		if len(r.Trials) != 8*n || r.Starts != n {
			t.Errorf("after %d: %d trials of %d starts", n, len(r.Trials), r.Starts)
		}
		table, err := os.ReadFile(benchmark.Table(o.out))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(table, []byte("| all | +1.00 % (+1.00 to +1.00) |")) || !bytes.Contains(table, []byte("None yet.")) {
			t.Errorf("%s", table)
		}
	}
	o.length *= 2
	if _, err := openResults(o); err == nil {
		t.Error("rounds of other blocks are added")
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-only", "spans"}, {"-rounds", "0"}, {"-seconds", "10ms"}, {"extra"}} {
		if _, err := parse(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
	if o, err := parse(nil, &bytes.Buffer{}); err != nil || len(o.only) != len(conditions) {
		t.Errorf("%+v, %v", o, err)
	}
}
