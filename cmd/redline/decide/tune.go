package decide

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/service/scratch"
	"github.com/redline-go/redline/tune"
	tuning "github.com/redline-go/redline/tune/measure"
	"github.com/redline-go/redline/verify/session"
)

// TuneCommand returns the verb tune.
func TuneCommand() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune URL | scenario.yaml --knob NAME=VALUES [--knob ...]",
		Short: "Find the best settings for an objective, or confirm the current ones",
		Long: `tune searches for better settings of a service. Each trial is a pair of launches, the
current setting and a candidate, interleaved under the same load. A model of the trials
proposes the next one; the best half is measured again and again until one is left. A
fresh A/B session with new launches, like redline ab, then confirms the result: tune
recommends a setting only if that session confirms a gain large enough for it to
detect. Otherwise tune advises you to keep the current setting, which is a result too.

Knobs, each with a range (50..400, 64MiB..1GiB) or a list (a,b,c):
  GOGC, GOMEMLIMIT, GOMAXPROCS   the Go runtime
  env:NAME                       an environment variable
  flag:-name                     a command-line argument
  pgo                            build with a profile of the service itself, or without
                                 (same as --pgo)
  http:[METHOD ]URL[ BODY]       a live setting: PUT, POST or PATCH with the value in
                                 place of {}

The current setting is the scenario as it is. If there is only one knob, tune tries all
its values and draws the curve with its plateau. tune launches the service itself, so
no setting outlives its trial, and a service that runs elsewhere is not changed.

An http: knob is set once the service is ready, and read back with GET from the same
URL without the value, so tune notices if the service ignores it. The URL is a path of
the service, or a full URL on loopback (or on a host of --allow-host). If all knobs are
of this kind, the service may already be running: tune reads its values first, and
restores them at the end, even after an interrupt.

Objectives: throughput (default; closed loop), cpu per request (default at a rate), p50,
p90, p99 (at a rate), memory. "throughput at p99 < 20ms" and --guard add limits that a
recommended setting must meet. A setting under which requests fail is dropped at once.

Trials are kept in runs/<time>-tune and, with --history, in the history (redline history
trials). After an interrupt, -o DIR --resume continues.

Exit code 0: tune recommends a setting, or advises you to keep the current one. 1: no
setting meets the guards. 2: usage or input error. 3: the measurement is invalid. 130:
interrupted.`,
		Example: `  redline tune scenario.yaml --knob GOGC=50..400 --knob GOMAXPROCS=1..8 --knob env:DB_POOL=2..64
  redline tune scenario.yaml --knob GOGC=50..800 --objective "throughput at p99 < 20ms" --guard "rss < 512MiB"
  redline tune scenario.yaml --knob flag:-workers=1..32 --rate 2000/s --objective p99 --max-time 10m
  redline tune http://127.0.0.1:8080/ --build ./cmd/svc --knob 'http:/admin/pool?size={}=2..64'
  redline tune http://127.0.0.1:8080/ --knob 'http:POST /admin/pool {"size": {}}=2..64'
  redline tune scenario.yaml --pgo`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.register(cmd)
	return cmd
}

