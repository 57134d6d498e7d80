package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
)

// whole compares the first rung with the last, measures the last at a rate, and how fast pgbench reads next to it. What is
// there from an earlier climb stays.
func (c *climb) whole(ctx context.Context) (err error) {
	rungs := c.result.Rungs
	if c.result.Whole == nil {
		a, err := c.variant(rungs[0], 0)
		if err != nil {
			return err
		}
		b, err := c.variant(rungs[len(rungs)-1], len(rungs)-1)
		if err != nil {
			return err
		}
		if c.result.Whole, err = c.pairs(ctx, [2]variant{a, b}); err != nil {
			return err
		}
		if err := c.keep(); err != nil {
			return err
		}
	}
	if c.result.Paced == nil && c.Requests == 0 {
		if err := c.paced(ctx); err != nil {
			return err
		}
	}
	if c.result.Pgbench == 0 && c.Requests == 0 && c.Ladder == ladder.Stack {
		if c.result.Pgbench, err = c.pgbench(ctx); err != nil {
			return err
		}
	}
	return c.keep()
}

// tuned is the part of the last rung's throughput, in the run that was diagnosed, that it
// is given at a rate: near all of it, the open loop's queue would be measured. The warm-up
// outlasts the queue of the first second, in which a service is dear.
const (
	tuned       = 0.6
	pacedWarmup = 4 * time.Second
)

// paced measures the last rung in an open loop.
func (c *climb) paced(ctx context.Context) error {
	rungs := c.result.Rungs
	last, err := c.variant(rungs[len(rungs)-1], len(rungs)-1)
	if err != nil {
		return err
	}
	if err := c.databases.fresh(ctx); err != nil {
		return err
	}
	plan, err := c.plan(0, last.env)
	if err != nil {
		return err
	}
	rate := tuned * last.rung.Rate
	plan.Load = scenario.Load{
		Rate: rate, Connections: plan.Load.Connections, Duration: c.Duration, Warmup: pacedWarmup,
		Arrivals: scenario.PoissonArrivals,
	}
	if err := plan.Validate(); err != nil {
		return err
	}
	c.phase(fmt.Sprintf("%s at %s requests/s", last.rung.Name, notation.Rate(rate)))
	dir := filepath.Join(c.scratch, "paced")
	defer os.RemoveAll(dir)
	before, err := c.databases.stock(ctx, 0)
	if err != nil {
		return err
	}
	err = run.Run(ctx, run.Options{
		Plan: plan, Dir: dir, Version: c.Version, Binary: c.binary, Counters: true, OnEvent: c.OnEvent,
	})
	if err != nil {
		return err
	}
	rec, err := record.Open(dir)
	if err != nil {
		return err
	}
	if _, err := c.account(ctx, last.rung.Name, 0, rec, before); err != nil {
		return err
	}
	var s record.Summary
	if err := rec.ReadJSON(record.SummaryFile, &s); err != nil {
		return err
	}
	p := &ladder.Paced{Offered: rate, Rate: s.Load.Rate, P95: s.Load.Latency.P95, P99: s.Load.Latency.P99, Errors: s.Load.Errors}
	if err := valid(rec); err != nil {
		p.Why = err.Error()
	}
	c.result.Paced = p
	return c.keep()
}
