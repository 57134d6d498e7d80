package decide

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/cmd/redline/measure"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/service/scratch"
	"github.com/redline-go/redline/tune"
	tuning "github.com/redline-go/redline/tune/measure"
	"github.com/redline-go/redline/tune/render"
	"github.com/redline-go/redline/verify/session"
)

// tuneFlags are the flags of `redline tune`.
type tuneFlags struct {
	measure.Flags
	knobs     []string
	objective string
	guards    []string
	maxTime   time.Duration
	trials    int
	seed      uint64
	block     time.Duration
	pgo       bool
	sweep     bool
	apart     bool
	resume    bool
	markdown  string
}

// TuneCommand returns the verb tune.
func TuneCommand() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune URL | scenario.yaml --knob NAME=VALUES [--knob ...]",
		Short: "Find the settings that serve an objective best, or confirm that the present ones do",
		Long: `tune searches the settings of a service for better ones. Each trial is a pair of
launches, the present setting and a candidate, interleaved under the same load. A model
of the trials proposes the next one; the best half is measured again and again until one
is left. A fresh session of new launches, as of redline ab, then decides: a setting is
recommended only if it confirms a gain that it can detect. Otherwise tune says to keep
what you have, which is a result.

Knobs, each with a range (50..400, 64MiB..1GiB) or a list (a,b,c):
  GOGC, GOMEMLIMIT, GOMAXPROCS   the Go runtime's
  env:NAME                       a variable of the environment
  flag:-name                     an argument of the command line
  pgo                            built with a profile of itself, or not (or --pgo)

The present setting is the scenario as it is. One knob alone is swept over all its
values, and its knee is drawn. tune launches the target itself, so each trial is ended
with its launch, and a service that runs elsewhere keeps what it had.

Objectives: throughput (default; closed loop), cpu per request (default at a rate), p50,
p90, p99 (at a rate), memory; "throughput at p99 < 20ms" and --guard add limits that a
recommended setting must keep. A setting under which requests fail is out at once.

Trials stay in runs/<time>-tune; after an interrupt, -o DIR --resume goes on.

Exit code 0: a setting is recommended, or the present one is to be kept. 1: no setting
keeps the guards. 2: usage or input error. 3: the measurement is invalid. 130: interrupted.`,
		Example: `  redline tune scenario.yaml --knob GOGC=50..400 --knob GOMAXPROCS=1..8 --knob env:DB_POOL=2..64
  redline tune scenario.yaml --knob GOGC=50..800 --objective "throughput at p99 < 20ms" --guard "rss < 512MiB"
  redline tune scenario.yaml --knob flag:-workers=1..32 --rate 2000/s --objective p99 --max-time 10m
  redline tune scenario.yaml --pgo`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.register(cmd)
	return cmd
}

func (f *tuneFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.LoadFlags(flags)
	flags.MarkHidden("duration") // begin refuses both
	flags.MarkHidden("requests")
	f.ProtocolFlags(flags)
	f.TargetFlags(flags)
	flags.StringArrayVar(&f.knobs, "knob", nil,
		"`name=values` to search: a range (50..400) or a list (a,b,c); may be repeated")
	flags.StringVar(&f.objective, "objective", "", "`what` to make better: throughput, cpu, p50, p90, p99, memory")
	flags.StringArrayVar(&f.guards, "guard", nil,
		"`limit` to keep (\"p99 < 20ms\", \"rss < 512MiB\", \"errors < 0.1%\"); may be repeated")
	flags.DurationVar(&f.maxTime, "max-time", tuning.DefaultMaxTime, "end after this `time`, confirmation included")
	flags.IntVar(&f.trials, "trials", 0, "search by at most `n` trials (default 40 per knob, as the time allows)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the search (default random)")
	flags.DurationVar(&f.block, "block", 0, "measured `time` of each launch (default 2s)")
	flags.BoolVar(&f.pgo, "pgo", false, "same as --knob pgo")
	flags.BoolVar(&f.sweep, "sweep", false, "try every setting in turn instead of searching")
	flags.BoolVar(&f.apart, "one-at-a-time", false, "never run both sides at once")
	flags.StringVarP(&f.Out, "output", "o", "", "`directory` that keeps the trials (default runs/<time>-tune)")
	flags.BoolVar(&f.resume, "resume", false, "continue the interrupted tune in the directory of -o")
	flags.BoolVar(&f.JSON, "json", false, "print tune.json alone on stdout")
	flags.StringVar(&f.markdown, "markdown", "", "write the result as Markdown to `file`")
	cli.HistoryFlag(flags, &f.History)
	cmd.MarkFlagsMutuallyExclusive("exec", "build", "pid")
}

// knobList returns the knobs that were asked for, as they were written and parsed.
func (f *tuneFlags) knobList() (words []string, knobs []tune.Knob, err error) {
	words = f.knobs
	if f.pgo && !strings.Contains(" "+strings.Join(words, " ")+" ", " pgo ") {
		words = append(words, "pgo")
	}
	for _, text := range words {
		k, err := tune.ParseKnob(text)
		if err != nil {
			return nil, nil, err
		}
		knobs = append(knobs, k)
	}
	return words, knobs, nil
}

