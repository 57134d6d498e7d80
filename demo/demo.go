// Package demo climbs ladders on the lab's order gateway: it runs the service as found,
// takes a step, runs again, compares both states in turns, and so on.
//
// On the ladder "order" the first finding chooses the step, until no finding calls for a
// remedy that is left: the order is computed, never written down. The ladder "stack" has
// the steps of a report in their order, and says of each whether a finding called for it.
// The gateway is built and run as any user's service would be: nothing here knows its
// insides, only the switches that it lists itself and its tables, whose rows are counted.
//
// Adjacent states are compared while both are up, each on a copy of the database of its
// own, by turns under the same load. What is compared with what, and what it means, is
// package ladder's; here services run.
package demo

import (
	"cmp"
	"context"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/gateway"
	"github.com/redline-go/redline/service/postgres"
	"github.com/redline-go/redline/service/scratch"
)

// Options says how to climb. Checkout and Version are required.
type Options struct {
	Checkout string // folder that holds lab/gateway
	Version  string // of redline
	// Dir is where the bundles of the steps go; empty keeps none.
	Dir string
	// Ladder is ladder.Order, also "", or ladder.Stack.
	Ladder string
	// Duration is diagnosed per step, after Warmup. A Duration of zero means 4 s (8 s if Full), after 1 s if Warmup is zero, too.
	Duration, Warmup time.Duration
	// MaxSteps bounds the ladder; zero climbs to its end.
	MaxSteps int
	// Full compares over pairs of launches; else pairs of turns within one launch do.
	Full bool
	// Whole takes what no finding called for as a last step, compares the first rung with
	// the last, and measures the last at a rate.
	Whole bool
	// Requests, if not 0, bounds each measurement by requests instead of by time, with one
	// state up at a time.
	Requests int64
	// From is an earlier result to go on with; nil begins anew.
	From *ladder.Result
	Seed uint64 // of the order of turns; zero is random
	DSN  string // of a PostgreSQL to use; empty starts one

	OnEvent func(run.Event)
	Follow  run.Follower // of the diagnosed runs; may be nil
	// OnStep, if set, receives every diagnosed step, OnResult the ladder so far whenever
	// something was decided; its error ends the climb.
	OnStep   func(Step)
	OnResult func(ladder.Result) error
}

// Step is one diagnosed run of the ladder.
type Step struct {
	report.Step
	Title   string // the change
	Dir     string // the bundle
	Summary *record.Summary
}

// Run climbs the ladder and returns the steps that it ran and the result so far, with an
// error when it ends early. A step whose answers differ from those of the service as
// found, or that loses an order, is such an error.
func Run(ctx context.Context, o Options) ([]Step, ladder.Result, error) {
	o.defaults()
	folder, err := scratch.New("demo")
	if err != nil {
		return nil, ladder.Result{}, err
	}
	defer folder.Remove()
	if o.Dir == "" {
		o.Dir = filepath.Join(folder.Path, "runs")
	}
	c := &climb{Options: o, folder: filepath.Join(o.Checkout, "lab", "gateway"), scratch: folder.Path}
	db, err := c.prepare(ctx)
	if db != nil {
		// Stopped even when ctx has ended: the server is ours.
		defer db.Stop(context.WithoutCancel(ctx))
	}
	if err != nil {
		return nil, ladder.Result{}, err
	}
	if c.databases, err = copyOf(db.DSN); err != nil {
		return nil, ladder.Result{}, err
	}
	if o.DSN != "" {
		defer c.databases.remove(context.WithoutCancel(ctx))
	}
	c.phase("seeding 200,000 orders")
	if err := gateway.Seed(ctx, c.binary, db.DSN); err != nil {
		return nil, ladder.Result{}, err
	}
	c.begin()
	err = c.climb(ctx)
	return c.steps, c.result, err
}

// prepare builds the gateway while PostgreSQL starts. The server may be there though the build
// failed.
func (c *climb) prepare(ctx context.Context) (db *postgres.Server, err error) {
	c.phase("building the gateway with the probe injected, and starting PostgreSQL")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var started error
	var start sync.WaitGroup
	start.Go(func() {
		if db, started = postgres.Start(ctx, postgres.Options{DSN: c.DSN}); started != nil {
			cancel() // without a server the build is of no use
		}
	})
	// Exactly as a user's own service would be built.
	c.binary = filepath.Join(c.scratch, "gateway")
	if _, err = service.BuildInstrumented(ctx, c.folder, c.binary); err == nil {
		c.remedies, err = gateway.Remedies(ctx, c.binary)
	}
	start.Wait()
	if started != nil {
		return db, started
	}
	return db, err
}

func (o *Options) defaults() {
	if o.Ladder == "" {
		o.Ladder = ladder.Order
	}
	if o.Duration == 0 {
		o.Duration, o.Warmup = 4*time.Second, cmp.Or(o.Warmup, time.Second)
		if o.Full {
			o.Duration = 8 * time.Second
		}
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
}

// begin makes the result, or takes the earlier one to go on with.
func (c *climb) begin() {
	c.random = rand.New(rand.NewPCG(c.Seed, 1))
	if c.From != nil {
		c.result = *c.From
		return
	}
	start := first(c.Ladder)
	c.result = ladder.Result{
		Schema: ladder.Schema, Ladder: c.Ladder, Quick: !c.Full, Begun: time.Now().UTC().Truncate(time.Second),
		Host: record.HostInfo(), Go: runtime.Version(), Next: &start,
	}
}

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
