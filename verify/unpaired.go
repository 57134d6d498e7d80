package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/redline-go/redline/stat"
)

// blocksAlone is how many launches of one side by itself are measured unless
// something else bounds them.
const blocksAlone = 20

// Against compares side B with a stored baseline, or measures it alone so that
// it can become one.
//
// The two were measured one after the other, which pairs exist to avoid. What
// can be done about it is done: blocks are independent samples (Mann-Whitney,
// Hodges-Lehmann with Moses' interval); by as much as the machine itself may have
// drifted between the sessions, as a yardstick beside every block shows, the
// intervals of times and rates are wider; and nothing passes that could not have
// been seen to fail. What has drifted otherwise (a database that has grown, a
// neighbour on the disk) cannot be told from a change of the service, and the
// rate of false regressions is not known: both are said with every result.
type Against struct {
	Baseline *Baseline // nil measures alone and decides nothing
	B        Side
	Measurer Measurer // with the yardstick beside each block: a Yardstick
	Rules    Rules
	// MaxTime bounds the measuring; zero means DefaultMaxTime. Blocks is how many
	// are measured; zero means 20.
	MaxTime time.Duration
	Blocks  int
	Log     *Log           // keeps the blocks as they come; nil keeps them nowhere
	OnBlock func(Progress) // told after every block; may be nil
}

// Run measures and decides. The result of measuring alone is inconclusive and
// says so. Errors are those of Session.Run.
func (s *Against) Run(ctx context.Context) (Result, error) {
	begun, most := time.Now(), s.most()
	var blocks []Block
	for len(blocks) < most {
		b, err := s.block(ctx, len(blocks))
		if err != nil {
			return Result{}, err
		}
		if blocks = append(blocks, b); b.Void != "" {
			return s.refused(blocks, "side b: "+b.Void), nil
		}
		spent := time.Since(begun)
		if s.OnBlock != nil {
			s.OnBlock(Progress{Phase: fmt.Sprintf("launch %d of at most %d", len(blocks), most), Pairs: len(blocks), Most: most, Left: s.maxTime() - spent})
		}
		if spent+spent/time.Duration(len(blocks)) > s.maxTime() {
			break
		}
	}
	if len(blocks) < leastBaseline {
		return s.refused(blocks, fmt.Sprintf("the time was enough for %d launches, and fewer than %d decide nothing (hint: --max-time, --pairs)", len(blocks), leastBaseline)), nil
	}
	if s.Baseline == nil {
		out := single(blocks, s.Rules)
		out.Why = "measured alone, so that it can be compared with"
		return out, nil
	}
	return DecideAgainst(s.Baseline.Blocks, blocks, s.Rules), nil
}

func (s *Against) most() int { return max(leastBaseline, cmp.Or(s.Blocks, blocksAlone)) }

func (s *Against) maxTime() time.Duration { return cmp.Or(max(0, s.MaxTime), DefaultMaxTime) }

// block measures one block, or takes it from an interrupted session's log.
func (s *Against) block(ctx context.Context, n int) (Block, error) {
	if p, ok := s.Log.pair(alone, n); ok {
		return p.B, nil
	}
	b, err := s.Measurer.Measure(ctx, s.B)
	if err != nil {
		return Block{}, err
	}
	return b, s.Log.add(alone, n, Pair{B: b})
}

func (s *Against) refused(blocks []Block, why string) Result {
	out := single(nil, s.Rules)
	out.Verdict, out.Why, out.Stored.Launches = Invalid, why, len(blocks)
	return out
}

