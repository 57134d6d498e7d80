package settle

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/demo"
	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
)

func labLadderCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ladder",
		Short: "Tune the order gateway step by step, and measure each gain",
		Long: `ladder tunes the lab's order gateway step by step under mixed traffic: queries,
balances, new orders and reversals. It compares adjacent states while both are up, in
turns under the same load. Each gain has an interval or is within the noise; if a
finding called for the step, the result names it. The ladder stops at a state whose
responses differ from those of the service as found, or that loses or doubles an order.`,
		Example: "  redline lab ladder order --quick\n  redline lab ladder stack --full --resume",
		Args:    verbsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		climbCommand(ladder.Order, "Let the findings choose the steps (claims A-ladder and A-gateway-final)",
			`order begins with the gateway and its common defects. The first finding of each run
chooses the next step, until no finding calls for any of the remaining remedies.`),
		climbCommand(ladder.Stack, "Take the steps of a report on Gin, GORM and PostgreSQL (claim D-ladder)",
			`stack begins with the defaults of Gin, GORM and database/sql, and an index. It takes the
steps of a report in the report's order, and says of each whether a finding called for
it. At the end pgbench, if installed, reads from the same server.`))
	return cmd
}

// ladderFlags are the flags of `redline lab ladder NAME`.
type ladderFlags struct {
	demo.Options
	checkout, out       string
	quick, json, resume bool
	markdown            bool
}

func climbCommand(name, short, long string) *cobra.Command {
	var f ladderFlags
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Long: long + `

The result is kept after each step. Ctrl-C stops the current step, and --resume continues.

Exit code 0: the ladder was climbed to its end. 2: usage or input error. 3: it stopped
early, with the reason. 130: interrupted.`,
		Example: strings.ReplaceAll("  redline lab ladder NAME\n  redline lab ladder NAME --full --resume\n"+
			"  redline lab ladder NAME --json > ladder.json", "NAME", name),
		Args: noArgument("gateway, load and steps are the ladder's own; redline tune searches the settings of your service"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Ladder, f.Version, f.Whole = name, cli.Version(), true
			return f.climb(cmd)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.quick, "quick", false, "one launch of each state per comparison: a few minutes (the default)")
	flags.BoolVar(&f.Full, "full", false, "pairs of launches: about a quarter of an hour")
	flags.BoolVar(&f.resume, "resume", false, "continue from the kept result")
	flags.StringVar(&f.checkout, "checkout", ".", "use the checkout of redline that directory `DIR` is in")
	flags.StringVarP(&f.out, "out", "o", labDir, "keep the result in directory `DIR`")
	flags.StringVar(&f.DSN, "postgres", "", "use the throwaway PostgreSQL at `DSN` instead of starting one")
	flags.IntVar(&f.MaxSteps, "max-steps", 0, "stop after `N` steps (default: at the ladder's end)")
	flags.Int64Var(&f.Requests, "requests", 0, "end each measurement after `N` requests instead of after a time")
	flags.Uint64Var(&f.Seed, "seed", 0, "random seed `N` for the order of turns (default random)")
	flags.BoolVar(&f.json, "json", false, "print only the result, as JSON, on stdout")
	flags.BoolVar(&f.markdown, "markdown", false, "print the tables as Markdown")
	cmd.MarkFlagsMutuallyExclusive("quick", "full")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	_ = cmd.MarkFlagDirname("out") // these fail only for a flag that is not there
	_ = cmd.MarkFlagDirname("checkout")
	return cmd
}

func (f *ladderFlags) climb(cmd *cobra.Command) error {
	if f.Requests < 0 || f.MaxSteps < 0 {
		return errors.New("--requests and --max-steps must not be negative")
	}
	var err error
	if f.Checkout, err = demo.FindCheckout(f.checkout); err != nil {
		return err
	}
	if err := f.from(); err != nil {
		return err
	}
	progress := cmd.ErrOrStderr()
	view := cli.NewView(progress, "the order gateway", true, nil)
	defer view.Close()
	shown := ""
	f.OnEvent, f.OnResult = view.Event, func(r ladder.Result) error {
		if line := decided(r); line != shown {
			shown = line
			view.Pause(func() { inert.Fprintf(progress, "%s\n", line) })
		}
		return r.Keep(f.out)
	}
	_, result, err := demo.Run(cmd.Context(), f.Options)
	view.Close()
	if len(result.Rungs) == 0 {
		return cli.UsageOrInterrupt(cmd.Context(), err)
	}
	if writeErr := f.write(cmd.OutOrStdout(), result); writeErr != nil {
		return writeErr
	}
	inert.Fprintf(progress, "result: %s\n", filepath.Join(f.out, ladder.File(result.Ladder)))
	switch {
	case cmd.Context().Err() != nil:
		return cli.Exit(cli.ExitInterrupted, errors.New("interrupted; what was decided is kept (hint: --resume continues)"))
	case err != nil:
		return cli.Exit(cli.ExitUndecided, err)
	}
	return nil
}

// from reads the kept result to continue from, if --resume asks for it.
func (f *ladderFlags) from() error {
	if !f.resume {
		return nil
	}
	kept, ok, err := ladder.Read(f.out, f.Ladder)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("no ladder %s in %s to continue (hint: without --resume)", f.Ladder, f.out)
	case kept.Quick == f.Full:
		form := map[bool]string{true: "--quick", false: "--full"}[kept.Quick]
		return fmt.Errorf("the ladder in %s was measured in the other form (hint: %s)", f.out, form)
	}
	f.From = &kept
	return nil
}

func (f *ladderFlags) write(w io.Writer, r ladder.Result) error {
	switch {
	case f.json:
		return inert.JSON(w, r)
	case f.markdown:
		return r.Markdown(inert.NewWriter(w, false))
	}
	return r.Text(inert.NewWriter(w, false))
}

// decided describes what was decided last.
func decided(r ladder.Result) string {
	last := r.Rungs[len(r.Rungs)-1]
	switch against := last.Against; {
	case r.Whole != nil:
		change, _ := r.Whole.Of(ladder.Throughput)
		return fmt.Sprintf("%s against %s: %s", r.Whole.B, r.Whole.A, gainOr(change, r.Whole.Invalid))
	case against == nil:
		return fmt.Sprintf("%s: %s requests/s", last.Name, notation.Rate(last.Rate))
	default:
		change, _ := against.Of(ladder.Throughput)
		return fmt.Sprintf("%s (%s): %s", last.Name, last.CalledFor(), gainOr(change, against.Invalid))
	}
}

// gainOr is a gain, or why there is none.
func gainOr(c ladder.Change, invalid string) string {
	if invalid != "" {
		return "not measured: " + invalid
	}
	return c.Text()
}
