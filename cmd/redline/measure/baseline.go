package measure

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/machine"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
)

// baselines is where machine baselines are kept, in the working directory beside runs.
const baselines = "baselines"

// baselineFlags say what of the machine is measured, and against what.
type baselineFlags struct {
	machine.Options
	dir, against         string
	margin               float64
	quick, unkept, asked bool
}

// BaselineCommand returns the verb baseline.
func BaselineCommand() *cobra.Command {
	var f baselineFlags
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Measure the machine itself, and report what has drifted",
		Long: `baseline measures this machine and its Go toolchain without any service: compute, HTTP
path, memory and GC, scheduler and kernel; with --disk and --postgres also a disk and a
PostgreSQL. It measures all figures in rounds, each in its own process, for four minutes
(--quick: half a minute). The result is kept in baselines/ and compared with the newest
one of the same machine and Go version, or with --against, which may be another
machine's.

A figure has drifted if the interval of its change lies beyond the margin; intervals
hold for all figures at once. A different CPU quota also counts as drift. Quotas, steal
and the CPU that other programs used are reported as warnings. redline run names the
newest baseline of its machine.

Exit code 0: no drift, or nothing to compare with. 1: drifted. 2: wrong usage, or a round
failed. 3: too few rounds for intervals.`,
		Example: `  redline baseline
  redline baseline --quick --disk /var/lib/data
  redline baseline --against old-machine.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.measure(cmd) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.Time, "time", machine.DefaultTime, "measure for `TIME`, at most 5m")
	flags.BoolVar(&f.quick, "quick", false, "measure for only half a minute; intervals are wider")
	flags.StringVar(&f.Disk, "disk", "", "also measure the disk that holds directory `DIR`")
	flags.StringVar(&f.Postgres, "postgres", "", "also measure the PostgreSQL at `DSN`")
	flags.StringVar(&f.against, "against", "", "compare with baseline `FILE` (default: the newest of this machine)")
	flags.Float64Var(&f.margin, "margin", machine.DefaultMargin, "a change of up to `SHARE` does not count as drift")
	flags.StringVar(&f.dir, "dir", baselines, "keep baselines in directory `DIR`")
	flags.BoolVar(&f.unkept, "no-save", false, "do not keep the result")
	flags.BoolVar(&f.asked, "json", false, "print the report as JSON ("+machine.Schema+")")
	cmd.AddCommand(roundCommand())
	return cmd
}

// roundCommand is what a session starts for each round.
func roundCommand() *cobra.Command {
	var o machine.Options
	cmd := &cobra.Command{
		Use: "round", Hidden: true, Short: "Measure one round of a baseline, for redline baseline", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Postgres = os.Getenv(machine.PostgresVariable)
			return inert.JSON(cmd.OutOrStdout(), machine.Measure(cmd.Context(), o))
		},
	}
	cmd.Flags().StringVar(&o.Disk, "disk", "", "measure the disk that holds directory `DIR`")
	return cmd
}

// check returns what is wrong with the flags.
func (f *baselineFlags) check() error {
	if f.Time <= 0 || f.Time > 5*time.Minute {
		return errors.New("--time must be above 0 and at most 5m")
	}
	if !(f.margin > 0 && f.margin < 1) {
		return errors.New("--margin must be between 0 and 1")
	}
	return nil
}

// base returns the baseline to compare with, and its file; nil without one.
func (f *baselineFlags) base() (*machine.Baseline, string, error) {
	if f.against != "" {
		base, err := machine.Read(f.against)
		return base, f.against, err
	}
	base, path := machine.Newest(f.dir)
	return base, path, nil
}

func (f *baselineFlags) measure(cmd *cobra.Command) error {
	if f.quick && !cmd.Flags().Changed("time") {
		f.Time = machine.QuickTime
	}
	if err := f.check(); err != nil {
		return err
	}
	base, path, err := f.base()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	f.Command = []string{self, "baseline", "round"}
	if f.Disk != "" {
		f.Command = append(f.Command, "--disk", f.Disk)
	}
	shown := cli.Terminal(cmd.ErrOrStderr())
	f.OnRound = func(done int, left time.Duration) {
		if shown {
			inert.Fprintf(cmd.ErrOrStderr(), "round %d, %s left\n", done, notation.Time(max(0, left.Round(time.Second))))
		}
	}
	b, err := machine.Session(cmd.Context(), f.Options)
	if errors.Is(err, machine.ErrTooFew) {
		return cli.Exit(cli.ExitUndecided, err)
	}
	if err != nil {
		return err
	}
	if !f.unkept {
		kept, err := b.Save(f.dir)
		if err != nil {
			return err
		}
		inert.Fprintf(cmd.ErrOrStderr(), "kept in %s\n", kept)
	}
	r := &machine.Report{Baseline: b}
	if base != nil {
		r.Against(base, path, f.margin)
	}
	if f.asked {
		err = r.JSON(cmd.OutOrStdout())
	} else {
		err = r.Text(cmd.OutOrStdout())
	}
	if err != nil {
		return err
	}
	if r.Drifted() {
		return cli.Exit(cli.ExitFailed, errors.New(r.Conclusion()))
	}
	return nil
}

// lastBaseline names the newest baseline of this machine, for a run's end; empty without one.
func lastBaseline() string {
	b, path := machine.Newest(baselines)
	if b == nil {
		return ""
	}
	// The warnings are those of the baseline's session, and not of the run above them.
	when := append([]string{"measured " + b.Begun.UTC().Format("2006-01-02 15:04 UTC")}, b.Warnings()...)
	return fmt.Sprintf("this machine's baseline: %s (%s)", path, strings.Join(when, "; "))
}
