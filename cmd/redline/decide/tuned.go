package decide

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	tuning "github.com/redline-go/redline/tune/measure"
	"github.com/redline-go/redline/tune/render"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify/session"
)

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
