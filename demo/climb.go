package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/gateway"
)

// climb is a ladder being climbed.
type climb struct {
	Options
	folder    string // of the gateway's sources
	binary    string // of the gateway
	remedies  []gateway.Remedy
	databases databases
	scratch   string
	random    *rand.Rand
	naive     []ladder.Answer // what the first rung replies to the sample
	bundles   int
	begun     time.Time     // of the first rung of this run
	climbed   int           // rungs in this run
	turned    time.Duration // of this run's turns, without their launches

	steps  []Step
	result ladder.Result
}

// climb goes on from the result's next rung to the end, and keeps each rung.
func (c *climb) climb(ctx context.Context) error {
	c.begun = time.Now()
	for c.result.Next != nil && (c.MaxSteps == 0 || len(c.result.Rungs) < c.MaxSteps) {
		if err := c.rung(ctx, *c.result.Next); err != nil {
			return err
		}
		c.climbed++
	}
	if !c.Whole || c.result.Next != nil && c.MaxSteps == 0 || len(c.result.Rungs) < 2 {
		return nil
	}
	return c.whole(ctx)
}

// rung measures one rung, compares it with the one below, and chooses the next.
func (c *climb) rung(ctx context.Context, s ladder.Step) error {
	taken := append(c.taken(len(c.result.Rungs)), s)
	env, err := switches(c.remedies, taken)
	if err != nil {
		return err
	}
	if err := c.databases.fresh(ctx); err != nil {
		return err
	}
	rung := ladder.Rung{Step: s}
	if rung.Answers, err = c.same(ctx, s.Name, env); err != nil {
		return err
	}
	step, err := c.diagnose(ctx, s, env, c.Duration)
	if err != nil {
		return err
	}
	rung.Rate, rung.P50, rung.P95, rung.P99 = step.QPS, step.P50, step.P95, step.P99
	c.steps = append(c.steps, step)
	if c.OnStep != nil {
		c.OnStep(step)
	}
	if below := len(c.result.Rungs) - 1; below >= 0 {
		if rung.Against, err = c.compare(ctx, c.result.Rungs[below], rung, below); err != nil {
			return err
		}
		gains(&c.steps[len(c.steps)-1].Step, rung.Against)
	}
	following, err := c.following(ctx, step, env, taken)
	if err != nil {
		return err
	}
	c.result.Rungs, c.result.Next = append(c.result.Rungs, rung), following
	return c.keep()
}

// following chooses the next step; nil at the end. A short run may not see what stops the
// service, so before no finding calls for anything a longer one looks again.
func (c *climb) following(
	ctx context.Context, step Step, env map[string]string, taken []ladder.Step,
) (*ladder.Step, error) {
	chosen, ok := next(c.Ladder, step.Summary.Findings, c.remedies, taken)
	last := c.MaxSteps > 0 && len(taken) >= c.MaxSteps || c.Requests > 0 || c.Ladder == ladder.Stack
	if !ok && !last {
		again, err := c.diagnose(ctx, taken[len(taken)-1], env, 2*c.Duration)
		if err != nil {
			return nil, err
		}
		chosen, ok = next(c.Ladder, again.Summary.Findings, c.remedies, taken)
	}
	if !ok && c.Whole && c.Ladder == ladder.Order {
		chosen, ok = rest(c.remedies, taken)
	}
	if !ok {
		return nil, nil
	}
	return &chosen, nil
}

// gains puts what a comparison says into the table's row of the step.
func gains(s *report.Step, against *ladder.Comparison) {
	change, _ := against.Of(ladder.Throughput)
	s.Gain, s.GainLow, s.GainHigh, s.Noise = change.Gain, change.Low, change.High, change.Low > 0 && !change.Clear
}

// taken returns the steps of the lowest rungs.
func (c *climb) taken(rungs int) []ladder.Step {
	var steps []ladder.Step
	for _, r := range c.result.Rungs[:rungs] {
		steps = append(steps, r.Step)
	}
	return steps
}

func (c *climb) keep() error {
	if c.OnResult == nil {
		return nil
	}
	return c.OnResult(c.result)
}

// diagnose runs the gateway with the switches taken so far and assesses the run.
func (c *climb) diagnose(
	ctx context.Context, s ladder.Step, env map[string]string, measured time.Duration,
) (Step, error) {
	plan, err := c.plan(0, env)
	if err != nil {
		return Step{}, err
	}
	plan.Observe.Postgres = c.databases.copies[0]
	plan.Load.Duration, plan.Load.Warmup, plan.Load.Requests = measured, c.Warmup, c.Requests
	if err := plan.Validate(); err != nil {
		return Step{}, err
	}
	before, err := c.databases.stock(ctx, 0)
	if err != nil {
		return Step{}, err
	}
	dir := filepath.Join(c.Dir, fmt.Sprintf("%d-%s", len(c.result.Rungs), slug(s.Name)))
	if measured != c.Duration {
		dir += "-again"
	}
	c.phase(fmt.Sprintf("rung %d, %s%s", len(c.result.Rungs), s.Name, c.remaining(nil, measured != c.Duration)))
	err = run.Run(ctx, run.Options{Plan: plan, Dir: dir, Version: c.Version, Binary: c.binary, OnEvent: c.OnEvent, Follow: c.Follow})
	if err != nil {
		return Step{}, fmt.Errorf("step %q: %w", s.Name, err)
	}
	c.phase("breaking requests down")
	rec, summary, err := assess.Bundle(dir)
	if err != nil {
		return Step{}, fmt.Errorf("step %q: %w", s.Name, err)
	}
	if summary.Load.Errors*100 > summary.Load.Requests {
		return Step{}, fmt.Errorf("step %q: %d of %d requests failed (%v), so its figures mean nothing; see %s",
			s.Name, summary.Load.Errors, summary.Load.Requests, summary.Load.ErrorKinds, rec.Dir)
	}
	if _, err := c.account(ctx, s.Name, 0, rec, before); err != nil {
		return Step{}, err
	}
	return Step{Step: report.StepOf(s.Name, s.Finding, summary), Title: s.Title, Dir: dir, Summary: summary}, nil
}

// account holds a run's orders against what a copy of the database gained since it held before.
func (c *climb) account(ctx context.Context, name string, side int, rec *record.Record, before stock) (ladder.Account, error) {
	a, err := orders(rec)
	if err == nil {
		a, err = c.databases.settle(ctx, side, before, a)
	}
	if err == nil && a.Fault() != "" {
		err = errors.New(a.Fault())
	}
	if err != nil {
		return a, fmt.Errorf("step %q: %w", name, err)
	}
	return a, nil
}

// plan is the lab's mixed traffic, aimed at a gateway on one of the two copies.
func (c *climb) plan(side int, env map[string]string) (*scenario.Plan, error) {
	plan, err := gateway.Scenario(c.folder, "mix.yaml")
	if err != nil {
		return nil, err
	}
	plan.Thresholds = nil
	// The scenario's tokens are signed with the published development secret.
	plan.Target.Env = map[string]string{"GATEWAY_DSN": c.databases.copies[side], "GATEWAY_JWT_SECRET": ""}
	for name, value := range env {
		plan.Target.Env[name] = value
	}
	return plan, nil
}
