package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/knee/render"
	"github.com/redline-go/redline/knee/session"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/web"
)

// kneeFlags are the flags of `redline knee`.
type kneeFlags struct {
	Flags
	maxTime, soak time.Duration
	from          string
	markdown      string
}

// KneeCommand returns the verb knee.
func KneeCommand() *cobra.Command {
	var f kneeFlags
	cmd := &cobra.Command{
		Use:   "knee URL | scenario.yaml [-- ARGS]",
		Short: "Find the highest rate that a service sustains, and what limits it there",
		Long: `knee finds the highest rate at which a service meets its objectives, as an interval,
and what limits it there. It measures the unloaded service, sweeps connections up and
down, and tries rates on both sides of the knee until the steps agree. Then it overloads
the service once to see whether it recovers, soaks it at 80 % of the knee, and finally
observes everything just above the knee: the first finding there is what limits the
capacity.

Objectives are the thresholds of the scenario, or --threshold. Without any, fewer than
1 % of the requests may fail, and p99 must stay below 20 ms or ten times the p99 of the
unloaded service, whichever is larger. In all cases no queue may grow.

redline relaunches a service that it starts (--build, --exec) during the search, because
random effects of a launch, such as memory layout, last as long as the process. The
steps are kept in runs/<time>-knee/. --from DIR computes the answer from them again, by
the same objectives, and redline report DIR/at-knee shows what was observed at the knee.
--history keeps the steps, and the capacity by commit.

--web shows each step live in a browser, and the answer at the end.

Exit code 0: found. 2: usage or input error. 3: undecided: the generator was the limit,
no rate was steady, or the service failed or exited. 130: interrupted; the answer rests
on the steps so far, which are kept.`,
		Example: `  redline knee http://127.0.0.1:8080/ --build ./cmd/svc
  redline knee scenario.yaml --max-time 8m --threshold 'p99 < 50ms'
  redline knee --from runs/20260301-101500-knee`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.from != "" {
				return f.again(cmd, args)
			}
			return f.knee(cmd, args)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *kneeFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.TargetFlags(flags)
	cli.Under(flags, "Search", f.searchFlags)
	f.LoadFlags(flags)
	f.RequestFlags(flags)
	f.ObserveFlags(flags)
	f.RecordFlags(flags)
	cli.Under(flags, "Output", f.answerFlags)
	for _, name := range append([]string{"no-observe"}, setByKnee...) {
		_ = flags.MarkHidden(name) // it fails only for a flag that is not there
	}
	flags.Lookup("poisson").Usage = "random arrivals, as from many independent users, instead of evenly spaced ones" // knee has no --rate
	cmd.MarkFlagsMutuallyExclusive("exec", "build", "pid")
	cmd.MarkFlagsMutuallyExclusive("body", "data")
	completions(cmd)
}

func (f *kneeFlags) searchFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&f.maxTime, "max-time", session.DefaultMaxTime, "end after `TIME`, with what is known by then")
	flags.DurationVar(&f.soak, "soak", session.DefaultSoak, "soak for at most `TIME`")
	flags.StringVar(&f.from, "from", "", "compute the answer again from the steps in directory `DIR`, without measuring")
}

func (f *kneeFlags) answerFlags(flags *pflag.FlagSet) {
	WebFlag(flags, &f.web, "each step")
	flags.StringVarP(&f.Out, "out", "o", "", "keep the steps in directory `DIR` (default runs/<time>-knee)")
	flags.BoolVar(&f.JSON, "json", false, "print only knee.json on stdout")
	flags.StringVar(&f.markdown, "markdown", "", "write the answer as Markdown to `FILE`")
	cli.HistoryFlag(flags, &f.History)
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "copy the service's output to stderr")
}

// setByKnee are the load flags that a knee sets itself.
var setByKnee = []string{"connections", "rate", "rate-per-connection", "replay", "replay-methods", "speed", "think",
	"requests", "duration", "warmup"}

