package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
)

// Side is one version of the service: the plan whose target it is, and the
// binary that was built of it, if one was.
type Side struct {
	Name   string // "a" or "b"
	Plan   *scenario.Plan
	Binary string
}

// Measurer measures one block of a side, launched anew.
type Measurer interface {
	Measure(ctx context.Context, s Side) (Block, error)
}

// Lengths of a block: long enough that a percentile of hundreds of requests per
// second means something, short enough for dozens of launches in some minutes. A
// service's first second is dear (connections, plans, caches): with a warm-up of
// 0.6 s the lab's gateway took 7 % more CPU per request than later, and differed
// more from launch to launch.
const (
	blockDuration = 2 * time.Second
	blockWarmup   = time.Second
)

// Launcher measures blocks by launching the side's target and putting the plan's
// load on it. Only the counters of runtime and process are watched.
type Launcher struct {
	Version string
	// Scratch is a directory for the blocks' bundles, which are removed once read.
	Scratch string
	// Duration and Warmup of a block; zero means 2 s and 1 s. Two sides that take
	// turns share twice the duration, with their rests.
	Duration, Warmup time.Duration
	// Repeated counts the blocks that were measured again, since the generator
	// could not keep up: on a shared machine it now and then misses its turn.
	Repeated int

	blocks int
}

// attempts at a block that the generator spoilt: a neighbour's burst is over by
// then, a generator that is too slow for the side is not.
const attempts = 3

// Measure runs one block, again if the generator spoilt it. An error means that
// the side could not be measured at all: it did not start, or ended meanwhile; a
// *run.Ended tells the latter.
func (l *Launcher) Measure(ctx context.Context, s Side) (Block, error) {
	for attempt := 1; ; attempt++ {
		b, err := l.measure(ctx, s)
		if err != nil || !strings.HasPrefix(b.Void, tooSlow) || attempt == attempts {
			return b, err
		}
		l.Repeated++
	}
}

func (l *Launcher) measure(ctx context.Context, s Side) (Block, error) {
	return l.block(ctx, s, l.plan(s), l.dir(s), meeting{})
}

// plan is a side's, with load for the length of a block.
func (l *Launcher) plan(s Side) *scenario.Plan {
	plan := *s.Plan
	plan.Load.Duration, plan.Load.Warmup, plan.Load.Stages, plan.Load.Requests = l.Duration, l.Warmup, nil, 0
	if plan.Load.Duration <= 0 {
		plan.Load.Duration = blockDuration
	}
	if plan.Load.Warmup <= 0 {
		plan.Load.Warmup = blockWarmup
	}
	plan.Export, plan.Thresholds = scenario.Export{}, nil
	return &plan
}

// dir names the directory of the next block.
func (l *Launcher) dir(s Side) string {
	l.blocks++
	return filepath.Join(l.Scratch, fmt.Sprintf("%04d-%s", l.blocks, s.Name))
}

// block launches a side's target for a plan and makes a block of the run. The
// clock and what the load waits for once the target is ready are the run's own
// unless they are given.
func (l *Launcher) block(ctx context.Context, s Side, plan *scenario.Plan, dir string, m meeting) (Block, error) {
	defer os.RemoveAll(dir)
	err := run.Run(ctx, run.Options{Plan: plan, Dir: dir, Version: l.Version, Binary: s.Binary, Counters: true, Clock: m.clock, Await: m.await})
	if ctx.Err() != nil {
		return Block{}, context.Cause(ctx)
	}
	if err != nil {
		return Block{}, fmt.Errorf("side %s: %w", s.Name, err)
	}
	return readBlock(dir)
}

// readBlock makes a block of a bundle.
func readBlock(dir string) (Block, error) {
	rec, err := record.Open(dir)
	if err != nil {
		return Block{}, err
	}
	var summary record.Summary
	if err := rec.ReadJSON(record.SummaryFile, &summary); err != nil {
		return Block{}, err
	}
	b := Block{Values: map[string]float64{}, Errors: errorShare(summary.Load)}
	if b.Void = void(summary); b.Void != "" {
		return b, nil
	}
	served := float64(summary.Load.Requests - summary.Load.Errors)
	b.Values["throughput"] = summary.Load.Rate
	f := figures{rec: rec}
	cpu := f.sum("/process/cpu/user:cpu-seconds", "/process/cpu/system:cpu-seconds")
	if !(cpu > 0) {
		cpu = f.sum(record.ProcessUser, record.ProcessSystem)
	}
	b.put("cpu_per_request", cpu/served)
	b.put("allocs_per_request", f.sum("/gc/heap/allocs:objects")/served)
	b.put("bytes_per_request", f.sum("/gc/heap/allocs:bytes")/served)
	b.put("gc_cpu", f.sum("/cpu/classes/gc/total:cpu-seconds")/cpu)
	b.put("rss", f.mean(record.ProcessRSS))
	if h, err := rec.Histogram("", record.Latency, rec.Run.Steady); err == nil {
		b.Latency = Latencies{}
		for _, bar := range h.Distribution() {
			if bar.Count > 0 {
				b.Latency.Add(bar.To, bar.Count)
			}
		}
	}
	return b, nil
}

// put keeps a value that is a number above zero; what is not was not seen.
func (b Block) put(name string, v float64) {
	if v > 0 && v <= 1e300 {
		b.Values[name] = v
	}
}

func errorShare(l record.LoadSummary) float64 {
	if l.Requests == 0 {
		return 1
	}
	return float64(l.Errors) / float64(l.Requests)
}

// tooSlow begins why a block does not count when the generator is to blame.
const tooSlow = "the generator could not keep up"

// void tells why a block must not be compared.
func void(s record.Summary) string {
	switch {
	case s.Load.Requests == 0:
		return "the scenario loaded nothing: no request ended within the block (hint: a longer --block, or more load)"
	case s.Load.Requests == s.Load.Errors:
		return "every request failed" + failures(s.Load)
	case s.Generator.Unanswered != "" && len(s.Generator.WhyInvalid) > 0 && s.Generator.WhyInvalid[0] == s.Generator.Unanswered:
		return s.Generator.Unanswered
	case !s.Generator.Valid && len(s.Generator.WhyInvalid) > 0:
		return tooSlow + ": " + s.Generator.WhyInvalid[0]
	}
	return ""
}

// figures reads series of a block's steady span.
type figures struct{ rec *record.Record }

// sum returns the amount of counters together; 0 when one was not recorded.
func (f figures) sum(names ...string) (total float64) {
	for _, name := range names {
		amount, present := record.Sum(f.rec.Series(name, "", f.rec.Run.Steady))
		if present == 0 {
			return 0
		}
		total += amount
	}
	return total
}

func (f figures) mean(name string) float64 {
	amount, present := record.Sum(f.rec.Series(name, "", f.rec.Run.Steady))
	if present == 0 {
		return 0
	}
	return amount / float64(present)
}
