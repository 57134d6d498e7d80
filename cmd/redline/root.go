package main

import (
	"io"

	"github.com/spf13/cobra" // command line: flags, help and completion in one
	"github.com/spf13/pflag"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/cmd/redline/decide"
	"github.com/redline-go/redline/cmd/redline/measure"
	"github.com/redline-go/redline/cmd/redline/settle"
	"github.com/redline-go/redline/cmd/redline/show"
)

func rootCommand(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "redline",
		Short: "Find what limits a Go service: where, and by how much",
		Long: `redline finds what limits a Go service. It puts load on the service, observes load, Go
runtime, kernel and database on one clock, breaks down slow requests with execution
traces, and names the bottleneck: where it is, how much it costs, the evidence and the
remedy.

  redline doctor                       which data redline can collect here
  redline run URL --build ./cmd/svc    find the bottleneck
  redline knee URL --build ./cmd/svc   the highest rate the service sustains, and what limits it
  redline ab ... scenario.yaml         prove that a change helped
  redline gate --base origin/main ...  fail a build that regresses

Exit codes: 0 fine; 1 threshold failed or regression; 2 usage or input error;
3 inconclusive, or the measurement is invalid; 130 interrupted (the bundle is kept).`,
		Version:       cli.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.DisableSuggestions = true // unknownVerb has them
	root.SetFlagErrorFunc(hintFlag)
	root.SetUsageFunc(cli.Usage)
	root.AddCommand(
		measure.RunCommand(), measure.KneeCommand(), measure.BaselineCommand(),
		show.DoctorCommand(), show.DiagnoseCommand(), show.ReportCommand(), show.ExplainCommand(), show.LintCommand(),
		show.CompareCommand(), show.ServeCommand(), show.HistoryCommand(), show.ForecastCommand(),
		decide.ABCommand(), decide.GateCommand(), decide.TuneCommand(), decide.BenchCommand(),
		settle.DemoCommand(), settle.LabCommand(), versionCommand(),
	)
	root.SetGlobalNormalizationFunc(oneName)
	return root
}

// oneName gives -o one long name. Some verbs used to call it --output, which scripts may still do.
func oneName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "output" {
		name = "out"
	}
	return pflag.NormalizedName(name)
}
