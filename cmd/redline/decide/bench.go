package decide

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/gobench"
)

// benchFlags are the flags of `redline bench`.
type benchFlags struct {
	gobench.Options
	base, a, b, markdown, history string
	envA, envB                    []string
	margin                        float64 // percent
	json                          bool
}

// BenchCommand returns the verb bench.
func BenchCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [packages]",
		Short: "Compare Go benchmarks between two revisions or environments",
		Long: `bench runs the Go benchmarks of packages (by default those of this directory) in
rounds, and reports benchmarks that do not measure what they claim to.

It can compare two sides: a git revision with the work tree (--base), two revisions
(--a, --b), or two environments (--env-a, --env-b). Each round then launches every
benchmark once per side, one right after the other, in random order. First it measures
side a against itself, which shows how small a change this machine can detect today.
Revisions are built in temporary worktrees.

The directory of -o keeps every round in old.txt and new.txt (benchstat -ignore commit
old.txt new.txt), bench.json, and CPU profiles of the benchmarks that changed or take
longest. --history keeps the figures of side b, or of the only side, by commit.

Exit code 0: nothing is worse by its margin, or only one side was measured. 1:
something is worse. 2: usage or input error. 3: inconclusive, or a benchmark fails.
130: interrupted; the rounds so far are kept.`,
		Example: `  redline bench ./...
  redline bench --base origin/main ./codec
  redline bench --a v1.2.0 --b v1.3.0 --bench 'Encode|Decode' --max-time 10m ./codec
  redline bench --env-a GOGC=100 --env-b GOGC=400 --markdown bench.md ./...`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.register(cmd)
	return cmd
}

func (f *benchFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "compare the work tree with git revision `REF`")
	flags.StringVar(&f.a, "a", "", "side a is git revision `REF`")
	flags.StringVar(&f.b, "b", "", "side b is git revision `REF`")
	flags.StringArrayVar(&f.envA, "env-a", nil, "set variable `K=V` in side a's environment; may be repeated")
	flags.StringArrayVar(&f.envB, "env-b", nil, "set variable `K=V` in side b's environment; may be repeated")
	flags.StringVar(&f.Bench, "bench", ".", "run only benchmarks that match `REGEXP`, as go test -bench does")
	flags.StringVar(&f.BenchTime, "benchtime", gobench.DefaultBenchTime,
		"measure each benchmark for `TIME|Nx` per round: a time, or a number of iterations (50x)")
	flags.IntVar(&f.Rounds, "rounds", gobench.DefaultRounds, "measure each benchmark up to `N` times per side (go test's -count)")
	flags.DurationVar(&f.MaxTime, "max-time", gobench.DefaultMaxTime, "end after `TIME`, builds included, even if inconclusive")
	flags.IntSliceVar(&f.CPU, "cpu", nil, "run each benchmark with each GOMAXPROCS of `LIST` (1,2)")
	flags.StringVar(&f.Tags, "tags", "", "build with `TAGS`, separated by commas")
	flags.Float64Var(&f.margin, "margin", 100*gobench.DefaultMargin, "accept a loss of up to `PERCENT`")
	flags.IntVar(&f.Profiles, "profiles", gobench.DefaultProfiles, "take CPU profiles of at most `N` benchmarks (0: none)")
	flags.Uint64Var(&f.Seed, "seed", 0, "random seed `N` for the order of rounds (default random)")
	flags.StringVarP(&f.Out, "out", "o", "", "keep the results in directory `DIR` (default runs/<time>-bench)")
	flags.BoolVar(&f.json, "json", false, "print only bench.json on stdout")
	cli.HistoryFlag(flags, &f.history)
	flags.StringVar(&f.markdown, "markdown", "", "write the result as Markdown to `FILE`")
	cmd.MarkFlagsMutuallyExclusive("base", "a")
	cmd.MarkFlagsMutuallyExclusive("base", "b")
	cmd.MarkFlagsRequiredTogether("a", "b")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	_ = cmd.MarkFlagDirname("out") // these fail only for a flag that is not there
	_ = cmd.MarkFlagFilename("markdown", "md")
	for name, words := range map[string][]string{
		"benchtime": {"100ms", "500ms", "1s", "100x"}, "base": {"HEAD", "HEAD~1", "main", "origin/main"}, "margin": {"2", "5", "10"},
		"env-a": {"GOGC=", "GOMEMLIMIT=", "GODEBUG="}, "env-b": {"GOGC=", "GOMEMLIMIT=", "GODEBUG="},
	} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
}

