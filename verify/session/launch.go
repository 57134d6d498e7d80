package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/verify"
)

// Side is one version of the service: the plan with its target, and the binary
// built for it; empty if the plan starts one itself.
type Side struct {
	Name   string // "a" or "b"
	Plan   *scenario.Plan
	Binary string
	// Sum is part of the Binary's hash if no commit identifies it; empty otherwise.
	Sum string
	// Prepare, if set, is called with the plan of a block once the side's target is ready, before any
	// load. An error ends the block as if the target had failed.
	Prepare func(context.Context, *scenario.Plan) error
}

// Measurer measures one block of a newly launched side: a process keeps its luck
// with memory layout, hash seeds and scheduling for its life, so blocks of one
// process are not independent (Kalibera and Jones, Rigorous Benchmarking in
// Reasonable Time, 2013).
type Measurer interface {
	Measure(ctx context.Context, s Side) (verify.Block, error)
}

// Lengths of a block: long enough that a percentile of hundreds of requests per
// second means something, short enough for dozens of launches in some minutes. A
// service's first second is expensive (connections, plans, caches): with a warm-up
// of 0.6 s the lab's gateway took 7 % more CPU per request than later, and varied
// more from launch to launch.
const (
	blockDuration = 2 * time.Second
	blockWarmup   = time.Second
)

// Launcher measures blocks by launching the side's target and putting the plan's
// load on it. Only the counters of runtime and process are observed.
type Launcher struct {
	Version string
	// Scratch is a directory for the blocks' bundles, which are removed once read.
	Scratch string
	// Duration and Warmup of a block; zero means 2 s and 1 s. Two sides that take
	// turns share twice the duration, with their rests.
	Duration, Warmup time.Duration
	// Repeated counts the blocks that were measured again because the generator
	// could not keep up: on a shared machine it now and then gets no CPU in time.
	Repeated int

	blocks int
}

// attempts is how often a block that the generator spoilt is measured: another
// program's burst is over by then, whereas a generator that is too slow stays so.
const attempts = 3

// Measure runs one block, and again if the generator spoilt it. The error is for a
// side that could not be measured at all: it did not start, or ended early (a
// *run.Ended).
func (l *Launcher) Measure(ctx context.Context, s Side) (b verify.Block, err error) {
	err = l.repeat(func() (void, err error) {
		b, void, err = l.block(ctx, s, l.plan(s), l.dir(s), meeting{})
		return void, err
	})
	return b, err
}

// repeat calls measure, and again as long as the generator spoils it: void is why a
// measurement does not count, nil if it does.
func (l *Launcher) repeat(measure func() (void, err error)) error {
	for attempt := 1; ; attempt++ {
		void, err := measure()
		var spoilt *spoiltError
		if err != nil || !errors.As(void, &spoilt) || attempt == attempts {
			return err
		}
		l.Repeated++
	}
}

// plan returns the side's plan with the load of a block. Stages, exports and
// thresholds belong to a run, not to a block.
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

// block launches a side's target for a plan and makes a block of the run; void is
// why it does not count. A zero meeting leaves the clock, and when the load starts,
// to the run.
func (l *Launcher) block(ctx context.Context, s Side, plan *scenario.Plan, dir string, m meeting) (b verify.Block, void, err error) {
	defer os.RemoveAll(dir)
	if s.Prepare != nil {
		meet := m.await
		m.await = func(ctx context.Context) (start time.Duration, err error) {
			if err := s.Prepare(ctx, plan); err != nil || meet == nil {
				return 0, err
			}
			return meet(ctx)
		}
	}
	err = run.Run(ctx, run.Options{Plan: plan, Dir: dir, Version: l.Version, Binary: s.Binary, Counters: true,
		Clock: m.clock, Await: m.await})
	if ctx.Err() != nil {
		return verify.Block{}, nil, context.Cause(ctx)
	}
	if err != nil {
		return verify.Block{}, nil, fmt.Errorf("side %s: %w", s.Name, err)
	}
	b, void, err = readBlock(dir)
	if err == nil && void == nil && m.own.each > 0 {
		b.Turns, err = readTurns(dir, m.own)
	}
	return b, void, err
}

// observedBlocks is how many times as long as a block a side is observed: 10 s give a CPU profile of a
// thousand samples of a busy CPU.
const observedBlocks = 5

// Observe launches a side once more, with every source, and leaves the bundle of that run in dir. Profiles
// and traces add to the cost that a comparison measures, so this run is none of its blocks and decides
// nothing.
func (l *Launcher) Observe(ctx context.Context, s Side, dir string) error {
	plan := l.plan(s)
	plan.Load.Duration = observedBlocks * cmp.Or(max(0, l.Duration), blockDuration)
	plan.Load.Warmup = max(plan.Load.Warmup, time.Second) // the first second is expensive
	o := run.Options{Plan: plan, Dir: dir, Version: l.Version, Binary: s.Binary}
	if s.Prepare != nil {
		o.Await = func(ctx context.Context) (time.Duration, error) { return 0, s.Prepare(ctx, plan) }
	}
	return run.Run(ctx, o)
}
