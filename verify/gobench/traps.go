package gobench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify/gobench/loops"
)

// Thresholds of the traps. Each is where a figure is off by about as much as a
// usual margin, or where it says nothing any more.
const (
	// emptyLoop and fastest are in seconds: an iteration of a loop that does
	// nothing takes one cycle, about 0.3 ns, and no work whose result was thrown
	// away takes less than 1 ns.
	emptyLoop, fastest = 0.5e-9, 1e-9
	// timedSetUp is the part of the measured time that set-up may take.
	timedSetUp = 0.02
	// insideSetUp is the part of the CPU that preparing an iteration may take.
	insideSetUp = 0.25
	// collecting and allocating are the parts of the CPU from which a change
	// elsewhere hardly shows.
	collecting, allocating = 0.25, 0.60
	// fewestRuns is the least b.N: with fewer, the first, cold iterations are in
	// the figure.
	fewestRuns = 10
	// driftLevel is the significance of a drift. It is strict because its position
	// is searched for.
	driftLevel    = 1e-5
	mostPositions = 3
)

// explain profiles, reads the sources and looks for traps. What it cannot find out
// becomes a warning: the figures are valid without it.
func (s *session) explain(ctx context.Context, r *Report, list []*benchmark) {
	if s.rounds == 0 || len(list) == 0 {
		return
	}
	timed, stop := context.WithDeadlineCause(ctx, s.begun.Add(s.o.MaxTime), ErrTime)
	defer stop()
	if s.o.Profiles > 0 {
		if err := s.profiles(timed, r, list); err != nil {
			r.Warnings = append(r.Warnings, fmt.Sprintf("not every benchmark is profiled: %v", err))
		}
	}
	last := s.sides[len(s.sides)-1]
	patterns := []string{}
	for _, b := range list {
		if !slices.Contains(patterns, b.pkg) {
			patterns = append(patterns, b.pkg)
		}
	}
	read, err := loops.Read(ctx, last.tree.Dir, s.o.Tags, patterns)
	if err != nil {
		r.Warnings = append(r.Warnings, err.Error())
	}
	for i, b := range list {
		j := decided{b: b, out: &r.Benchmarks[i], cores: runtime.NumCPU(), margin: s.o.Margin, chosen: len(s.o.CPU) > 0}
		for _, l := range read[b.pkg] {
			if l.Of(b.function(), b.name) {
				j.loops = append(j.loops, l)
			}
		}
		// Only suspects are launched again; for the others the time is better spent
		// on rounds.
		if j.suspectSetUp() {
			if j.once, err = s.once(ctx, last, b); err != nil {
				j.once = 0 // the session ends: not judged
			}
		}
		j.look(last.name)
	}
}

// once measures a single iteration with its set-up, three times, and returns the
// shortest: by then lazy initialisation is over.
func (s *session) once(ctx context.Context, side *built, b *benchmark) (time.Duration, error) {
	args := []string{"-test.benchtime=1x", "-test.count=3"}
	if b.cpu > 0 {
		args = append(args, fmt.Sprintf("-test.cpu=%d", b.cpu))
	}
	out, err := side.binaries[b.pkg].launch(ctx, b.pattern(), args...)
	if err != nil {
		return 0, err
	}
	least := time.Duration(0)
	for _, result := range out.results {
		sec, ok := result.Value(perOp)
		if _, is := procs(string(result.Name), b.name); !ok || !is {
			continue
		}
		if d := time.Duration(sec * 1e9); least == 0 || d < least {
			least = d
		}
	}
	return least, nil
}

// decided is a benchmark with its verdict, checked for traps.
type decided struct {
	b      *benchmark
	out    *Benchmark
	loops  []loops.Loop // that it may be
	once   time.Duration
	cores  int
	margin float64
	chosen bool // --cpu
}

func (j *decided) add(t Trap) { j.out.Traps = append(j.out.Traps, t) }

// seconds are the median times of an iteration, by side.
func (j *decided) seconds() (all []float64) {
	for _, series := range j.b.series {
		if len(series) > 0 {
			all = append(all, median(values(series, perOp)))
		}
	}
	return all
}

// are reports whether every loop that the benchmark may be has a property. Where
// several may be, all must: a trap is not guessed.
func (j *decided) are(has func(loops.Loop) bool) bool {
	return len(j.loops) > 0 && !slices.ContainsFunc(j.loops, func(l loops.Loop) bool { return !has(l) })
}

func (j *decided) suspectSetUp() bool {
	return j.are(func(l loops.Loop) bool { return len(l.Before) > 0 })
}

