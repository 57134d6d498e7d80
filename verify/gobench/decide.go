package gobench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/compiler"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
)

const (
	// power is how often the smallest detectable change is found, as in verify.
	power = 0.80 // as in verify: how often the smallest detectable change is found
	// leastObject is the smallest object of the allocator, bytes: fewer per
	// iteration are set-up, spread over all of them.
	leastObject = 8
)

// The units that every benchmark has with -benchmem.
const (
	perOp    = "sec/op"
	bytesOp  = "B/op"
	allocsOp = "allocs/op"
)

// compared is one metric of one benchmark, with a value per round: of both sides,
// and of side a launched twice (same).
type compared struct {
	of     *benchmark
	metric verify.Metric // its name is unique in the session
	unit   string
	sides  [2][]float64
	same   [2][]float64
}

// report assesses what was measured. Lists are never nil, so that bench.json has []
// for none.
func (s *session) report(ctx context.Context) *Report {
	r := &Report{
		Schema: Schema, Rounds: s.rounds, Planned: s.planned, BenchTime: s.o.BenchTime, Alpha: alpha, Margin: s.o.Margin,
		Begun: s.begun, Host: record.HostInfo(), Go: compiler.Version(ctx, s.o.Dir), Tags: s.o.Tags,
		Cores: runtime.NumCPU(), Missing: s.missing, Benchmarks: []Benchmark{}, Warnings: []string{},
		AA: verify.AA{Different: []string{}},
	}
	if r.Missing == nil {
		r.Missing = []Missing{}
	}
	for _, side := range s.sides {
		r.Sides = append(r.Sides, SideReport{Name: side.name, Source: side.Side.String(),
			Commit: side.tree.Commit, Dirty: side.tree.Dirty, Environment: side.Side.variables()})
	}
	list := slices.Clone(s.list)
	for _, b := range list {
		r.Benchmarks = append(r.Benchmarks, Benchmark{Package: b.pkg, Name: b.title(), Procs: b.procs(),
			Iterations: b.iterations(), Traps: []Trap{}, Metrics: []Metric{}})
	}
	if len(s.sides) == 2 {
		s.compare(r, list)
	} else {
		s.describe(r, list)
	}
	s.explain(ctx, r, list)
	s.conclude(r)
	r.Interrupted = ctx.Err() != nil
	return r
}

func (b *benchmark) launches() []launch { return slices.Concat(b.series[0], b.series[1]) }

func (b *benchmark) procs() int {
	most := 0
	for _, l := range b.launches() {
		most = max(most, l.procs)
	}
	return most
}

// iterations is the median b.N of the side that has fewer, 0 if nothing was
// measured.
func (b *benchmark) iterations() int {
	least := 0
	for _, series := range b.series {
		var n []float64
		for _, l := range series {
			n = append(n, float64(l.result.Iters))
		}
		if len(n) > 0 {
			// The side with fewer iterations decides whether there are enough: it
			// is the slower one.
			if m := int(stat.Median(n)); least == 0 || m < least {
				least = m
			}
		}
	}
	return least
}

// units lists the units that a benchmark has in any round, the usual ones first. A
// metric may be reported by some rounds only, if the benchmark itself decides.
func (b *benchmark) units() (all []string) {
	for _, l := range b.launches() {
		for _, v := range l.result.Values {
			if !slices.Contains(all, v.Unit) {
				all = append(all, v.Unit)
			}
		}
	}
	usual := []string{perOp, bytesOp, allocsOp}
	slices.SortStableFunc(all, func(a, b string) int {
		ia, ib := slices.Index(usual, a), slices.Index(usual, b)
		return cmp.Compare(uint(ia), uint(ib)) // -1 is last
	})
	return all
}

// values returns one value per launch; NaN where a launch did not report the unit.
func values(series []launch, unit string) (out []float64) {
	for _, l := range series {
		v, ok := l.result.Value(unit)
		if !ok {
			v = math.NaN()
		}
		out = append(out, v)
	}
	return out
}

// metrics returns the metrics of a benchmark with their directions: those that
// testing prints are known, a rate per second is better if higher, a cost per
// operation if lower, and a Unit line gives the direction of a benchmark's own
// metric (package benchfmt: unit metadata). Changes of a unit without a
// direction are reported and decide nothing.
//
// Two are advisory. Throughput in bytes is the time in another unit, and would
// count each change twice. Bytes per operation without an allocation per operation
// are what set-up and the runtime allocated, spread over b.N, which differs between
// rounds.
func (s *session) metrics(b *benchmark) (all []compared) {
	for _, unit := range b.units() {
		better := s.files.units.GetBetter(unit)
		// Without a Unit line the suffix decides, by the custom of Go's benchmarks.
		if better == 0 && strings.HasSuffix(unit, "/s") {
			better = 1
		}
		if better == 0 && strings.HasSuffix(unit, "/op") {
			better = -1
		}
		c := compared{of: b, unit: unit, metric: verify.Metric{
			Name: b.String() + " " + unit, Unit: unit, Higher: better > 0, Margin: s.o.Margin, Asked: true,
			Advisory: better == 0 || unit == "B/s" || unit == bytesOp && b.objectless(),
		}}
		for i := range 2 {
			c.sides[i], c.same[i] = values(b.series[i], unit), values(b.same[i], unit)
		}
		all = append(all, c)
	}
	return all
}

