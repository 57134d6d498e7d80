package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/scratch"
	"github.com/redline-go/redline/stat"
)

// Length of one block of Overhead. Snapshots are sized by the steady span, so
// a short block carries the same share of tracing as a long run.
const (
	overheadBlock  = 4 * time.Second
	overheadWarmup = 1500 * time.Millisecond
)

const (
	// overheadConfidence is the level of the interval that Overhead reports.
	overheadConfidence = 0.95
	// leastOverheadPairs is the least number of pairs that have one: 2^-6 is the largest tail below 2.5 %.
	leastOverheadPairs = 6
)

// CheckOverhead says why Overhead would refuse a plan or a number of pairs. It needs no run.
func CheckOverhead(p *scenario.Plan, pairs int) error {
	switch {
	case p.Load.Open():
		return errors.New("--measure-overhead compares throughput and needs a closed loop (hint: -c instead of --rate)")
	case pairs < leastOverheadPairs:
		return fmt.Errorf("%s are too few for an interval at %s (hint: --overhead-pairs %d or more)",
			notation.Counted(int64(pairs), "pair", "pairs"), notation.Percent(overheadConfidence), leastOverheadPairs)
	}
	return nil
}

// Overhead measures the cost of observation in the target: pairs of short runs of
// the same plan, one observed and one blind, in random order within each pair. A
// target that redline starts is started anew for each run. The effect is the
// Hodges-Lehmann estimate of ln(blind/observed) of throughput over the pairs, with
// its signed-rank interval (Hollander, Wolfe and Chicken, Nonparametric Statistical
// Methods, 3rd ed., sections 3.2 and 3.3). It refuses what CheckOverhead does: an open
// loop, because its rate is set, and too few pairs.
func Overhead(ctx context.Context, o Options, pairs int) (*record.Overhead, error) {
	if err := CheckOverhead(o.Plan, pairs); err != nil {
		return nil, err
	}
	folder, err := scratch.New("overhead")
	if err != nil {
		return nil, err
	}
	defer folder.Remove()
	plan := *o.Plan
	plan.Load.Duration, plan.Load.Warmup, plan.Load.Stages, plan.Load.Requests = overheadBlock, overheadWarmup, nil, 0
	plan.Export = scenario.Export{} // these runs are redline's own
	if plan.Target.Build != "" && o.Binary == "" {
		o.Binary = filepath.Join(folder.Path, "target")
		build := func() error {
			_, err := service.BuildInstrumented(ctx, plan.Target.Build, o.Binary, plan.Target.BuildFlags...)
			return err
		}
		if plan.Target.Plain {
			build = func() error { return service.Build(ctx, plan.Target.Build, o.Binary, plan.Target.BuildFlags...) }
		}
		if err := build(); err != nil {
			return nil, err
		}
	}
	block := func(blind bool, name string) (float64, error) {
		b := Options{Plan: &plan, Dir: filepath.Join(folder.Path, name), Version: o.Version, Binary: o.Binary, Blind: blind}
		return rateOf(ctx, b)
	}
	var cost []float64
	for i := range pairs {
		if o.OnEvent != nil {
			o.OnEvent(Event{Phase: fmt.Sprintf("measuring the cost of observation, pair %d of %d", i+1, pairs)})
		}
		var rate [2]float64 // observed, blind
		first := rand.IntN(2)
		for _, side := range []int{first, 1 - first} {
			if rate[side], err = block(side == 1, fmt.Sprintf("%d-%d", i, side)); err != nil {
				return nil, fmt.Errorf("measure overhead: %w", err)
			}
		}
		cost = append(cost, math.Log(rate[1]/rate[0]))
	}
	estimate, low, high, ok := stat.SignedRankInterval(cost, overheadConfidence)
	if !ok {
		return nil, errors.New("measure overhead: the runs' rates give no interval")
	}
	return &record.Overhead{
		Estimate: math.Expm1(estimate), Low: math.Expm1(low), High: math.Expm1(high),
		Confidence: overheadConfidence, Pairs: pairs,
	}, nil
}

// rateOf makes one run and returns its rate of successes.
func rateOf(ctx context.Context, o Options) (float64, error) {
	if err := Run(ctx, o); err != nil {
		return 0, err
	}
	rec, err := record.Open(o.Dir)
	if err != nil {
		return 0, err
	}
	var s record.Summary
	if err := rec.ReadJSON(record.SummaryFile, &s); err != nil {
		return 0, err
	}
	if s.Load.Rate <= 0 {
		return 0, errors.New("no request succeeded")
	}
	return s.Load.Rate, nil
}