// look finds the traps. side is the one whose sources were read.
func (j *decided) look(side string) {
	j.dropped()
	j.setUp(side)
	j.prepared(side)
	j.collects()
	j.few()
	j.drifts()
	j.overcommitted()
}

// dropped finds work that the compiler removed: the time of an empty loop, and a
// result that is not used. Time alone decides only where it is that of nothing at
// all.
func (j *decided) dropped() {
	// The fastest launch: other programs on the CPU make work of nothing, and no
	// launch makes nothing of work.
	var all []float64
	for _, series := range j.b.series {
		all = append(all, values(series, perOp)...)
	}
	if len(all) == 0 || !j.are(func(l loops.Loop) bool { return l.Kind == loops.Counted }) {
		return
	}
	least := slices.Min(all)
	unused := j.are(func(l loops.Loop) bool { return len(l.Dropped) > 0 })
	switch {
	case least <= 0 || least >= fastest || !unused && least >= emptyLoop:
		return
	case unused:
		// Any of the loops will do as an example: all have the property.
		at := j.loops[0].Dropped[0]
		j.add(Trap{Kind: Dropped, Where: at.String(),
			Evidence: fmt.Sprintf("an iteration takes %s, as an empty loop does, and the result of %s is unused",
				amount(least, perOp), named(at)),
			Remedy: "Write the loop as for b.Loop() { ... }, which keeps results alive, or assign the " +
				"result to a package variable after the loop."})
	default:
		j.add(Trap{Kind: Dropped, Where: j.loops[0].Where(),
			Evidence: fmt.Sprintf("an iteration takes %s, as an empty loop does", amount(least, perOp)),
			Remedy: "Write the loop as for b.Loop() { ... }, which keeps the work, with input that the compiler cannot " +
				"compute beforehand."})
	}
}

func named(p loops.Position) string {
	if p.Text == "" {
		return "the expression"
	}
	return p.Text
}

// setUp finds set-up inside the measured time, by the difference between one
// iteration and one of many. It takes sources and times to agree: a slow first
// iteration is mostly a cold cache.
func (j *decided) setUp(side string) {
	if !j.suspectSetUp() || j.once <= 0 {
		return
	}
	series := j.b.series[1]
	if len(series) == 0 {
		series = j.b.series[0]
	}
	var totals, each []float64
	for _, l := range series {
		sec, _ := l.result.Value(perOp)
		totals, each = append(totals, sec*float64(l.result.Iters)), append(each, sec)
	}
	// The shortest of each, as the single iteration is the shortest of three.
	total, op := slices.Min(totals), slices.Min(each)
	// One iteration with set-up, less an iteration of many: what is left is set-up.
	before := j.once.Seconds() - op
	// A single iteration that is a little slow is a cold one.
	if !(total > 0) || before/total < timedSetUp || before < 10*op && len(j.b.series) > 0 && median(iters(series)) > 10 {
		return
	}
	at := j.loops[0].Before[0]
	j.add(Trap{Kind: SetUpBefore, Side: side, Where: at.String(),
		Evidence: fmt.Sprintf("%s before the loop is timed: one iteration with it takes %s, one of many %s; "+
			"it is %s of the measured time, and less with a longer --benchtime",
			named(at), amount(j.once.Seconds(), perOp), amount(op, perOp), notation.Percent(min(1, before/total))),
		Remedy: "Call b.ResetTimer() after the set-up, or write the loop as for b.Loop() { ... }, which times the loop alone."})
}

func iters(series []launch) (n []float64) {
	for _, l := range series {
		n = append(n, float64(l.result.Iters))
	}
	return n
}

// prepared finds input that is made in every iteration, by the profile's share of
// the line.
func (j *decided) prepared(side string) {
	p := j.profile(side)
	if p == nil || !j.are(func(l loops.Loop) bool { return len(l.Inside) > 0 }) {
		return
	}
	for _, at := range j.loops[0].Inside[:min(mostPositions, len(j.loops[0].Inside))] {
		// The place counts with all that it calls: samples that have its lines
		// anywhere on their stack.
		if share := p.lines(at); share >= insideSetUp {
			j.add(Trap{Kind: SetUpInside, Side: side, Where: at.String(),
				Evidence: fmt.Sprintf("%s is called in every iteration with the same arguments and takes %s of the CPU",
					named(at), notation.Percent(share)),
				Remedy: "Make it once before the loop if the work leaves it as it was; otherwise also measure it alone, and subtract."})
		}
	}
}

