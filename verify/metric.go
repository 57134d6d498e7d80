package verify

import (
	"math"
	"slices"
	"time"
)

// Metric is a figure that two sides are compared by.
type Metric struct {
	Name string // as in ab.json: "cpu_per_request"
	Unit string // of its values
	// Higher says that more is better; even then relative changes are written with + as
	// worse.
	Higher bool
	// Quantile is the percentile of latency that it is, 0 to 1; 0 for a figure
	// that each block gives as one number.
	Quantile float64
	// Margin is the relative change that is still acceptable: 0.05 is 5 %.
	Margin float64
	// Asked says that the scenario names it: then it may not be missing.
	Asked bool
	// Advisory metrics are reported and do not decide.
	Advisory bool
	// Guard is an advisory metric that no pass waits for, and that fails the session where it is
	// worse by its whole margin beyond doubt: a service that sleeps longer takes no more CPU.
	Guard bool
}

// Metrics returns all metrics with their defaults. In a closed loop CPU per request
// decides; throughput is a guard: where the CPUs are busy it follows from CPU per
// request, with the noise of all else on the machine added, and latency follows from the
// throughput of a fixed number of connections. At a rate the median latency decides as
// well, and throughput is given. Each metric that decides makes the others harder to
// decide, so allocations, which explain why CPU was spent, are advisory.
func Metrics(open bool) []Metric {
	list := []Metric{
		{Name: "cpu_per_request", Unit: "ns", Margin: 0.05},
		{Name: "throughput", Unit: "1/s", Higher: true, Margin: 0.05, Advisory: true, Guard: true},
		{Name: "p50", Unit: "ns", Quantile: 0.50, Margin: 0.05, Advisory: !open},
		{Name: "p90", Unit: "ns", Quantile: 0.90, Margin: 0.05, Advisory: true},
		{Name: "p99", Unit: "ns", Quantile: 0.99, Margin: 0.25, Advisory: true},
		{Name: "allocs_per_request", Unit: "1", Margin: 0.05, Advisory: true},
		{Name: "bytes_per_request", Unit: "bytes", Margin: 0.05, Advisory: true},
		{Name: "gc_cpu", Unit: "1", Margin: 0.10, Advisory: true},
		{Name: "rss", Unit: "bytes", Margin: 0.10, Advisory: true},
	}
	if open {
		list = slices.DeleteFunc(list, func(m Metric) bool { return m.Name == "throughput" })
	}
	return list
}

// Block holds the measurements of one launch of one side.
type Block struct {
	// Values holds a number per metric; one that the target cannot deliver is
	// missing.
	Values map[string]float64 `json:"values"`
	// Latency counts successes by latency.
	Latency Latencies `json:"latency,omitempty"`
	// Turns holds the CPU per request of each turn, in ns, in order; nil where the side took none.
	Turns []float64 `json:"turns,omitempty"`
	// Void says why the block does not count: the generator was saturated, the
	// target failed. Empty for a good block.
	Void string `json:"void,omitempty"`
	// Errors is the share of requests that failed, 0 to 1.
	Errors float64 `json:"errors"`
}

// Pair is a block of each side, measured by turns of some length or, where that
// is zero, one right after the other.
type Pair struct {
	A, B   Block
	Turn   time.Duration `json:"turn_ns,omitempty"`
	BFirst bool          `json:"b_first,omitempty"` // side b was launched first, and had the first turn
	Took   time.Duration `json:"took_ns,omitempty"` // with both launches
}

// worse turns a ratio B/A into a relative change on the logarithmic scale with +
// as worse.
func (m Metric) worse(a, b float64) float64 {
	d := math.Log(b / a)
	if m.Higher {
		d = -d
	}
	return d
}

// Own turns a relative change for the worse, as results have it, into the part by which the metric
// itself changed: throughput whose inverse rose by 100 % fell by 50 %. higher says that more is better.
func Own(higher bool, worse float64) float64 {
	if higher {
		return worse / (1 + worse)
	}
	return worse
}

// own is Own of a change on the logarithmic scale.
func (m Metric) own(worse float64) float64 { return Own(m.Higher, math.Expm1(worse)) }

// Of returns a block's own value of the metric; NaN when it has none.
func (m Metric) Of(b Block) float64 {
	if m.Quantile > 0 {
		return b.Latency.Quantile(m.Quantile)
	}
	if v, ok := b.Values[m.Name]; ok {
		return v
	}
	return math.NaN()
}

// differences returns the logarithmic differences of pairs, + as worse. ok is
// false when a pair lacks the metric on either side or has it at zero or below:
// a metric counts whole or not at all.
func (m Metric) differences(pairs []Pair) (d []float64, ok bool) {
	for _, p := range pairs {
		a, b := m.Of(p.A), m.Of(p.B)
		if !(a > 0 && b > 0) || math.IsInf(a, 0) || math.IsInf(b, 0) {
			return nil, false
		}
		d = append(d, m.worse(a, b))
	}
	return d, len(d) > 0
}

// noise returns the differences of groups of pairs less each group's location:
// the residue of pairs of different sides is as much noise as that of identical
// sides. They are widened by the location's share of their variance.
// Groups that lack the metric give nothing.
func (m Metric) noise(groups ...[]Pair) (all []float64) {
	for _, pairs := range groups {
		d, ok := m.differences(pairs)
		n := float64(len(d))
		if !ok || n < 2 {
			continue
		}
		for _, r := range centred(d) {
			all = append(all, math.Sqrt(n/(n-1))*r)
		}
	}
	return all
}