func (f *tuneFlags) run(cmd *cobra.Command, args []string) error {
	plan, err := f.Plan(cmd, args)
	if err != nil {
		return err
	}
	words, space, objective, err := f.asked(cmd, plan)
	if err != nil {
		return err
	}
	if !f.resume {
		reservation, err := cli.Reserve(f.Out, "tune")
		if err != nil {
			return err
		}
		defer reservation.Release()
		f.Out = reservation.Dir()
	}
	store, err := cli.OpenHistory(cmd.Context(), f.History)
	if err != nil {
		return err
	}
	defer store.Close()
	folder, err := scratch.New("tune")
	if err != nil {
		return err
	}
	defer folder.Remove()
	progress := cli.NewProgress(cmd.ErrOrStderr())
	defer progress.Close()
	launcher := &session.Launcher{Version: cli.Version(), Scratch: folder.Path, Duration: f.block, Warmup: f.block / 2}
	t := &tuning.Tuner{
		Space: space, Objective: objective, Measurer: launcher, Dir: f.Out, MaxTime: f.maxTime, Trials: f.trials,
		Sweep: f.sweep || len(space.Knobs) == 1, OneAtATime: f.apart || running(plan), Running: running(plan), LiveHosts: f.hosts,
		Seed: cmp.Or(f.seed, rand.Uint64N(1<<32)), Resume: f.resume,
		Header:     tuning.Header{Plan: plan.Redacted(), Objective: objective.String(), Knobs: words, Host: record.HostInfo()},
		OnProgress: progress.Step,
	}
	began := time.Now()
	b := builder{scratch: folder.Path, note: progress.Note, done: map[revision.Sources]revision.Built{}}
	if err := presented(cmd.Context(), t, plan, b); err != nil {
		return cli.InterruptedOr(cmd.Context(), err)
	}
	if t.Inlining, err = f.profile(cmd.Context(), t, progress); err != nil {
		return cli.InterruptedOr(cmd.Context(), err)
	}
	r, err := t.Run(cmd.Context())
	progress.Close()
	if err != nil && r.Schema == "" {
		return f.cutShort(cmd.Context(), progress, err)
	}
	if n := launcher.Repeated; n > 0 {
		r.Warnings = append(r.Warnings, notation.Counted(int64(n), "launch",
			"launches")+" repeated: the generator could not keep up")
	}
	progress.Note("kept in %s", f.Out)
	f.keep(cmd.Context(), store, t, plan, launcher, r, began, progress)
	return errors.Join(f.print(cmd.OutOrStdout(), r), f.exit(cmd.Context(), progress, r, err))
}

// presented prepares the present setting's side: built, or a target that is already running.
func presented(ctx context.Context, t *tuning.Tuner, plan *scenario.Plan, b builder) (err error) {
	if t.Running {
		t.Present, t.Header.Service = session.Side{Name: "a", Plan: plan}, redact.Text(string(plan.Requests[0].URL))+", which ran already"
		return nil
	}
	t.Present, t.Header.Service, err = (side{}).prepare(ctx, plan, "a", b)
	return err
}

// asked returns the knobs as they were written, the space that they span, and the objective; an
// error if no tune can do what the flags ask for.
func (f *tuneFlags) asked(cmd *cobra.Command, plan *scenario.Plan) (words []string, space tune.Space, o tune.Objective, err error) {
	words, knobs, err := f.knobList()
	if err != nil {
		return nil, space, o, err
	}
	present := tuning.Present(plan)
	if space, err = tune.NewSpace(knobs, present); err != nil {
		return nil, space, o, err
	}
	if err := f.check(cmd, plan, space); err != nil {
		return nil, space, o, err
	}
	if running(plan) {
		live, err := tuning.ReadLive(cmd.Context(), plan, knobs, f.hosts)
		if err != nil {
			return nil, space, o, err
		}
		if space, err = tune.NewSpace(knobs, func(k tune.Knob) (string, bool) { v, ok := live[k.Name]; return v, ok }); err != nil {
			return nil, space, o, err
		}
	}
	if o, err = tune.ParseObjective(f.objective, f.guards, plan.Load.Open()); err != nil {
		return nil, space, o, err
	}
	return words, space, o, nil
}

// profile builds the target with a profile if pgo is among the knobs, and returns what that
// inlined.
func (f *tuneFlags) profile(ctx context.Context, t *tuning.Tuner, progress *cli.Progress) (*tune.Inlining, error) {
	asked := false
	for _, k := range t.Space.Knobs {
		asked = asked || k.Kind == tune.PGO
	}
	if !asked {
		return nil, nil
	}
	path, err := filepath.Abs(filepath.Join(f.Out, tuning.ProfileFile))
	if err != nil {
		return nil, err
	}
	plan := t.Present.Plan
	if !f.resume {
		progress.Note("profiling the present build")
		folder := filepath.Dir(t.Present.Binary)
		if path, err = tuning.Profile(ctx, t.Present, cli.Version(), folder, f.Out); err != nil {
			return nil, err
		}
	}
	progress.Note("building with the profile")
	t.Profiled = filepath.Join(filepath.Dir(t.Present.Binary), "target-profiled")
	if err := tuning.BuildProfiled(ctx, plan, path, t.Profiled); err != nil {
		return nil, err
	}
	inlining, err := tuning.Inlining(ctx, plan, path)
	if err != nil && ctx.Err() == nil {
		// What it inlined explains a gain and is no part of the measurement.
		progress.Note("redline: could not list what the profile inlined: %v", err)
		return nil, nil
	}
	return inlining, err
}
