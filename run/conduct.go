package run

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"time"

	"github.com/redline-go/redline/export"
	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/service"
)

// conductor holds the shared state of the steps of one run.
type conductor struct {
	Options
	clock    timebase.Clock
	protocol load.Protocol
	target   *service.Target
	bundle   *record.Writer
	slow     *observe.Slow
	start    time.Duration // of the load, where Await is set

	exporters *export.Exporters
	tee       *export.Tee // the bundle, and its exporters
	sink      recorder    // the same, and the follower
}

// startTarget gets the target ready. Over https it is asked whether it is as the load connects to it.
func (c *conductor) startTarget(ctx context.Context, output io.Writer) (*service.Target, error) {
	o := service.Options{
		Target: c.exporting(), URL: string(c.Plan.Requests[0].URL), Clock: c.clock, Window: timebase.DefaultWindow,
		Blind: c.Blind, Binary: c.Binary, Stdout: output, Stderr: output, Hide: c.Hide,
		Phase: func(text string) { c.event(Event{Phase: text}) },
	}
	if u, err := url.Parse(c.Plan.Target.Ready); err == nil && u.Scheme == "https" {
		if o.TLS, err = endpoint.ClientTLS(u.Hostname(), c.Plan); err != nil {
			return nil, err
		}
	}
	return service.Start(ctx, o)
}

// opening is run.json as the run begins.
func (c *conductor) opening() record.Run {
	warnings := append([]string{}, c.Plan.Warnings...)
	if why := c.target.Info().ProbeElsewhere; why != "" {
		warnings = append(warnings, why)
	}
	return record.Run{
		Redline: c.Version, Clock: c.clock, Window: timebase.DefaultWindow,
		Scenario: c.Plan.Redacted(), Host: record.HostInfo(), Target: c.target.Info(),
		Warnings: warnings,
	}
}

// conduct drives load between opened sources and stores their results.
func (c *conductor) conduct(ctx context.Context) error {
	c.beginExport()
	loadStart := cmp.Or(c.start, c.clock.Now()+c.settleTime())
	var steady timebase.Span
	watch := c.watch(ctx, &steady)
	// The load waits for the sources: what they read at both ends of its span must be of that span. A start that was agreed on
	// with another run is kept where that is possible.
	if late := c.clock.Now() + settleLate; c.start == 0 || c.start < c.clock.Now() {
		loadStart = max(loadStart, late)
	}
	steady = load.Steady(c.Plan.Load, loadStart)
	c.bundle.Pin(steady.From)
	c.sink = c.recorder(steady)
	watch.Begin(c.sink)

	loadCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go c.stopWhenTargetEnds(loadCtx, stop)
	result, err := load.Run(loadCtx, load.Config{
		Plan: c.Plan, Clock: c.clock, Protocol: c.protocol, Record: c.sink, Trace: c.trace(),
		Start: loadStart, OnWindow: c.window,
	})
	if cause := context.Cause(loadCtx); cause != nil && err != nil {
		err = cause
	}
	c.event(Event{Phase: "closing the record"})
	if ctx.Err() != nil {
		// Interrupted: the sources read what they can in a moment, and then the target ends, however long they take.
		defer time.AfterFunc(parting, c.target.End).Stop()
	}
	sources := watch.Close()
	sources.Warnings = append(sources.Warnings, c.tee.Finish()...)
	return errors.Join(err, c.store(result, sources))
}

// stopWhenTargetEnds cuts the load short if the target ends by itself.
func (c *conductor) stopWhenTargetEnds(ctx context.Context, stop context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
	case <-c.target.Exited():
		if exit := c.target.Exit(c.clock); exit != nil {
			stop(&Ended{Exit: *exit})
		}
	}
}

// store writes the run's files at its end.
func (c *conductor) store(result *load.Result, w Watched) error {
	info := c.target.Info()
	info.Exit, info.Panicked = c.target.Exit(c.clock), c.target.Panicked()
	err := c.bundle.Update(func(r *record.Run) {
		r.Target, r.Sources = info, w.Health
		r.Warnings = append(r.Warnings, w.Warnings...)
		if result != nil {
			r.Steady = result.Steady
			r.Warnings = append(r.Warnings, result.Warnings...)
		}
	})
	for file, value := range w.Files {
		err = errors.Join(err, c.bundle.WriteJSON(file, value))
	}
	if result != nil {
		summary := record.Summary{
			Schema: record.SummarySchema, Target: info, Sources: w.Health,
			Load: result.Load, Generator: result.Generator,
		}
		err = errors.Join(err, c.bundle.WriteJSON(record.SummaryFile, summary))
	}
	return err
}

func (c *conductor) event(e Event) {
	if c.OnEvent != nil {
		c.OnEvent(e)
	}
}

func (c *conductor) window(p load.Progress) {
	phase := "measuring"
	if p.Warmup {
		phase = "warm-up"
	} else {
		c.slow.Window(p.Window, time.Duration(p.Latency.P99))
	}
	c.event(Event{Phase: phase, Load: &p})
}
