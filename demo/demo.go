// Package demo climbs a ladder on the lab's order gateway: it runs the service
// as found, takes the remedy that the first finding calls for, runs again, and
// so on until no finding calls for a remedy that is left.
//
// The order is computed from the findings, never written down, and the gateway
// is built and run as any user's service would be: nothing here knows its
// insides, only the switches that it lists itself.
//
// The steps are measured one after another, not interleaved, so a small gain
// of a step can be the machine's noise; package verify is for settling those.
package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/document"
	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/gateway"
	"github.com/redline-go/redline/service/postgres"
	"github.com/redline-go/redline/service/scratch"
)

// Options says how to climb. Checkout, Dir and Version are required.
type Options struct {
	Checkout string // folder that holds lab/gateway
	Dir      string // where the bundles of the steps go
	Version  string // of redline
	// Duration is measured per step, after Warmup. Zero means 10 s and 2 s.
	Duration, Warmup time.Duration
	// MaxSteps bounds the ladder; zero climbs until no finding calls for more.
	MaxSteps int
	DSN      string // of a PostgreSQL to use; empty starts one
	OnEvent  func(run.Event)
	// OnStep, if set, receives every judged step.
	OnStep func(Step)
}

// Step is one judged run of the ladder.
type Step struct {
	report.Step
	Title   string // the change
	Dir     string // the bundle
	Summary *record.Summary
}

// Run climbs the ladder and returns the result so far. When it ends early the
// steps so far are returned with the error.
func Run(ctx context.Context, o Options) ([]Step, error) {
	if o.Duration == 0 {
		o.Duration, o.Warmup = 10*time.Second, 2*time.Second
	}
	folder, err := scratch.New("demo")
	if err != nil {
		return nil, err
	}
	defer folder.Remove()
	o.phase("building the gateway with the probe injected")
	// Exactly as a user's own service would be built.
	binary := filepath.Join(folder.Path, "gateway")
	if _, err := service.BuildInstrumented(ctx, filepath.Join(o.Checkout, "lab", "gateway"), binary); err != nil {
		return nil, err
	}
	remedies, err := gateway.Remedies(ctx, binary)
	if err != nil {
		return nil, err
	}
	o.phase("starting PostgreSQL")
	db, err := postgres.Start(ctx, postgres.Options{DSN: o.DSN})
	if err != nil {
		return nil, err
	}
	// Stopped even when ctx has ended: the server is ours.
	defer db.Stop(context.WithoutCancel(ctx))
	c := &climb{Options: o, binary: binary, remedies: remedies, dsn: db.DSN, scratch: folder.Path, taken: map[string]bool{}}
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	err = c.climb(ctx)
	return c.steps, err
}

// climb is a ladder being climbed.
type climb struct {
	Options
	binary   string // of the gateway
	remedies []gateway.Remedy
	dsn      string
	scratch  string
	taken    map[string]bool
	env      map[string]string // the switches on so far
	steps    []Step
}

// prepare seeds the database and mints the users' tokens.
func (c *climb) prepare(ctx context.Context) error {
	c.env = map[string]string{"GATEWAY_DSN": c.dsn}
	c.phase("seeding 200,000 orders")
	if err := gateway.Seed(ctx, c.binary, c.dsn); err != nil {
		return err
	}
	tokens, err := gateway.Command(ctx, c.binary, nil, "tokens", "--n", "2000")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.scratch, "users.csv"), tokens, 0o600)
}

func (c *climb) climb(ctx context.Context) error {
	name, next := "as found", choice{}
	for {
		step, err := c.measure(ctx, name, next)
		if err != nil {
			return err
		}
		c.steps = append(c.steps, step)
		if c.OnStep != nil {
			c.OnStep(step)
		}
		if c.MaxSteps > 0 && len(c.steps) >= c.MaxSteps {
			return nil
		}
		var ok bool
		if next, ok = choose(step.Summary.Findings, c.remedies, c.taken); !ok {
			return nil
		}
		name = next.remedy.Name
		c.taken[name] = true
		c.env[next.remedy.Env] = next.remedy.On
	}
}

// measure runs the gateway with the switches taken so far and judges the run.
func (c *climb) measure(ctx context.Context, name string, why choice) (Step, error) {
	plan, err := c.plan()
	if err != nil {
		return Step{}, err
	}
	dir := filepath.Join(c.Dir, fmt.Sprintf("%d-%s", len(c.steps), slug(name)))
	err = run.Run(ctx, run.Options{
		Plan: plan, Dir: dir, Version: c.Version, Binary: c.binary, OnEvent: c.OnEvent,
	})
	if err != nil {
		return Step{}, fmt.Errorf("step %q: %w", name, err)
	}
	c.phase("taking requests apart")
	rec, summary, err := assess.Bundle(dir)
	if err != nil {
		return Step{}, fmt.Errorf("step %q: %w", name, err)
	}
	if summary.Load.Errors*100 > summary.Load.Requests {
		return Step{}, fmt.Errorf("step %q: %d of %d requests failed (%v), so its figures mean nothing; see %s",
			name, summary.Load.Errors, summary.Load.Requests, summary.Load.ErrorKinds, rec.Dir)
	}
	title := "the service as it was found"
	if why.remedy.Name != "" {
		title = why.remedy.Title
	}
	return Step{Step: report.StepOf(name, why.finding.Cause, summary), Title: title, Dir: dir, Summary: summary}, nil
}

// plan is the lab's scenario, aimed at a gateway of this climb.
func (c *climb) plan() (*scenario.Plan, error) {
	address, err := service.FreeAddress("127.0.0.1")
	if err != nil {
		return nil, err
	}
	plan, err := document.Parse(os.DirFS(c.scratch), "gateway.yaml", fmt.Appendf(nil, scenarioText, address))
	if err != nil {
		return nil, fmt.Errorf("the demo's scenario: %w", err)
	}
	plan.Target.Build = filepath.Join(c.Checkout, "lab", "gateway")
	plan.Target.Args = []string{"--addr", address}
	plan.Target.Env = c.env
	plan.Target.Ready = "http://" + address + "/healthz"
	plan.Observe.Postgres = c.dsn
	plan.Load.Duration, plan.Load.Warmup = c.Duration, c.Warmup
	return plan, plan.Validate()
}

// scenarioText is the traffic of the ladder: order queries of many users, at
// the concurrency of the field report.
const scenarioText = `
load:
  connections: 64
requests:
  - name: order
    get: "http://%[1]s/api/v1/order?uid={{users.uid}}"
    headers: {Authorization: "Bearer {{users.token}}"}
data:
  users: {file: users.csv}
`

func (o Options) phase(text string) {
	if o.OnEvent != nil {
		o.OnEvent(run.Event{Phase: text})
	}
}

// slug makes a name fit for a folder.
func slug(name string) string {
	out := []byte(name)
	for i, b := range out {
		if b == ' ' || b == '/' {
			out[i] = '-'
		}
	}
	return string(out)
}