// profile is that of a side, nil if there is none that says something.
func (j *decided) profile(side string) *ProfileSide {
	if j.out.Profile == nil {
		return nil
	}
	for i := range j.out.Profile.Sides {
		if p := &j.out.Profile.Sides[i]; p.Side == side && p.Samples >= leastSamples {
			return p
		}
	}
	return nil
}

// collects finds benchmarks whose time is the collector's, which a change elsewhere
// moves little and GOGC a lot.
func (j *decided) collects() {
	var evidence, on []string
	for _, side := range []string{"a", "b"} {
		if p := j.profile(side); p != nil && (p.Collecting >= collecting || p.Collecting+p.Allocating >= allocating) {
			evidence = append(evidence, fmt.Sprintf("garbage collection takes %s of the CPU and "+
				"allocation %s more, of %d samples", notation.Percent(p.Collecting), notation.Percent(p.Allocating), p.Samples))
			on = append(on, side)
		}
	}
	if len(evidence) == 0 {
		return
	}
	j.add(Trap{Kind: Collecting, Side: strings.Join(on, ", "), Evidence: evidence[len(evidence)-1],
		Remedy: "Judge allocs/op and B/op first, because time follows them and the collector's pace; for the " +
			"rest of the work compare with GOGC=off on both sides (--env-a, --env-b)."})
}

// few finds benchmarks whose rounds have too few iterations.
func (j *decided) few() {
	n := j.out.Iterations
	if n >= fewestRuns || n == 0 {
		return
	}
	slow := slices.Max(append(j.seconds(), 0))
	j.add(Trap{Kind: FewRuns,
		Evidence: fmt.Sprintf("a round has %s, so its first, cold ones are in the figure", plural(n, "iteration")),
		Remedy:   fmt.Sprintf("Give each round more time: --benchtime %s.", benchTimeFor(slow))})
}

// benchTimeFor returns a rounded --benchtime with enough iterations of so many
// seconds, an hour at most.
func benchTimeFor(seconds float64) time.Duration {
	d := time.Duration(math.Min(2*fewestRuns*seconds, 3600) * 1e9)
	switch {
	case d >= 10*time.Second:
		return (d + time.Second - 1).Truncate(time.Second)
	case d >= time.Second:
		return (d + 100*time.Millisecond - 1).Truncate(100 * time.Millisecond)
	}
	return max(100*time.Millisecond, (d + 10*time.Millisecond - 1).Truncate(10*time.Millisecond))
}

// drifts looks for a lasting change between rounds that both sides share: the
// machine's, not the code's. Pairs cancel it in the comparison, but the figures of
// the table contain it.
func (j *decided) drifts() {
	// The mean of both sides' logarithms: a change of the code cancels in rounds
	// that both have, a drift of the machine does not.
	logs, ok := logarithms(values(j.b.series[0], perOp))
	if other, both := logarithms(values(j.b.series[1], perOp)); ok && both && len(other) == len(logs) {
		for i := range logs {
			logs[i] = (logs[i] + other[i]) / 2
		}
	}
	if !ok {
		return
	}
	for _, c := range stat.ChangePoints(logs, driftLevel) {
		by := math.Expm1(c.After - c.Before)
		if math.Abs(c.After-c.Before) < math.Log1p(j.margin)/2 {
			continue
		}
		word := "slower"
		if by < 0 {
			word, by = "faster", -math.Expm1(c.Before-c.After)
		}
		j.add(Trap{Kind: Drift,
			Evidence: fmt.Sprintf("from round %d on it is %s %s than before, whichever side", c.At+1, notation.Tenths(math.Abs(by)), word),
			Remedy: "Let the machine settle (other programs, a cold start, the CPU's frequency and " +
				"temperature) and measure again; paired rounds keep most of it out of a comparison, not out " +
				"of the figures themselves."})
		return
	}
}

// overcommitted finds GOMAXPROCS above the cores, if the benchmark runs in parallel
// or the user chose it.
func (j *decided) overcommitted() {
	parallel := j.are(func(l loops.Loop) bool { return l.Kind == loops.Parallel })
	// A serial benchmark at the default GOMAXPROCS does not use the other
	// processors.
	if j.out.Procs <= j.cores || !parallel && !j.chosen {
		return
	}
	where := ""
	if parallel {
		where = j.loops[0].Where()
	}
	j.add(Trap{Kind: Overcommit, Where: where,
		Evidence: fmt.Sprintf("GOMAXPROCS is %d and the machine has %s", j.out.Procs, plural(j.cores, "core")),
		Remedy:   fmt.Sprintf("Use --cpu %d at most: beyond the cores it measures the operating system's scheduler.", j.cores)})
}