// check refuses what no tune can do, before anything is built.
func (f *tuneFlags) check(cmd *cobra.Command, plan *scenario.Plan, space tune.Space) error {
	for _, flag := range []string{"duration", "requests"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s does not apply to a tune: --block is the measured time of each launch, and --trials or --max-time ends it", flag)
		}
	}
	if plan.Target.PID != 0 || plan.Target.Build == "" && len(plan.Target.Exec) == 0 {
		return errors.New("tune launches the service with each setting, and the scenario names no target to launch (hint: --build ./cmd/svc or --exec CMD)")
	}
	if f.resume && f.Out == "" {
		return errors.New("no tune to resume (hint: -o runs/...)")
	}
	for _, k := range space.Knobs {
		if k.Kind == tune.PGO && plan.Target.Build == "" {
			return errors.New("knob pgo builds the target, and the scenario has no target.build (hint: --build ./cmd/svc)")
		}
	}
	return nil
}

func (f *tuneFlags) run(cmd *cobra.Command, args []string) error {
	words, knobs, err := f.knobList()
	if err != nil {
		return err
	}
	plan, err := f.Plan(cmd, args)
	if err != nil {
		return err
	}
	space, err := tune.NewSpace(knobs, tuning.Present(plan))
	if err != nil {
		return err
	}
	objective, err := tune.ParseObjective(f.objective, f.guards, plan.Load.Open())
	if err != nil {
		return err
	}
	if err := f.check(cmd, plan, space); err != nil {
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
	if store != nil {
		defer store.Close()
	}
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
		Sweep: f.sweep || len(knobs) == 1, OneAtATime: f.apart, Seed: f.seed, Resume: f.resume,
		Header: tuning.Header{Plan: plan.Redacted(), Objective: objective.String(), Knobs: words,
			Host: record.HostInfo()},
		OnProgress: progress.Step,
	}
	if t.Seed == 0 {
		t.Seed = rand.Uint64N(1 << 32)
	}
	b := builder{scratch: folder.Path, note: progress.Note, done: map[revision.Sources]revision.Built{}}
	if t.Present, t.Header.Service, err = (side{}).prepare(cmd.Context(), plan, "a", b); err != nil {
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
			"launches")+" measured again: the generator could not keep up")
	}
	progress.Note("kept in %s", f.Out)
	f.keep(cmd.Context(), store, t, plan, launcher, progress)
	return errors.Join(f.print(cmd.OutOrStdout(), r), f.exit(cmd.Context(), progress, r, err))
}

// profile builds the target by a profile where the knob pgo is among the knobs, and says what that
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
	progress.Note("building by the profile")
	t.Profiled = filepath.Join(filepath.Dir(t.Present.Binary), "target-profiled")
	if err := tuning.BuildProfiled(ctx, plan, path, t.Profiled); err != nil {
		return nil, err
	}
	inlining, err := tuning.Inlining(ctx, plan, path)
	if err != nil && ctx.Err() == nil {
		// What it inlined explains a gain and is no part of the measurement.
		progress.Note("redline: without what the profile inlined: %v", err)
		return nil, nil
	}
	return inlining, err
}

// keep adds the confirmed setting's figures to the history, if there was a confirmation.
func (f *tuneFlags) keep(ctx context.Context, store *history.Store, t *tuning.Tuner, plan *scenario.Plan,
	l *session.Launcher,
	progress *cli.Progress) {
	if store == nil {
		return
	}
	recorded, err := session.ReadSession(filepath.Join(f.Out, tuning.ConfirmDir))
	if err != nil {
		progress.Note("not kept in the history: no setting came to a confirmation")
		return
	}
	now, err := session.Surroundings(plan, t.Present, l)
	recorded.Header.Go, recorded.Header.Block = now.Go, now.Duration
	recorded.Header.Redline = cli.Version()
	if t.Present.Binary != "" {
		recorded.Header.Commit = revision.Describe(ctx, "")
	} else {
		recorded.Header.Commit = revision.DescribeBinary(ctx, t.Present.Plan.Target.Exec)
	}
	kept := history.Result{}
	if err == nil {
		kept, err = history.FromTune(f.Out, recorded)
	}
	cli.Keep(ctx, store, kept, err, progress.Note)
}

// cutShort is the exit of a tune without a result.
func (f *tuneFlags) cutShort(ctx context.Context, progress *cli.Progress, err error) error {
	if ctx.Err() == nil {
		return cli.Exit(cli.ExitUndecided, err)
	}
	progress.Note("interrupted: go on with the same command and -o %s --resume", f.Out)
	return cli.Exit(cli.ExitInterrupted, nil)
}

// print writes the result in the formats asked for.
func (f *tuneFlags) print(w io.Writer, r tune.Result) error {
	var err error
	if f.markdown != "" {
		err = disk.WriteOutput(f.markdown, func(w io.Writer) error {
			return render.Markdown(inert.NewWriter(w, false),
				r)
		})
	}
	if f.JSON {
		return errors.Join(inert.JSON(w, r), err)
	}
	return errors.Join(render.Text(w, r), err)
}

// exit says the verdict by the exit code.
func (f *tuneFlags) exit(ctx context.Context, progress *cli.Progress, r tune.Result, err error) error {
	switch {
	case ctx.Err() != nil:
		return f.cutShort(ctx, progress, err)
	case err != nil:
		return cli.Exit(cli.ExitUndecided, err)
	}
	switch r.Verdict {
	case tune.Recommend, tune.Keep:
		return nil
	case tune.Unmet:
		return cli.Exit(cli.ExitFailed, nil)
	}
	return cli.Exit(cli.ExitUndecided, nil)
}