// objectless reports whether every round had less than one allocation per
// operation.
func (b *benchmark) objectless() bool {
	return !slices.ContainsFunc(b.launches(), func(l launch) bool {
		v, ok := l.result.Value(allocsOp)
		return !ok || v > 0
	})
}

// lift makes room for logarithms where values are sometimes zero: the smallest step of the unit is added to all of them,
// so that from none to one step is a doubling. Allocations come one by one; of what a benchmark reports itself, such as
// a share, the smallest value that it had is taken.
func (c *compared) lift() {
	all := [][]float64{c.sides[0], c.sides[1], c.same[0], c.same[1]}
	zero := slices.ContainsFunc(all, func(v []float64) bool { return slices.Contains(v, 0) })
	if !zero {
		return
	}
	step := 1.0
	if c.unit != allocsOp && c.unit != bytesOp {
		step = smallest(all)
	}
	for i, series := range all {
		lifted := slices.Clone(series)
		for j, v := range lifted {
			// Less than the smallest object per operation cannot be an allocation
			// of each operation: it is set-up, spread over b.N, and differs between
			// rounds.
			if c.unit == bytesOp && v < leastObject {
				v = 0
			}
			lifted[j] = v + step
		}
		*[]*[]float64{&c.sides[0], &c.sides[1], &c.same[0], &c.same[1]}[i] = lifted
	}
}