func (f *kneeFlags) knee(cmd *cobra.Command, args []string) error {
	for _, name := range append(setByKnee, "no-observe") {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s does not apply: knee chooses the load of its steps and what they observe (hint: --max-time)", name)
		}
	}
	poisson := f.Poisson
	f.Poisson = false // without a rate the plan would refuse it
	plan, err := f.Plan(cmd, args)
	if err != nil {
		return err
	}
	if poisson {
		plan.Load.Arrivals = scenario.PoissonArrivals
	}
	reservation, err := cli.Reserve(f.Out, "knee")
	if err != nil {
		return err
	}
	defer reservation.Release()
	store, err := cli.OpenHistory(cmd.Context(), f.History)
	if err != nil {
		return err
	}
	defer store.Close()
	progress := cli.NewProgress(cmd.ErrOrStderr())
	defer progress.Close()
	o := session.Options{
		Plan: plan, Dir: reservation.Dir(), Target: redact.Text(string(plan.Requests[0].URL)), Version: cli.Version(), MaxTime: f.maxTime,
		Soak: f.soak, OnProgress: func(p session.Progress) { showKnee(progress, p) },
	}
	if f.verbose {
		o.Output = cmd.ErrOrStderr()
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	page, err := WatchSteps(cmd, f.web, o.Target, plan.Redactor(os.Environ()), stop, func(text string) { progress.Note("%s", text) })
	if err != nil {
		return err
	}
	page.ofKnee(&o)
	answer, err := session.Run(ctx, o)
	defer func() { page.Close(ctx, err) }()
	if answer == nil {
		return cli.UsageOrInterrupt(ctx, err)
	}
	progress.Note("kept in %s", reservation.Dir())
	keepKnee(ctx, store, reservation.Dir(), plan, answer, progress.Note)
	return errors.Join(f.print(ctx, cmd.OutOrStdout(), answer), page.showKnee(answer), err)
}

// ofKnee has the page show each step of a session: the session reports which step it is, and the step's run its progress.
func (s *Steps) ofKnee(o *session.Options) {
	if s == nil {
		return
	}
	reported := o.OnProgress
	o.OnProgress = func(p session.Progress) {
		reported(p)
		if !p.Within {
			s.Event(run.Event{Phase: p.Text})
		}
	}
	o.OnEvent = func(e run.Event) {
		e.Phase = "" // of the step, which the page names
		s.Event(e)
	}
	o.Follow = s.Follower()
}

// showKnee ends the page with the answer as the command line prints it.
func (s *Steps) showKnee(a *knee.Answer) error {
	return s.Show(func(w io.Writer) error {
		var text bytes.Buffer
		if err := render.Text(&text, a); err != nil {
			return err
		}
		return web.Text(w, "redline knee", text.String())
	})
}

// showKnee shows how a session goes; the windows of a step in progress only where lines
// are overwritten.
func showKnee(to *cli.Progress, p session.Progress) {
	switch {
	case !p.Within:
		to.Step(fmt.Sprintf("%s; at most %s left", p.Text, p.Left.Round(time.Second)))
	case to.Redraws():
		to.Step(p.Text)
	}
}

// withFrom are the flags that kept steps can have: the others say how to measure, and what to keep of it.
var withFrom = []string{"from", "json", "markdown"}

func (f *kneeFlags) again(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return errors.New("--from uses kept steps, and takes no target")
	}
	var others []string
	cmd.Flags().Visit(func(given *pflag.Flag) {
		if !slices.Contains(withFrom, given.Name) {
			others = append(others, "--"+given.Name)
		}
	})
	if len(others) > 0 {
		return fmt.Errorf("%s would change nothing: --from answers from steps that were measured and judged before, and takes only "+
			"--json and --markdown", strings.Join(others, ", "))
	}
	answer, err := session.Read(f.from)
	if err != nil {
		return err
	}
	return f.print(cmd.Context(), cmd.OutOrStdout(), answer)
}

// print writes the answer in the requested formats, and returns the exit code.
func (f *kneeFlags) print(ctx context.Context, w io.Writer, a *knee.Answer) error {
	var err error
	if f.JSON {
		err = inert.JSON(w, a)
	} else {
		err = render.Text(w, a)
	}
	if f.markdown != "" {
		err = errors.Join(err, disk.WriteOutput(f.markdown, func(w io.Writer) error {
			return render.Markdown(inert.NewWriter(w, false), a)
		}))
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return cli.Exit(cli.ExitInterrupted, errors.New("interrupted; what was measured is kept"))
	case a.State == knee.Found:
		return nil
	}
	return cli.Exit(cli.ExitUndecided, fmt.Errorf("%s: %s", a.State, a.Why))
}
