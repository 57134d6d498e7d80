package forecast

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/redline-go/redline/notation"
)

// Point is one value of a history. NaN stands for an unknown value.
type Point struct {
	Time  time.Time
	Value float64
}

// Grid is a history at equal steps. Values[i] is the value of the step that begins
// at Start + i Step; NaN if there is none.
type Grid struct {
	Start  time.Time
	Step   time.Duration
	Values []float64
	// Remarks say what was corrected, in sentences without a full stop.
	Remarks []string
}

// How several points of one step are combined into a value.
const (
	ByMax  = "max"
	ByMean = "mean"
)

// GridOptions say how points are put on a grid; the zero value is usable.
type GridOptions struct {
	Step time.Duration // zero means the most common distance between points
	By   string        // ByMax or ByMean; "" means ByMax: peaks reach a limit
	// ZeroIsGap takes values of 0 for missing ones.
	ZeroIsGap bool
}

// Bounds of a grid.
const (
	mostSteps = 20_000 // hourly values over two years
	leastStep = time.Second
)

// Regular puts points on a grid. Rows in any order are sorted, of several at one time the
// last is taken, and steps without any are gaps. The error says what is wrong with the
// points.
func Regular(points []Point, o GridOptions) (Grid, error) {
	var g Grid
	points, g.Remarks = ordered(points, o.ZeroIsGap)
	if len(points) < 2 {
		return g, fmt.Errorf("%w: %s with a value", errShort, notation.Counted(int64(len(points)), "point", "points"))
	}
	g.Step = o.Step
	if g.Step == 0 {
		g.Step = distance(points)
		whole := points[len(points)-1].Time.Sub(points[0].Time)
		for _, coarser := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour} {
			if g.Step < coarser && (whole/g.Step >= mostSteps/4 || coarser <= time.Minute) {
				g.Remarks = append(g.Remarks, fmt.Sprintf("points %s apart are combined into steps of %s", g.Step, coarser))
				g.Step = coarser
			}
		}
	}
	if g.Step < leastStep {
		return g, fmt.Errorf("steps of %s are too short: at least %s", g.Step, leastStep)
	}
	g.Start = points[0].Time.Truncate(g.Step)
	steps := int64(points[len(points)-1].Time.Sub(g.Start)/g.Step) + 1
	if steps > mostSteps {
		return g, fmt.Errorf("%s steps of %s are too many: at most %s (hint: a longer --step)",
			notation.Count(steps), g.Step, notation.Count(mostSteps))
	}
	g.collect(points, int(steps), o.By)
	return g, nil
}

// ordered sorts points, and drops those without a value and all but the last at one
// time.
func ordered(points []Point, zeroIsGap bool) (out []Point, remarks []string) {
	sorted := slices.IsSortedFunc(points, func(a, b Point) int { return a.Time.Compare(b.Time) })
	unknown, zeros, twice := 0, 0, 0
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b Point) int { return a.Time.Compare(b.Time) })
	for _, p := range points {
		if p.Value == 0 {
			zeros++
		}
		switch {
		case math.IsNaN(p.Value) || math.IsInf(p.Value, 0):
			unknown++
		case p.Value == 0 && zeroIsGap:
		case len(out) > 0 && out[len(out)-1].Time.Equal(p.Time):
			twice++
			out[len(out)-1] = p
		default:
			out = append(out, p)
		}
	}
	if !sorted {
		remarks = append(remarks, "rows were not in order of time")
	}
	for _, r := range []struct {
		n    int
		what string
	}{{unknown, "without a value"}, {twice, "at the same time as another: the last is taken"}} {
		if r.n > 0 {
			remarks = append(remarks, fmt.Sprintf("%s %s", notation.Counted(int64(r.n), "row", "rows"), r.what))
		}
	}
	switch {
	case zeros > 0 && zeroIsGap:
		remarks = append(remarks, fmt.Sprintf("%s of 0 treated as gaps", notation.Counted(int64(zeros), "value", "values")))
	case zeros > 0:
		remarks = append(remarks, fmt.Sprintf("%s of 0 (hint: --zeros gaps, if nothing was measured then)",
			notation.Counted(int64(zeros), "value", "values")))
	}
	return out, remarks
}

// distance is the median distance between points, which outages and bursts hardly
// affect.
func distance(points []Point) time.Duration {
	all := make([]time.Duration, 0, len(points)-1)
	for i := 1; i < len(points); i++ {
		all = append(all, points[i].Time.Sub(points[i-1].Time))
	}
	slices.Sort(all)
	middle := all[len(all)/2]
	// The times of scrapes are off by milliseconds.
	for _, unit := range []time.Duration{time.Hour, time.Minute, time.Second} {
		if rounded := middle.Round(unit); rounded > 0 && (rounded-middle).Abs() < middle/100 {
			return rounded
		}
	}
	return middle
}

// collect puts ordered points into their steps.
func (g *Grid) collect(points []Point, steps int, by string) {
	g.Values = make([]float64, steps)
	counts := make([]float64, steps)
	for _, p := range points {
		i := int(p.Time.Sub(g.Start) / g.Step)
		switch {
		case by == ByMean:
			g.Values[i] += p.Value
		case counts[i] == 0 || p.Value > g.Values[i]:
			g.Values[i] = p.Value
		}
		counts[i]++
	}
	missing := 0
	for i, n := range counts {
		switch {
		case n == 0:
			g.Values[i] = math.NaN()
			missing++
		case by == ByMean:
			g.Values[i] /= n
		}
	}
	if missing > 0 {
		g.Remarks = append(g.Remarks, fmt.Sprintf("%s of %s have no value and are left open",
			notation.Counted(int64(missing), "step", "steps"), notation.Count(int64(steps))))
	}
}

// at is the beginning of step i; steps from len(Values) on are the future.
func (g Grid) at(i int) time.Time { return g.Start.Add(time.Duration(i) * g.Step) }

// seasons returns the day and the week in steps, if the history contains them three
// times: the third separates season from growth.
func (g Grid) seasons() (out []int, remarks []string) {
	for _, s := range []struct {
		name string
		d    time.Duration
	}{{"day", 24 * time.Hour}, {"week", 7 * 24 * time.Hour}} {
		m := int(s.d / g.Step)
		if s.d%g.Step != 0 || m < 2 || len(out) > 0 && m%out[len(out)-1] != 0 {
			continue
		}
		if len(g.Values) < 3*m {
			remarks = append(remarks, fmt.Sprintf("the history is shorter than three %ss: redline does not look for a season of a %s",
				s.name, s.name))
			continue
		}
		out = append(out, m)
	}
	return out, remarks
}
