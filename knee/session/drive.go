package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/scratch"
)

// runner drives steps with package run.
type runner struct {
	Options
	folder *scratch.Folder
	clock  timebase.Clock
	binary string          // built from Target.Build; empty without it
	target *service.Target // running from step to step; nil unless redline starts it
	lines  *redact.Lines   // take the output of every launch; nil before the first, and without an Output
	steps  int
}

var _ driver = (*runner)(nil)

// errEnded ends a step whose target ended.
var errEnded = errors.New("the target ended by itself")

func newDriver(o Options) (*runner, error) {
	clock, err := timebase.Start()
	if err != nil {
		return nil, err
	}
	folder, err := scratch.New("knee")
	if err != nil {
		return nil, err
	}
	return &runner{Options: o, folder: folder, clock: clock}, nil
}

func (r *runner) close() {
	r.end()
	_ = r.folder.Remove() // a later sweep removes leftovers
}

// starts reports whether redline starts the target.
func (r *runner) starts() bool { return r.Plan.Target.Build != "" || len(r.Plan.Target.Exec) > 0 }

// up makes sure that the target runs.
func (r *runner) up(ctx context.Context) error {
	if !r.starts() || r.target != nil {
		return nil
	}
	if r.Plan.Target.Build != "" && r.binary == "" {
		if err := r.build(ctx); err != nil {
			return err
		}
	}
	target, err := service.Start(ctx, service.Options{
		Target: r.Plan.Target, URL: string(r.Plan.Requests[0].URL), Clock: r.clock, Window: timebase.DefaultWindow,
		Blind: true, Binary: r.binary, Hide: r.Plan.Redactor(os.Environ()), Stdout: r.output(), Stderr: r.output(),
	})
	if err != nil {
		r.flush()
		return err
	}
	r.target = target
	return nil
}

// end ends the target, if one runs.
func (r *runner) end() {
	if r.target != nil {
		r.target.End()
		r.target = nil
		r.flush()
	}
}

// flush shows the last line of a target that ended in the middle of one.
func (r *runner) flush() {
	if r.lines != nil {
		r.lines.Flush()
	}
}

// output returns an interface that stays nil without a writer.
func (r *runner) output() io.Writer {
	if r.Output == nil {
		return nil
	}
	if r.lines == nil {
		r.lines = r.Plan.Redactor(os.Environ()).Writer(r.Output)
	}
	return r.lines
}

// build makes the binary for all launches, with the hooks that the run at the knee
// reads.
func (r *runner) build(ctx context.Context) (err error) {
	t, binary := r.Plan.Target, filepath.Join(r.folder.Path, "target")
	if t.Plain {
		err = service.Build(ctx, t.Build, binary, t.BuildFlags...)
	} else {
		_, err = service.BuildInstrumented(ctx, t.Build, binary, t.BuildFlags...)
	}
	if err == nil {
		r.binary = binary
	}
	return err
}

func (r *runner) relaunch(ctx context.Context) (bool, error) {
	if !r.starts() {
		return false, nil
	}
	r.end()
	return true, r.up(ctx)
}

// plan returns the plan of a step: the scenario's, with one rate or concurrency.
func (r *runner) plan(l load) *scenario.Plan {
	p := *r.Plan
	p.Load.Duration, p.Load.Warmup, p.Load.Stages, p.Load.Requests, p.Load.PerConnection = l.measured, l.warmup, nil, 0, 0
	p.Export, p.Thresholds = scenario.Export{}, l.objectives.Thresholds
	if l.rate == 0 {
		p.Load.Rate, p.Load.Connections, p.Load.Streams, p.Load.Arrivals, p.Load.Think = 0, l.connections, 0, "", scenario.Think{}
		return &p
	}
	if !r.Plan.Load.Open() {
		p.Load.Connections = 0 // the connections of a closed loop must not cap an open one
	}
	p.Load.Rate, p.Load.Think = l.rate, scenario.Think{}
	return &p
}

func (r *runner) drive(ctx context.Context, l load) (knee.Step, error) {
	if err := r.up(ctx); err != nil {
		return knee.Step{}, err
	}
	plan := r.plan(l)
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if r.target != nil {
		plan.Target = scenario.Target{PID: r.target.Info().PID, Ready: plan.Target.Ready}
		go func(exited <-chan struct{}) {
			select {
			case <-exited:
				stop(errEnded)
			case <-within.Done():
			}
		}(r.target.Exited())
	}
	r.steps++
	dir := filepath.Join(r.folder.Path, fmt.Sprintf("%04d", r.steps))
	defer os.RemoveAll(dir)
	err := run.Run(within, run.Options{Plan: plan, Dir: dir, Version: r.Version, Counters: true, OnEvent: r.event, Follow: r.Follow})
	if ctx.Err() != nil {
		return knee.Step{}, ctx.Err()
	}
	if errors.Is(context.Cause(within), errEnded) {
		return r.ended(l), nil
	}
	if err != nil && r.steps > 1 {
		err = &lostError{err}
	}
	if err != nil {
		return knee.Step{}, err
	}
	return r.read(dir, l)
}

// ended returns the step in which the target ended.
func (r *runner) ended(l load) knee.Step {
	why := errEnded.Error()
	if exit := r.target.Exit(r.clock); exit != nil {
		why = "the target ended: " + exit.Status
	}
	r.end()
	return knee.Step{Rate: l.rate, Connections: l.connections, Measured: l.measured, Outcome: knee.Ended, Why: []string{why}}
}