// smallest is the lowest value above zero; 0 without any.
func smallest(all [][]float64) float64 {
	least := math.Inf(1)
	for _, v := range slices.Concat(all...) {
		if v > 0 {
			least = min(least, v)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// constant reports whether a metric was the same on both sides in every round. Then
// nothing is left to decide, and the others need not share their error rate with it
// (Holm): allocs/op of most benchmarks is constant.
func (c compared) constant() bool {
	for i, a := range c.sides[0] {
		if !(a == c.sides[1][i]) {
			return false
		}
	}
	for i, a := range c.same[0] {
		if !(a == c.same[1][i]) {
			return false
		}
	}
	return len(c.sides[0]) > 0
}

// compare decides over all metrics of all benchmarks together. A session of a
// hundred benchmarks makes two hundred tests; without the correction one in a
// hundred would report a regression that is none, and every session would.
func (s *session) compare(r *Report, list []*benchmark) {
	var open []compared
	where := map[string]*Metric{}
	for i, b := range list {
		all := s.metrics(b)
		r.Benchmarks[i].Metrics = make([]Metric, len(all))
		for j, c := range all {
			m := &r.Benchmarks[i].Metrics[j]
			m.MetricResult = verify.MetricResult{Name: c.unit, Unit: c.unit, Margin: c.metric.Margin,
				Advisory: c.metric.Advisory, Verdict: verify.Pass, Why: "the same in every round"}
			m.Higher = c.metric.Higher
			// Medians are taken before lift adds to them: the table shows what was
			// measured.
			m.A, m.B = median(c.sides[0]), median(c.sides[1])
			c.lift()
			if c.constant() {
				continue
			}
			where[c.metric.Name] = m
			open = append(open, c)
		}
	}
	if s.rounds == 0 {
		return
	}
	metrics, pairs, same := together(open, s.rounds, s.same)
	rules := s.o.rules(metrics)
	// One look: all rounds are measured before anything is decided, so no error
	// rate is spent on earlier looks.
	for _, decided := range verify.Decide(pairs, same, 1, rules).Metrics {
		m := where[decided.Name]
		decided.Name, decided.A, decided.B = m.Name, m.A, m.B
		m.MetricResult = decided
	}
	tests := 0
	for _, c := range open {
		m := where[c.metric.Name]
		m.Noise = noise(c.same)
		if !m.Advisory {
			tests++
		}
	}
	for _, m := range where {
		// However clear the change, so few rounds cannot be significant among so
		// many tests; saying so spares a search for noise.
		if !m.Advisory && m.Verdict == verify.Inconclusive && !decidable(s.rounds, tests) {
			m.Why = fmt.Sprintf("%d rounds cannot detect a change among %d comparisons", s.rounds, tests)
		}
	}
	r.AA = verify.Errors(same, nil, s.rounds, rules)
	for i := range r.Benchmarks {
		r.Benchmarks[i].conclude()
	}
}

// together turns the metrics' rounds into pairs of blocks, the form that verify
// decides on. Values that are missing are left out of their block.
func together(open []compared, rounds, sameRounds int) (metrics []verify.Metric, pairs, same []verify.Pair) {
	block := func(n int, of func(c compared) []float64) verify.Block {
		b := verify.Block{Values: map[string]float64{}}
		for _, c := range open {
			if v := of(c); n < len(v) && !math.IsNaN(v[n]) {
				b.Values[c.metric.Name] = v[n]
			}
		}
		return b
	}
	for _, c := range open {
		metrics = append(metrics, c.metric)
	}
	for n := range rounds {
		pairs = append(pairs, verify.Pair{
			A: block(n, func(c compared) []float64 { return c.sides[0] }), B: block(n, func(c compared) []float64 { return c.sides[1] }),
		})
	}
	for n := range sameRounds {
		same = append(same, verify.Pair{
			A: block(n, func(c compared) []float64 { return c.same[0] }), B: block(n, func(c compared) []float64 { return c.same[1] }),
		})
	}
	return metrics, pairs, same
}

// decidable reports whether the signed-rank test of so many rounds, all with one
// sign, is significant as the first of so many tests by Holm: its smallest
// two-sided p is 2^(1-n).
func decidable(rounds, tests int) bool {
	return math.Pow(2, 1-float64(rounds))*float64(max(1, tests)) <= alpha
}

// conclude makes a benchmark's verdict from its metrics: the worst that is not
// advisory. Without a metric it is inconclusive.
func (b *Benchmark) conclude() {
	// From best to worst. Inconclusive is worse than an improvement: what is open
	// may be a regression.
	rank := []verify.Verdict{verify.Pass, verify.Improvement, verify.Inconclusive, verify.Regression}
	b.Verdict = verify.Pass
	for _, m := range b.Metrics {
		if !m.Advisory && slices.Index(rank, m.Verdict) > slices.Index(rank, b.Verdict) {
			b.Verdict = m.Verdict
		}
	}
	if len(b.Metrics) == 0 {
		b.Verdict = verify.Inconclusive
	}
}

// describe adds the typical values of a side measured alone, their spread, and the
// change that a comparison of as many rounds would detect.
func (s *session) describe(r *Report, list []*benchmark) {
	for i, b := range list {
		for _, c := range s.metrics(b) {
			m := Metric{MetricResult: verify.MetricResult{Name: c.unit, Unit: c.unit, Margin: c.metric.Margin,
				Advisory: c.metric.Advisory, Higher: c.metric.Higher}}
			m.A = median(c.sides[0])
			m.B = m.A
			if logs, ok := logarithms(c.sides[0]); ok {
				if _, low, high, known := stat.SignedRankInterval(logs, 0.95); known {
					m.Spread = [2]float64{math.Exp(low), math.Exp(high)}
				}
				// Rounds that follow each other are pairs of identical sides.
				var a, b []float64
				for n := 1; n < len(c.sides[0]); n += 2 {
					a, b = append(a, c.sides[0][n-1]), append(b, c.sides[0][n])
				}
				m.Noise = noise([2][]float64{a, b})
				// What a comparison would need to see is the point of measuring one
				// side: it shows whether the benchmark is fit to be compared.
				if mde := stat.DetectableEffect(math.Log1p(m.Noise), s.rounds, alpha, power); mde > 0 {
					m.MDE = math.Expm1(mde)
				}
			}
			r.Benchmarks[i].Metrics = append(r.Benchmarks[i].Metrics, m)
		}
	}
}

// noise is the standard deviation of the relative difference of pairs, as a ratio
// (0.02 is 2 %); 0 if there are fewer than two pairs.
func noise(pairs [2][]float64) float64 {
	a, okA := logarithms(pairs[0])
	b, okB := logarithms(pairs[1])
	if !okA || !okB || len(a) < 2 {
		return 0
	}
	for i := range a {
		a[i] -= b[i]
	}
	return math.Expm1(stat.Deviation(a))
}

// logarithms returns the values' logarithms: differences of logarithms are relative
// changes, and symmetric. false if a value is not positive.
func logarithms(v []float64) ([]float64, bool) {
	out := make([]float64, len(v))
	for i, x := range v {
		if !(x > 0) || math.IsInf(x, 0) {
			return nil, false
		}
		out[i] = math.Log(x)
	}
	return out, len(out) > 0
}

// median is the median of the values that are not NaN; 0 for none.
func median(v []float64) float64 {
	if m := stat.Median(v); !math.IsNaN(m) {
		return m
	}
	return 0
}