// DecideAgainst judges blocks of side B against those of a baseline, by all
// metrics of the rules at once and at one look.
func DecideAgainst(base, blocks []Block, r Rules) Result {
	out := single(blocks, r)
	out.Metrics, out.Stored.Blocks = nil, len(base)
	drift, wide, known := drifted(base, blocks)
	out.Stored.Drift = drift
	level := r.alpha()
	var judged []judgement
	var deciding []float64
	for _, m := range r.Metrics {
		if !m.Asked && !m.delivered(base) {
			out.Warnings = append(out.Warnings, m.Name+" is not judged: the baseline does not have it")
			continue
		}
		j := weighApart(m, base, blocks, level)
		if !known {
			j.known, j.missing = false, "how the machine drifted is not known"
		} else if m.timed() {
			j.widen(wide)
		}
		judged = append(judged, j)
		if m.Advisory {
			deciding = append(deciding, math.NaN())
		} else {
			deciding = append(deciding, j.p)
		}
	}
	for i, adjusted := range stat.Holm(deciding) {
		if judged[i].m.Advisory {
			adjusted = judged[i].p
		}
		out.Metrics = append(out.Metrics, judged[i].verdict(adjusted <= level, true))
	}
	out.conclude()
	out.judgeFailures(failed(base), failed(blocks))
	out.Warnings = append(out.Warnings,
		"the baseline was measured at another time: what else has changed since cannot be told from a change of the service (redline gate --base REF measures both together)",
		fmt.Sprintf("the same work takes this machine %+.1f %% time against then; intervals of times and rates are wider by %.1f %%", 100*math.Expm1(drift), 100*math.Expm1(wide)))
	return out
}

// single is a result of blocks that nothing was compared with.
func single(blocks []Block, r Rules) Result {
	out := Result{Schema: Schema, Verdict: Inconclusive, Alpha: r.alpha(), Looks: 1, Planned: 1, Warnings: []string{}, Metrics: []MetricResult{}, Stored: &Stored{Launches: len(blocks)}}
	out.AA.Different = []string{}
	for _, v := range BlockValues(blocks, r.Metrics) {
		out.Metrics = append(out.Metrics, MetricResult{Name: v.Name, Unit: v.Unit, B: v.Value, Margin: v.Margin, Advisory: v.Advisory, Verdict: Inconclusive, Why: "nothing to compare with"})
	}
	return out
}

// Stored is what a comparison with a stored baseline rests on.
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

// line says in one line what was compared.
func (s Stored) line() string {
	if s.Blocks == 0 {
		return fmt.Sprintf("%d launches", s.Launches)
	}
	of := s.File
	if s.Commit != "" {
		of += ", commit " + s.Commit[:min(12, len(s.Commit))]
	}
	return fmt.Sprintf("%d launches against %d of the baseline (%s, saved %s): unpaired, one session after the other; how often that calls a regression without one is not known",
		s.Launches, s.Blocks, of, s.Saved.UTC().Format("2006-01-02 15:04 UTC"))
}

// delivered reports whether any block has the metric.
func (m Metric) delivered(blocks []Block) bool {
	for _, b := range blocks {
		if m.of(b) > 0 {
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
	m := Metric{Name: yardstick}
	a, okA := m.logs(base)
	b, okB := m.logs(blocks)
	if !okA || !okB {
		return 0, 0, false
	}
	estimate, low, high, ok := stat.ShiftInterval(a, b, 0.95)
	return estimate, max(math.Abs(low), math.Abs(high)), ok
}

// weighApart gathers a metric's evidence from two independent samples.
// Percentiles are compared by those of each block: blocks are of one length, so
// that what few requests do to a percentile they do to both sides.
func weighApart(m Metric, base, blocks []Block, level float64) judgement {
	j := judgement{m: m, p: math.NaN(), mde: math.NaN(), missing: "it is not in every block"}
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

// unrest is the standard deviation of values, the larger of what outliers move
// and what they do not.
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

// failed returns the mean share of requests that failed.
func failed(blocks []Block) (share float64) {
	for _, b := range blocks {
		share += b.Errors / float64(len(blocks))
	}
	return share
}

// Usable says why a baseline must not be compared with what is measured now: an
// error that names every field that differs, with both values.
func (b Baseline) Usable(now Circumstances) error {
	if different := b.Differences(now); len(different) > 0 {
		return errors.New("the baseline was measured in other circumstances than these: " + Differing(different) + " (hint: save it anew here, or --base REF, which measures both sides together)")
	}
	return nil
}

// judgeFailures judges what no metric of speed covers: shares of requests that
// failed, of side a and side b.
func (r *Result) judgeFailures(a, b float64) {
	switch {
	case b > a+mostErrors:
		r.Verdict, r.Why = Regression, fmt.Sprintf("side b fails %.2f %% of its requests, side a %.2f %%", 100*b, 100*a)
	case r.Verdict != Regression && max(a, b) > 0.01:
		r.Verdict, r.Why = Invalid, fmt.Sprintf("%.1f %% of the requests fail on both sides, and failures cost other than answers do", 100*max(a, b))
	}
}
