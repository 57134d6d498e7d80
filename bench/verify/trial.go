//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/redline-go/redline/verify"
)

// measured are the metrics whose blocks are kept: those that decide in a closed
// loop.
var measured = []string{"cpu_per_request", "throughput"}

// decides is the metric that the marks are about.
const decides = "cpu_per_request"

// trial is one real session.
type trial struct {
	Kind    string         `json:"kind"`
	Service string         `json:"service"`
	Verdict verify.Verdict `json:"verdict"`
	Why     string         `json:"why"`
	Seconds float64        `json:"seconds"`
	Machine int            `json:"place"` // index of results.Machines
	Seed    uint64         `json:"seed"`
	Rounds  int            `json:"rounds"` // of work that made 5 %
	Pairs   int            `json:"pairs"`
	Most    int            `json:"most"` // pairs that the time allowed
	Look    int            `json:"look"`
	Looks   int            `json:"looks"`
	Turn    time.Duration  `json:"turn_ns,omitempty"` // zero for one side up at a time
	// Metrics are those that decide. FalsePositive is the rate that the session
	// itself reported.
	Metrics       []verify.MetricResult `json:"metrics"`
	FalsePositive float64               `json:"false_positive"`
	// Same and Compared are the pairs: by metric as in measured, side a's value
	// and side b's.
	Same     [][]float64 `json:"same"`
	Compared [][]float64 `json:"compared"`
	// Launches holds what variance components are estimated from, of the pairs in order.
	Launches []launched `json:"launches,omitempty"`
}

// launched is one pair of launches.
type launched struct {
	A      []float64 `json:"a"` // CPU per request of each turn, in ns
	B      []float64 `json:"b"`
	BFirst bool      `json:"b_first,omitempty"`
	Took   float64   `json:"seconds"`
}

// launches extracts from pairs the CPU of their turns.
func launches(pairs []verify.Pair) (out []launched) {
	round := func(turns []float64) (out []float64) {
		for _, v := range turns {
			out = append(out, math.Round(v))
		}
		return out
	}
	for _, p := range pairs {
		if len(p.A.Turns) > 0 && len(p.B.Turns) > 0 {
			out = append(out, launched{round(p.A.Turns), round(p.B.Turns), p.BFirst, math.Round(1000*p.Took.Seconds()) / 1000})
		}
	}
	return out
}

func newTrial(kind string, r verify.Result, took time.Duration, same, compared []verify.Pair) trial {
	t := trial{
		Kind: kind, Verdict: r.Verdict, Why: r.Why, Seconds: math.Round(10*took.Seconds()) / 10,
		Pairs: r.Pairs, Look: r.Looks, Looks: r.Planned, Turn: r.Turn, FalsePositive: r.AA.FalsePositive,
		Same: flat(same), Compared: flat(compared), Launches: launches(slices.Concat(same, compared)),
	}
	for _, m := range r.Metrics {
		if !m.Advisory {
			t.Metrics = append(t.Metrics, m)
		}
	}
	return t
}

// metric returns the session's result of a metric; ok is false if there is none.
func (t trial) metric(name string) (verify.MetricResult, bool) {
	for _, m := range t.Metrics {
		if m.Name == name {
			return m, m.A > 0
		}
	}
	return verify.MetricResult{}, false
}

// line writes a session's progress while the bench runs.
func (t trial) line() string {
	m, ok := t.metric(decides)
	if !ok {
		return fmt.Sprintf("%s (%s) after %.0f s", t.Verdict, t.Why, t.Seconds)
	}
	return fmt.Sprintf("%s; CPU per request %+.1f %% (%+.1f to %+.1f), detectable %.1f %%; %d pairs, %.0f s",
		t.Verdict, 100*m.Estimate, 100*m.Low, 100*m.High, 100*m.MDE, t.Pairs, t.Seconds)
}

// flat extracts from pairs the values that decide.
func flat(pairs []verify.Pair) [][]float64 {
	out := [][]float64{}
	for _, p := range pairs {
		row := []float64{}
		for _, name := range measured {
			row = append(row, figures(p.A.Values[name]), figures(p.B.Values[name]))
		}
		out = append(out, row)
	}
	return out
}

// figures rounds to six.
func figures(v float64) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-5)
	return math.Round(v/unit) * unit
}

// pair is the opposite of flat.
func pair(row []float64) (p verify.Pair, ok bool) {
	if len(row) != 2*len(measured) {
		return p, false
	}
	p.A.Values, p.B.Values = map[string]float64{}, map[string]float64{}
	for i, name := range measured {
		p.A.Values[name], p.B.Values[name] = row[2*i], row[2*i+1]
	}
	return p, true
}

func pairs(rows [][]float64) (out []verify.Pair) {
	for _, row := range rows {
		if p, ok := pair(row); ok {
			out = append(out, p)
		}
	}
	return out
}

// metrics are the rules' own metrics among those that are kept.
func metrics() (out []verify.Metric) {
	for _, m := range verify.Metrics(false) {
		for _, name := range measured {
			if m.Name == name {
				out = append(out, m)
			}
		}
	}
	return out
}

// exchanged decides the recorded pairs with the sides exchanged, look by look, up
// to where the session ended.
func (t trial) exchanged() verify.Verdict {
	list := pairs(t.Compared)
	for i, p := range list {
		list[i] = verify.Pair{A: p.B, B: p.A}
	}
	rules := verify.Rules{Metrics: metrics(), Looks: t.Looks, Planned: t.Most, Seed: t.Seed}
	verdict := verify.Inconclusive
	for look := 1; look <= t.Look && verdict == verify.Inconclusive; look++ {
		n := len(list)
		if look < t.Look {
			n = min(n, t.Most*look/max(1, t.Looks))
		}
		verdict = verify.Decide(list[:n], pairs(t.Same), look, rules).Verdict
	}
	return verdict
}
