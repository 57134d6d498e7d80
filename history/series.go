package history

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify/baseline"
)

// DefaultMaxP is the p-value up to which a change of level is reported: with it a
// history that does not change shows one in hundreds of commits at most.
const DefaultMaxP = 0.001

// LeastPoints is how many commits a series needs before a change is detectable.
const LeastPoints = 4

// Series is one metric over the commits, measured alike all along.
type Series struct {
	Metric   string
	Unit     string
	Higher   bool   // more is better
	Scenario string // the newest result's
	Hash     string
	Kind     Kind // ab stands for gate too
	Machine  record.Host
	Points   []Point
	Changes  []Change
}

// Point is the results of one commit, or a single result that has none.
type Point struct {
	Commit    revision.Commit
	Time      time.Time // of the newest measurement
	Value     float64   // the median of the results
	Low, High float64   // of a single result's 95 % interval; NaN if not known
	Results   int
}

// Change is a lasting change of level.
type Change struct {
	At            int // Points[At] is the first of the new level
	Before, After float64
	P             float64
	Worse         bool
}

// Relative returns the change as a share of the level before it; NaN if that
// was 0.
func (c Change) Relative() float64 {
	if c.Before == 0 {
		return math.NaN()
	}
	return (c.After - c.Before) / math.Abs(c.Before)
}

// Options say how results become series; the zero value is usable.
type Options struct {
	Dirty bool    // take in results of dirty trees, each a point of its own
	MaxP  float64 // of a change; zero means DefaultMaxP
}

// Arrange makes series of results: by metric, scenario, kind and machine, those
// measured last first, metrics in the order in which results have them. Memory
// and time are bounded by the results.
func Arrange(results []Result, o Options) []Series {
	type group struct {
		Series
		results []Result // with the one figure
		last    time.Time
	}
	// Series that differ in the machine alone: those are few.
	type key struct {
		metric, unit, hash string
		kind               Kind
	}
	var groups []*group
	known := map[key][]*group{}
	for _, r := range results {
		if r.Commit.Dirty && !o.Dirty {
			continue
		}
		for _, f := range r.Figures {
			k := key{f.Metric, f.Unit, r.Hash, alike(r.Kind)}
			i := slices.IndexFunc(known[k], func(g *group) bool { return len(baseline.MachineDifferences(g.Machine, r.Machine)) == 0 })
			if i < 0 {
				i = len(known[k])
				g := &group{Series: Series{Metric: f.Metric, Unit: f.Unit, Hash: r.Hash, Kind: k.kind, Machine: r.Machine}}
				groups, known[k] = append(groups, g), append(known[k], g)
			}
			g := known[k][i]
			if !r.Time.Before(g.last) {
				g.last, g.Higher, g.Scenario = r.Time, f.Higher, r.Scenario
			}
			one := r
			one.Figures = []Figure{f}
			g.results = append(g.results, one)
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return b.last.Compare(a.last) })
	out := make([]Series, len(groups))
	for i, g := range groups {
		g.Points = points(g.results)
		g.Changes = changes(g.Points, g.Higher, o.MaxP)
		out[i] = g.Series
	}
	return out
}

// alike is the kind by which a result is compared: a gate measures as ab does.
func alike(k Kind) Kind {
	if k == Gate {
		return AB
	}
	return k
}

// points brings results to one per commit, in the order of the commits' dates;
// where a date is not known, the measurement's stands for it.
func points(results []Result) []Point {
	type key struct {
		commit string
		alone  int // separates results that share no commit
	}
	members := map[key][]Result{}
	var order []key
	for i, r := range results {
		k := key{r.Commit.Hash, 0}
		if r.Commit.Hash == "" || r.Commit.Dirty {
			k.alone = i + 1
		}
		if _, known := members[k]; !known {
			order = append(order, k)
		}
		members[k] = append(members[k], r)
	}
	out := make([]Point, 0, len(order))
	for _, k := range order {
		out = append(out, point(members[k]))
	}
	slices.SortStableFunc(out, func(a, b Point) int {
		return cmp.Or(a.when().Compare(b.when()), a.Time.Compare(b.Time))
	})
	return out
}

func point(results []Result) Point {
	newest := slices.MaxFunc(results, func(a, b Result) int { return a.Time.Compare(b.Time) })
	p := Point{Commit: newest.Commit, Time: newest.Time, Low: math.NaN(), High: math.NaN(), Results: len(results)}
	values := make([]float64, len(results))
	for i, r := range results {
		values[i] = r.Figures[0].Value
	}
	p.Value = stat.Median(values)
	if len(results) == 1 {
		p.Low, p.High = results[0].Figures[0].Low, results[0].Figures[0].High
	}
	return p
}

// when is where a point stands in the history. A dirty tree comes after its
// commit, when it was measured.
func (p Point) when() time.Time {
	if p.Commit.Time.IsZero() || p.Commit.Dirty {
		return p.Time
	}
	return p.Commit.Time
}

func changes(points []Point, higher bool, maxP float64) (out []Change) {
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = p.Value
	}
	if maxP <= 0 {
		maxP = DefaultMaxP
	}
	for _, c := range stat.ChangePoints(values, maxP) {
		out = append(out, Change{At: c.At, Before: c.Before, After: c.After, P: c.P, Worse: (c.After > c.Before) != higher})
	}
	return out
}

// Regressed returns the newest change of a series if it came within the last n
// points and is for the worse.
func (s Series) Regressed(n int) (Change, bool) {
	if len(s.Changes) == 0 {
		return Change{}, false
	}
	last := s.Changes[len(s.Changes)-1]
	return last, last.Worse && last.At >= len(s.Points)-n
}

// Here splits series into those of a machine and those of others.
func Here(all []Series, machine record.Host) (here, others []Series) {
	for _, s := range all {
		if len(baseline.MachineDifferences(machine, s.Machine)) == 0 {
			here = append(here, s)
		} else {
			others = append(others, s)
		}
	}
	return here, others
}
