package ladder

import (
	"fmt"
	"slices"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/verify"
)

// Metrics that a rung is compared by.
const (
	Throughput = "throughput"
	CPU        = "cpu_per_request"
	P95        = "p95"
	P99        = "p99"
)

// margin of the decisions: half of it, 3 %, is what launches of one binary were seen to
// differ by, so that an estimate below is never called a gain.
const margin = 0.06

// alpha makes each interval one of 95 %.
const alpha = 0.05

// Pairs is how many pairs of blocks a comparison has: Fewest, whose signed-rank interval at 95 %
// exists, and one more for a pair that a neighbour spoilt.
const (
	Fewest = 6
	Pairs  = Fewest + 1
)

func rules(seed uint64) verify.Rules {
	return verify.Rules{Alpha: alpha, Looks: 1, Seed: seed, Metrics: []verify.Metric{
		{Name: Throughput, Unit: "1/s", Higher: true, Margin: margin},
		{Name: CPU, Unit: "ns", Margin: margin, Advisory: true},
		{Name: P95, Unit: "ns", Quantile: 0.95, Margin: margin, Advisory: true},
		{Name: P99, Unit: "ns", Quantile: 0.99, Margin: margin, Advisory: true},
	}}
}

// Comparison is one state of the service against another.
type Comparison struct {
	A        string        `json:"a"` // names of the rungs
	B        string        `json:"b"`
	Pairs    int           `json:"pairs"`
	Launches int           `json:"launches"` // of each side
	Slot     time.Duration `json:"turn_ns,omitempty"`
	Changes  []Change      `json:"changes"`
	// Invalid says why nothing could be compared; "" where it could.
	Invalid string `json:"invalid,omitempty"`
	// Accounts are the orders of both sides under this load.
	Accounts [2]Account `json:"accounts"`
}

// Change is one metric of a comparison.
type Change struct {
	Metric string  `json:"metric"`
	A      float64 `json:"a"` // medians of the blocks, means where pairs are too few to decide, 0 where unknown
	B      float64 `json:"b"`
	// Gain is how many times better b is; Low and High are its interval at 95 %, zeros
	// where there are too few pairs for one.
	Gain float64 `json:"gain"`
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
	// Clear says that the change, for better or worse, is more than noise.
	Clear bool   `json:"clear"`
	Why   string `json:"why,omitempty"` // why there is no interval
}

// Compare decides about pairs of blocks.
func Compare(a, b string, pairs []verify.Pair, seed uint64) Comparison {
	out := Comparison{A: a, B: b, Pairs: len(pairs)}
	r := verify.Decide(pairs, nil, 1, rules(seed))
	for i, m := range r.Metrics {
		c := Change{Metric: m.Name, A: m.A, B: m.B, Why: m.Why}
		if known := m.A > 0 && m.B > 0; known {
			c.Gain, c.Low, c.High, c.Why = 1/(1+m.Estimate), 1/(1+m.High), 1/(1+m.Low), ""
			c.Clear = m.Verdict == verify.Improvement || m.Verdict == verify.Regression
		} else if c.A, c.B = middles(rules(seed).Metrics[i], pairs); c.A > 0 && c.B > 0 {
			if c.Gain = c.A / c.B; m.Name == Throughput {
				c.Gain = c.B / c.A
			}
		}
		out.Changes = append(out.Changes, c)
	}
	return out
}

// middles are the means of a metric that every block has, for pairs too few to decide;
// zeros where one lacks it.
func middles(m verify.Metric, pairs []verify.Pair) (a, b float64) {
	for _, p := range pairs {
		x, y := m.Of(p.A), m.Of(p.B)
		if !(x > 0 && y > 0) {
			return 0, 0
		}
		a, b = a+x/float64(len(pairs)), b+y/float64(len(pairs))
	}
	return a, b
}

// Of returns the change of a metric.
func (c *Comparison) Of(metric string) (Change, bool) {
	if c == nil {
		return Change{}, false
	}
	i := slices.IndexFunc(c.Changes, func(one Change) bool { return one.Metric == metric })
	if i < 0 {
		return Change{}, false
	}
	return c.Changes[i], true
}

// Text words a change: the gain with its interval, or that it is within the noise.
func (c Change) Text() string {
	switch {
	case !(c.Gain > 0):
		return "not measured"
	case c.Low == 0 && c.High == 0:
		return notation.Factor(c.Gain) + ", too few pairs for an interval"
	}
	interval := fmt.Sprintf("(%s to %s)", notation.Factor(c.Low), notation.Factor(c.High))
	if c.Clear {
		return notation.Factor(c.Gain) + " " + interval
	}
	return "within the noise " + interval
}
