package verify

import (
	"fmt"
	"math"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/stat"
)

// MachineYardstick is the value of a block that the machine gave, and no side: how long
// the same work took right before and after it, in ns.
const MachineYardstick = "machine_yardstick"

// LeastBlocks is how many blocks it takes on either side for two sessions to be
// compared.
const LeastBlocks = 8

// DecideAgainst judges blocks of side B against those of a baseline, by all
// metrics of the rules at once and at one look.
func DecideAgainst(base, blocks []Block, r Rules) Result {
	out := Single(blocks, r)
	out.Metrics, out.Stored.Blocks = nil, len(base)
	out.Looks = 1
	drift, wide, known := drifted(base, blocks)
	out.Stored.Drift = drift
	a, b := answered(base), answered(blocks)
	r.failing = a.failed+b.failed > 0
	level := r.alpha()
	var decided []judgement
	judged := r
	judged.Metrics = nil
	var p []float64
	for _, m := range r.Metrics {
		if !m.Asked && !m.delivered(base) {
			out.Warnings = append(out.Warnings, m.Name+" is not judged: the baseline does not have it")
			continue
		}
		j := gatherApart(m, base, blocks, level)
		if !known {
			j.known, j.missing = false, "how the machine drifted is not known"
		} else if m.timed() {
			j.widen(wide)
		}
		decided, p, judged.Metrics = append(decided, j), append(p, j.p), append(judged.Metrics, m)
	}
	for i, significant := range judged.significant(p, level) {
		out.Metrics = append(out.Metrics, decided[i].verdict(significant, true))
	}
	out.conclude()
	out.decideFailures(a, b, r.failures(level), true)
	out.Warnings = append(out.Warnings,
		"the baseline was measured at another time: other changes since then look like changes of the "+
			"service (redline gate --base REF measures both together)",
		fmt.Sprintf("the same work takes this machine %s time against then; intervals of times and "+
			"rates are wider by %s", notation.Change(math.Expm1(drift)), notation.Tenths(math.Expm1(wide))))
	return out
}

// Single is a result of blocks that nothing was compared with.
func Single(blocks []Block, r Rules) Result {
	out := Result{Schema: Schema, Verdict: Inconclusive, Alpha: r.alpha(), Planned: 1,
		Warnings: []string{}, Metrics: []MetricResult{}, HeldUpBy: []string{},
		Stored: &Stored{Launches: len(blocks)}}
	out.AA.Different = []string{}
	for _, v := range BlockValues(blocks, r.Metrics) {
		out.Metrics = append(out.Metrics, MetricResult{Name: v.Name, Unit: v.Unit, B: v.Value, Margin: v.Margin,
			Advisory: v.Advisory, Higher: v.Higher, Verdict: Inconclusive, Why: "nothing to compare with"})
	}
	return out
}

// Stored is the basis of a comparison with a stored baseline.
type Stored struct {
	File     string    `json:"file"`
	Saved    time.Time `json:"saved,omitzero"`
	Commit   string    `json:"commit"`
	Blocks   int       `json:"blocks"`   // of the baseline
	Launches int       `json:"launches"` // measured now
	// Drift is by how much longer the same work takes the machine now, as a
	// logarithm.
	Drift float64 `json:"drift"`
}

// delivered reports whether any block has the metric.
func (m Metric) delivered(blocks []Block) bool {
	for _, b := range blocks {
		if m.Of(b) > 0 {
			return true
		}
	}
	return false
}

// timed reports whether a slower machine moves the metric by itself.
func (m Metric) timed() bool { return m.Unit == "ns" || m.Unit == "1/s" }

// drifted returns by how much the machine itself became slower, on the
// logarithmic scale, and the larger limit of that: how far it may have.
func drifted(base, blocks []Block) (estimate, wide float64, known bool) {
	m := Metric{Name: MachineYardstick}
	a, okA := m.logs(base)
	b, okB := m.logs(blocks)
	if !okA || !okB {
		return 0, 0, false
	}
	estimate, low, high, ok := stat.ShiftInterval(a, b, 0.95)
	return estimate, max(math.Abs(low), math.Abs(high)), ok
}

// gatherApart collects a metric's evidence from two independent samples.
// Percentiles are compared by those of each block: blocks are of one length, so
// that the effect of few requests on a percentile hits both sides.
func gatherApart(m Metric, base, blocks []Block, level float64) judgement {
	j := judgement{m: m, apart: true, p: math.NaN(), mde: math.NaN(), missing: "it is not in every block"}
	a, okA := m.logs(base)
	b, okB := m.logs(blocks)
	if !okA || !okB {
		return j
	}
	j.a, j.b = math.Exp(stat.Median(a)), math.Exp(stat.Median(b))
	if m.Higher {
		a, b = negated(a), negated(b)
	}
	j.p = stat.MannWhitney(a, b)
	j.estimate, j.low, j.high, j.known = stat.ShiftInterval(a, b, 1-level)
	_, _, upper, ok := stat.ShiftInterval(a, b, 1-2*boundLevel)
	if j.upper = upper; !ok {
		j.known = false
	}
	if !j.known {
		j.missing = fmt.Sprintf("%d and %d blocks are too few for an interval", len(a), len(b))
	}
	j.mde = stat.DetectableShift(math.Max(unrest(a), unrest(b)), len(a), len(b), level, power)
	return j
}

// unrest is the standard deviation of values, the larger of an estimate that
// outliers move and one that they do not.
func unrest(values []float64) float64 { return math.Max(stat.Deviation(values), stat.Spread(values)) }

func negated(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = -v
	}
	return out
}

// widen takes in that by may be the machine's.
func (j *judgement) widen(by float64) {
	j.low, j.high, j.upper, j.mde = j.low-by, j.high+by, j.upper+by, j.mde+by
}
