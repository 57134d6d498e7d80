package main

import (
	"io"
	"os"

	"github.com/spf13/cobra" // command line: flags, help and completion in one
	"golang.org/x/term"      // is there a person at the other end

	"github.com/redline-go/redline/notation/inert"
)

func rootCommand(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "redline",
		Short: "Find what stops a Go service from going faster: where, and by how much",
		Long: `redline finds what stops a Go service from going faster. It puts load on the service,
observes load, Go runtime, kernel and database on one clock in 100 ms windows, takes
slow requests apart by the execution trace, and names the bottleneck: where it is, how
much it costs, the evidence and the remedy.

  redline doctor                      which data can be collected here
  redline run URL --build ./cmd/svc   find the bottleneck
  redline ab ... scenario.yaml        prove that a change helped
  redline gate --base origin/main ... keep it that way in CI

Exit codes: 0 fine; 1 threshold failed or regression; 2 usage or input error;
3 undecided, or the measurement is invalid; 130 interrupted (the bundle is kept).`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.DisableSuggestions = true // unknownVerb has them
	root.SetFlagErrorFunc(hintFlag)
	root.AddCommand(runCommand(), doctorCommand(), diagnoseCommand(), reportCommand(), explainCommand(), demoCommand(),
		lintCommand(), abCommand(), gateCommand(), compareCommand(), historyCommand(), benchCommand(), labCommand(), versionCommand())
	return root
}

// terminal reports whether w is a terminal that a person looks at.
func terminal(w io.Writer) bool {
	f, ok := inert.File(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colour reports whether to colour output to w: see https://no-color.org.
func colour(w io.Writer) bool {
	_, no := os.LookupEnv("NO_COLOR")
	return terminal(w) && !no && os.Getenv("TERM") != "dumb"
}

// pipeWidth is for output read in a log or a pager: wide enough for whole
// sentences of most findings.
const pipeWidth = 100

// width returns the terminal's width, or pipeWidth where there is none.
func width(w io.Writer) int {
	if f, ok := inert.File(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return pipeWidth
}
