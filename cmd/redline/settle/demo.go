package settle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/cmd/redline/measure"
	"github.com/redline-go/redline/demo"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/web"
)

// DemoCommand returns the verb demo.
func DemoCommand() *cobra.Command {
	var asJSON, plain bool
	var address string
	o := demo.Options{Version: cli.Version()}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Find the bottleneck of a real order gateway, fix it step by step, and measure each gain",
		Long: `demo starts its own PostgreSQL and the lab's order gateway, which has common defects. It
finds the bottleneck, applies the remedy of the first finding, runs again, compares both
states in turns under the same load, and so on. At the end it prints the gain of each
step, with its interval or as within the noise. It needs a checkout of redline, and takes
less than four minutes on two cores.

--web shows each step live in a browser, and the ladder of gains at the end.

redline lab ladder order --full measures the same steps with several launches of each
state.`,
		Example: "  redline demo\n  redline demo --json > ladder.json",
		Args: func(cmd *cobra.Command, args []string) error {
			return noArgument("it runs the lab's own gateway; redline run measures your service")(cmd, measure.WebAddress(&address, args))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return climb(cmd, o, address, asJSON, plain)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Checkout, "checkout", ".", "use the checkout of redline that directory `DIR` is in")
	flags.StringVarP(&o.Dir, "out", "o", "", "keep the bundles in directory `DIR` (default runs/<time>-demo)")
	flags.StringVar(&o.DSN, "postgres", "", "use the throwaway PostgreSQL at `DSN` instead of starting one")
	flags.DurationVarP(&o.Duration, "duration", "d", 3*time.Second, "diagnose each step for `TIME`")
	flags.DurationVar(&o.Warmup, "warmup", time.Second, "warm each step up for `TIME`")
	flags.IntVar(&o.MaxSteps, "max-steps", 0, "stop after `N` steps (default: when no finding has a remedy left)")
	flags.BoolVar(&asJSON, "json", false, "print only the ladder, as JSON, on stdout")
	measure.WebFlag(flags, &address, "each step")
	flags.BoolVar(&plain, "plain", false, "print plain progress lines even on a terminal")
	return cmd
}

func climb(cmd *cobra.Command, o demo.Options, address string, asJSON, plain bool) (failed error) {
	var err error
	if o.Checkout, err = demo.FindCheckout(o.Checkout); err != nil {
		return err
	}
	reservation, err := cli.Reserve(o.Dir, "demo")
	if err != nil {
		return err
	}
	defer reservation.Release()
	o.Dir = reservation.Dir()
	view := cli.NewView(cmd.ErrOrStderr(), "the order gateway", plain, nil)
	defer view.Close()
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	page, err := measure.WatchSteps(cmd, address, "redline demo", redact.New(), stop, func(text string) {
		view.Pause(func() { inert.Fprintf(cmd.ErrOrStderr(), "%s\n", text) })
	})
	if err != nil {
		return err
	}
	defer func() { page.Close(ctx, failed) }()
	reported := cmd.OutOrStdout()
	if asJSON {
		reported = cmd.ErrOrStderr()
	}
	o.Follow = page.Follower()
	o.OnEvent = func(e run.Event) {
		view.Event(e)
		page.Event(e)
	}
	o.OnStep = func(s demo.Step) { view.Pause(func() { tellStep(reported, s) }) }
	steps, _, climbErr := demo.Run(ctx, o)
	view.Close()
	if len(steps) == 0 {
		return cli.UsageOrInterrupt(ctx, climbErr)
	}
	first, err := ladderPage(steps)
	if err != nil {
		inert.Fprintf(cmd.ErrOrStderr(), "redline: report.html: %v\n", err)
	}
	ladder := report.NewLadder(first, rungs(steps)...)
	write := func(w io.Writer) error { return web.Ladder(w, ladder) }
	if err := errors.Join(disk.WriteOutput(filepath.Join(o.Dir, "ladder.html"), write), page.Show(write)); err != nil {
		inert.Fprintf(cmd.ErrOrStderr(), "redline: %v\n", err)
	}
	if asJSON {
		err = ladder.JSON(cmd.OutOrStdout())
	} else {
		inert.Fprintf(reported, "\n")
		err = ladder.Text(reported, report.TextOptions{Color: cli.Colour(reported)})
	}
	switch {
	case ctx.Err() != nil:
		return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted; the runs so far are kept in %s", o.Dir))
	case climbErr != nil:
		return cli.Exit(cli.ExitUndecided, climbErr)
	}
	return err
}

// tellStep prints a step's figures and the bottleneck found in it.
func tellStep(w io.Writer, s demo.Step) {
	inert.Fprintf(w, "\n== %s: %s\n", s.Step.Step, s.Title)
	report.Head(w, s.Summary, report.TextOptions{Color: cli.Colour(w), Width: cli.Width(w)})
}

// ladderPage writes the page of every step and returns the path of the first:
// the bottleneck of the service as it was found.
func ladderPage(steps []demo.Step) (string, error) {
	for _, s := range steps {
		rec, err := record.Open(s.Dir)
		if err != nil {
			return "", err
		}
		if err := cli.WriteHTML(rec, s.Summary); err != nil {
			return "", err
		}
	}
	return filepath.Join(steps[0].Dir, cli.ReportFile), nil
}

func rungs(steps []demo.Step) []report.Step {
	var out []report.Step
	for _, s := range steps {
		out = append(out, s.Step)
	}
	return out
}