// atKnee runs the plan's own target, so that everything that a run observes is
// there.
func (r *runner) atKnee(ctx context.Context, l load) (knee.Step, error) {
	r.end()
	plan, dir := r.plan(l), filepath.Join(r.Dir, atKneeDir)
	err := run.Run(ctx, run.Options{Plan: plan, Dir: dir, Version: r.Version, Binary: r.binary, OnEvent: r.event, Follow: r.Follow,
		Output: r.Output})
	if ctx.Err() != nil {
		return knee.Step{}, ctx.Err()
	}
	var ended *run.Ended
	if err != nil && !errors.As(err, &ended) {
		return knee.Step{}, &lostError{err}
	}
	s, err := r.read(dir, l)
	if ended != nil {
		s.Outcome, s.Why = knee.Ended, []string{"the target ended: " + ended.Exit.Status}
	}
	s.Phase = knee.AtKnee
	return s, err
}

// read assesses the bundle of a step.
func (r *runner) read(dir string, l load) (knee.Step, error) {
	rec, summary, err := assess.Bundle(dir)
	if err != nil {
		return knee.Step{}, err
	}
	sum := summary.Load
	s := knee.Step{
		Phase: l.phase, Rate: l.rate, Connections: l.connections, Measured: time.Duration(sum.Duration), Requests: sum.Requests,
		Served: sum.Rate, Mean: sum.Latency.Mean, P50: sum.Latency.P50, P99: sum.Latency.P99, Service: sum.Service.Mean,
	}
	s.Errors = 1
	if sum.Requests > 0 {
		s.Errors = float64(sum.Errors) / float64(sum.Requests)
	}
	if user, n := rec.Series(series.ProcessUser, "", rec.Run.Steady).Sum(); n > 0 && s.Measured > 0 {
		system, _ := rec.Series(series.ProcessSystem, "", rec.Run.Steady).Sum()
		s.CPU = (user + system) / float64(s.Measured)
	}
	s.Host = hostOf(summary.CPU)
	broken, void := failed(summary, l)
	if l.rate == 0 {
		s.Outcome, s.Why = knee.Holds, broken
		if len(broken) > 0 {
			s.Outcome = knee.Breaks
		} else if void != "" {
			s.Outcome, s.Why = knee.Void, []string{void}
		}
		s.Progress = float64(l.connections)
	} else {
		s.Assess(windowsOf(rec), broken, void, r.Plan.Load.Arrivals == scenario.PoissonArrivals)
	}
	if l.phase == knee.AtKnee && len(summary.Findings) > 0 {
		f := summary.Findings[0]
		s.Finding = &knee.Finding{Cause: f.Cause, Title: f.Title, Remedy: f.Remedy, Confidence: string(f.Confidence), Bundle: atKneeDir}
	}
	return s, nil
}

// hostOf returns who used the CPUs of the host; nil if that is not known.
func hostOf(use *findings.CPUUse) *knee.Host {
	if use == nil {
		return nil
	}
	ours := use.Target + use.Generator + use.Database
	for _, p := range use.Peers {
		ours += p.CPUs
	}
	return &knee.Host{CPUs: use.CPUs, Full: use.Full, Others: max(0, use.Busy-ours)}
}

// failed returns the objectives that a step did not meet, and why its figures are not
// the target's.
func failed(s *record.Summary, l load) (broken []string, void string) {
	switch {
	case s.Load.Requests == 0 && s.Generator.Verdict() != record.ValidityInvalid:
		broken = append(broken, "no request ended")
	case l.rate == 0 && s.Load.Requests > 0 && 100*s.Load.Errors > s.Load.Requests:
		broken = append(broken, fmt.Sprintf("%s of the requests failed", notation.Percent(float64(s.Load.Errors)/float64(s.Load.Requests))))
	}
	if l.rate > 0 {
		for _, t := range s.Thresholds {
			if !t.OK {
				broken = append(broken, t.Expr+" fails: "+report.ThresholdValue(t))
			}
		}
	}
	for _, why := range s.Generator.WhyInvalid {
		if why == s.Generator.Unanswered {
			broken = append(broken, why)
		} else if void == "" {
			void = why
		}
	}
	return broken, void
}

// windowsOf reads the figures by which a step's steadiness is judged.
func windowsOf(rec *record.Record) knee.Windows {
	span := rec.Run.Steady
	sent, queued := rec.Series(series.LoadInFlight, "", span), rec.Series(series.LoadQueued, "", span)
	w := knee.Windows{Seconds: sent.Width.Seconds(), P50: rec.Series(series.LoadLatency, series.Labels("q", "p50"), span).Values}
	for i, v := range sent.Values {
		if i < len(queued.Values) && !math.IsNaN(queued.Values[i]) {
			v += queued.Values[i]
		}
		w.Progress = append(w.Progress, v)
	}
	return w
}

// event shows a window of the step in progress.
func (r *runner) event(e run.Event) {
	if r.OnEvent != nil {
		r.OnEvent(e)
	}
	if r.OnProgress == nil || e.Load == nil {
		return
	}
	p := e.Load
	r.OnProgress(Progress{Within: true, Text: fmt.Sprintf("  %.1f of %.1f s: %s/s served, p99 %s, %s in progress", p.Done, p.Total,
		notation.Rate(p.Rate), notation.Duration(p.Latency.P99), notation.Count(int64(p.InFlight)))})
}
