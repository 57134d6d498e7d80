package decide

import (
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	tuning "github.com/redline-go/redline/tune/measure"
	"github.com/redline-go/redline/tune/render"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify/session"
)

// keep adds the trials to the history, and the confirmed setting's figures if there was a
// confirmation.
func (f *tuneFlags) keep(ctx context.Context, store *history.Store, t *tuning.Tuner, plan *scenario.Plan,
	l *session.Launcher, r tune.Result, began time.Time, progress *cli.Progress) {
	if store == nil {
		return
	}
	now, err := session.Surroundings(plan, t.Present, l)
	commit := cli.TargetCommit(ctx, t.Present.Plan.Target, "")
	keepTrials(ctx, store, t, history.Session{
		Kind: history.Tune, Time: began, Commit: commit, Scenario: now.Scenario, Hash: now.Hash, Machine: now.Host, Redline: cli.Version(),
		Answer: strings.ToUpper(string(r.Verdict)) + ": " + r.Why,
	}, err, progress.Note)
	recorded, readErr := session.ReadSession(filepath.Join(f.Out, tuning.ConfirmDir))
	if readErr != nil {
		progress.Note("no figures for the history: no setting reached confirmation")
		return
	}
	recorded.Header.Go, recorded.Header.Block = now.Go, now.Duration
	recorded.Header.Redline, recorded.Header.Commit = cli.Version(), commit
	kept := history.Result{}
	if err == nil {
		kept, err = history.FromTune(f.Out, recorded)
	}
	cli.Keep(ctx, store, kept, err, progress.Note)
}

// keepTrials adds what a tune tried to the history.
func keepTrials(ctx context.Context, store *history.Store, t *tuning.Tuner, s history.Session, err error,
	note func(string, ...any)) {
	if path, absErr := filepath.Abs(t.Dir); absErr == nil {
		s.Dir = path
	}
	metric := t.Objective.Metric.Name
	for _, one := range t.Tried() {
		kept := history.Trial{
			Phase: string(one.Phase), Setting: t.Space.String(one.Setting), Outcome: "served",
			Metric: metric + ", gain", Unit: history.Relative,
			Value: math.Expm1(one.Gain),
		}
		switch {
		case one.Failed != "":
			kept.Outcome, kept.Value = "failed", math.NaN()
			kept.Note, _, _ = strings.Cut(one.Failed, "\n")
		case one.Broken != "":
			kept.Outcome, kept.Note = "breaks a guard", one.Broken
		}
		s.Trials = append(s.Trials, kept)
	}
	cli.KeepSession(ctx, store, s, err, note)
}

// cutShort is the exit of a tune without a result.
func (f *tuneFlags) cutShort(ctx context.Context, progress *cli.Progress, err error) error {
	if ctx.Err() == nil {
		return cli.Exit(cli.ExitUndecided, err)
	}
	progress.Note("interrupted: continue with the same command and -o %s --resume", f.Out)
	return cli.Exit(cli.ExitInterrupted, nil)
}

// print writes the result in the requested formats.
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

// exit returns the exit code of the verdict.
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