// sides returns the sides that the flags name; one if nothing is compared.
func (f *benchFlags) sides() []gobench.Side {
	a, b := gobench.Side{Revision: f.a, Env: f.envA}, gobench.Side{Revision: f.b, Env: f.envB}
	if f.base != "" {
		a.Revision = f.base
	}
	if a.Revision == "" && b.Revision == "" && len(a.Env)+len(b.Env) == 0 {
		return []gobench.Side{b}
	}
	return []gobench.Side{a, b}
}

func (f *benchFlags) run(cmd *cobra.Command, args []string) error {
	o := f.Options
	o.Patterns, o.Sides, o.Margin = args, f.sides(), f.margin/100
	switch { // zero means the default in Options, and a choice on the command line
	case !(f.margin > 0):
		return errors.New("--margin must be above 0 (hint: 5 is 5 %)")
	case f.Rounds < 1:
		return errors.New("--rounds must be above 0")
	case f.MaxTime <= 0:
		return errors.New("--max-time must be above 0 (hint: 5m)")
	case f.Profiles <= 0:
		o.Profiles = -1
	}
	for name, given := range map[string]string{"base": f.base, "a": f.a, "b": f.b} {
		if cmd.Flags().Changed(name) && given == "" {
			return fmt.Errorf("--%s needs a revision (hint: --%s HEAD~1)", name, name)
		}
	}
	reservation, err := cli.Reserve(o.Out, "bench")
	if err != nil {
		return err
	}
	defer reservation.Release()
	o.Out = reservation.Dir()
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	o.Progress = func(line string) { inert.Fprintf(cmd.ErrOrStderr(), "%s\n", line) }
	store, err := cli.OpenHistory(cmd.Context(), f.history)
	if err != nil {
		return err
	}
	defer store.Close()
	report, err := gobench.Run(cmd.Context(), o)
	if report == nil {
		if errors.Is(err, gobench.ErrTime) {
			return cli.Exit(cli.ExitUndecided, err)
		}
		return cli.InterruptedOr(cmd.Context(), err)
	}
	if err := errors.Join(err, f.print(cmd.OutOrStdout(), report, o.Out)); err != nil {
		return err
	}
	if !report.Interrupted && store != nil {
		result, err := history.FromBench(o.Out, report, report.Commit(cmd.Context()))
		result.Redline = cli.Version()
		cli.Keep(cmd.Context(), store, result, err,
			func(format string, args ...any) { inert.Fprintf(cmd.ErrOrStderr(), format+"\n", args...) })
	}
	return benchExit(report)
}

// print writes the report in the requested formats.
func (f *benchFlags) print(w io.Writer, r *gobench.Report, dir string) (err error) {
	if f.json {
		err = inert.JSON(w, r)
	} else {
		err = gobench.Text(w, r, dir)
	}
	if f.markdown != "" {
		err = errors.Join(err, disk.WriteOutput(f.markdown, func(w io.Writer) error { return gobench.Markdown(w, r) }))
	}
	return err
}

// benchExit returns the exit code of a report.
func benchExit(r *gobench.Report) error {
	switch {
	case r.Interrupted:
		return cli.Exit(cli.ExitInterrupted, nil)
	case r.Verdict == verify.Regression:
		return cli.Exit(cli.ExitFailed, nil)
	case r.Undecided():
		return cli.Exit(cli.ExitUndecided, nil)
	}
	return nil
}
