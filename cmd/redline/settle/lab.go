// Package settle holds the verbs that settle tuning claims on this machine: lab and demo.
package settle

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/demo"
	"github.com/redline-go/redline/experiment"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
)

// labDir is where the lab keeps its results by default: each run adds to it.
const labDir = "runs/lab"

// LabCommand returns the verb lab.
func LabCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Test well-known tuning claims on this machine",
		Long: `lab tests claims from reports on tuning Go services. For each claim, an experiment
compares a baseline with the tuned form in interleaved rounds, by the rules of redline
bench. Its verdict is confirmed, smaller, no effect, reversed, inconclusive, or not
applicable if it cannot be tried on this machine.

It needs a checkout of redline and the go command. docs/claims.md holds all claims with
the verdicts of one machine.`,
		Example: `  redline lab list
  redline lab run --quick
  redline lab run C-fast-clock E-atomic
  redline lab report > claims.html`,
		Args: verbsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(labListCommand(), labRunCommand(), labReportCommand(), labLadderCommand())
	return cmd
}

// labFlags are the flags of `redline lab run`.
type labFlags struct {
	experiment.Session
	checkout   string
	full, json bool
	itself     int
}

func labRunCommand() *cobra.Command {
	var f labFlags
	cmd := &cobra.Command{
		Use:   "run [ID...]",
		Short: "Run experiments: all, or those of some claims",
		Long: `run measures experiments one after the other. Each result is kept as soon as it is
decided. Ctrl-C stops the current experiment and keeps the results so far; --resume
continues.

Exit code 0: each experiment has a verdict other than inconclusive. 2: usage or input
error, or an experiment fails. 3: one is inconclusive. 130: interrupted.`,
		Example: `  redline lab run --quick
  redline lab run E-atomic E-atomic.sharded
  redline lab run --resume
  redline lab run E-atomic --quick --aa 10
  redline lab run D-router --json`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return labIDs(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, ids []string) error { return f.run(cmd, ids) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.Quick, "quick", false, "few and short rounds: about 12 s per experiment; small effects stay inconclusive")
	flags.BoolVar(&f.full, "full", false, "as many rounds as a verdict takes: about half a minute per experiment (the default)")
	flags.BoolVar(&f.Resume, "resume", false, "skip experiments that already have a result of the same kind")
	flags.StringVar(&f.checkout, "checkout", ".", "use the checkout of redline that directory `DIR` is in")
	flags.StringVarP(&f.Dir, "out", "o", labDir, "keep the results in directory `DIR`; a new result replaces the experiment's "+
		"old one")
	flags.Uint64Var(&f.Seed, "seed", 0, "random seed `N` for the order of rounds (default random)")
	flags.BoolVar(&f.json, "json", false, "print only the results, as JSON, on stdout")
	flags.IntVar(
		&f.itself,
		"aa",
		0,
		"compare each baseline `N` times with itself, and count verdicts that claim a difference; keeps no results",
	)
	cmd.MarkFlagsMutuallyExclusive("quick", "full")
	cmd.MarkFlagsMutuallyExclusive("aa", "json")
	cmd.MarkFlagsMutuallyExclusive("aa", "resume")
	_ = cmd.MarkFlagDirname("out") // these fail only for a flag that is not there
	_ = cmd.MarkFlagDirname("checkout")
	return cmd
}

// labIDs are the IDs that `lab run` takes.
func labIDs() []string {
	var ids []string
	for _, e := range experiment.Suite() {
		ids = append(ids, e.ID)
	}
	return ids
}

func (f *labFlags) run(cmd *cobra.Command, ids []string) error {
	chosen, err := experiment.Find(experiment.Suite(), ids)
	if err != nil {
		return unknownExperiment(err)
	}
	if f.Checkout, err = demo.FindCheckout(f.checkout); err != nil {
		return err
	}
	if f.Seed == 0 {
		f.Seed = rand.Uint64()
	}
	if f.itself > 0 {
		return f.againstItself(cmd, chosen)
	}
	progress, out := cmd.ErrOrStderr(), cmd.OutOrStdout()
	begun, n := time.Now(), 0
	f.OnLine = begin(progress)
	f.OnResult = func(at, of int, r experiment.Result) {
		n++
		left := time.Duration(float64(time.Since(begun)) / float64(n) * float64(of-at))
		if !f.json {
			printResult(out, r)
		}
		if at < of {
			inert.Fprintf(progress, "%d of %d; about %s left\n", at, of, notation.Duration(int64(left.Round(time.Second))))
		}
	}
	results, err := f.Session.Run(cmd.Context(), chosen)
	if f.json {
		if encodeErr := inert.JSON(out, results); encodeErr != nil {
			return encodeErr
		}
	}
	inert.Fprintf(progress, "results: %s\n", filepath.Join(f.Dir, experiment.ResultsFile))
	switch {
	case cmd.Context().Err() != nil:
		return interrupted(err)
	case err != nil:
		return err
	}
	return undecided(chosen, results)
}

// interrupted is the exit of a session that Ctrl-C ended; it names the experiments that had
// failed before.
func interrupted(err error) error {
	text := errors.New("interrupted; what was decided is kept (hint: --resume continues)")
	var failed experiment.FailedError
	if errors.As(err, &failed) {
		text = fmt.Errorf("%w; failed: %w", text, failed)
	}
	return cli.Exit(cli.ExitInterrupted, text)
}

// againstItself counts how often a verdict claims a difference between a baseline and itself.
func (f *labFlags) againstItself(cmd *cobra.Command, chosen []experiment.Experiment) error {
	out, wrong, tried := cmd.OutOrStdout(), 0, 0
	summarise := func() {
		inert.Fprintf(out, "%d of %d verdicts on a baseline against itself claim a difference\n", wrong, tried)
	}
	for _, e := range chosen {
		for n := range f.itself {
			f.Seed++
			r, err := f.Session.Itself(cmd.Context(), e)
			switch {
			case experiment.Interrupted(cmd.Context(), err):
				summarise()
				return cli.Exit(cli.ExitInterrupted, errors.New("interrupted"))
			case err != nil:
				return fmt.Errorf("%s: %w", e.ID, err)
			}
			tried++
			switch r.Verdict {
			case experiment.Confirmed, experiment.Smaller, experiment.Reversed:
				wrong++
			}
			inert.Fprintf(out, "%-22s %d of %d: %s, %s\n", e.ID, n+1, f.itself, r.Verdict, experiment.GainText(r.Gain))
		}
	}
	summarise()
	return nil
}

// begin returns a function that prints a line when an experiment begins.
func begin(w io.Writer) func(experiment.Experiment, string) {
	last := ""
	return func(e experiment.Experiment, _ string) {
		if e.ID != last {
			inert.Fprintf(w, "%s: %s, against %s\n", e.ID, e.Tuned, e.Baseline)
		}
		last = e.ID
	}
}

// undecided is the error of experiments that ended without a verdict.
func undecided(chosen []experiment.Experiment, results experiment.Results) error {
	var open []string
	for _, e := range chosen {
		if r, ok := results.Of(e.ID); ok && r.Verdict == experiment.Inconclusive {
			open = append(open, e.ID)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return cli.Exit(cli.ExitUndecided, fmt.Errorf("inconclusive: %s (hint: run these with --full, on an otherwise idle machine)",
		strings.Join(open, ", ")))
}

func printResult(w io.Writer, r experiment.Result) {
	inert.Fprintf(w, "%-22s %s: %s\n", r.ID, strings.ToUpper(string(r.Verdict)), r.Why)
	measured := "not measured"
	if r.Estimate != 0 {
		measured = experiment.GainText(r.Gain) + " in " + r.Metric
	}
	inert.Fprintf(w, "%-22s %s: %s%s\n", "", r.Title, measured, within("; claimed: ", r.Claimed))
}

// unknownExperiment adds what was probably meant.
func unknownExperiment(err error) error {
	var unknown *experiment.UnknownError
	if !errors.As(err, &unknown) {
		return err
	}
	for _, c := range experiment.Claims() {
		if c.ID == unknown.ID {
			row := experiment.Row{Claim: c}
			return fmt.Errorf("the claim %s has no experiment: %s (hint: redline lab list)", c.ID, row.Says())
		}
	}
	hint := "redline lab list shows them"
	if near := meant(unknown.ID); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Errorf("%w (hint: %s)", err, hint)
}
