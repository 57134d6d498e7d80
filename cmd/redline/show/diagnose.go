package show

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/report"
)

// DiagnoseCommand returns the verb diagnose.
func DiagnoseCommand() *cobra.Command {
	var asJSON, all, soFar bool
	cmd := &cobra.Command{
		Use:   "diagnose RUN",
		Short: "Diagnose a recorded run again, from its bundle",
		Long: `diagnose breaks down the requests of a recorded run and judges the run again, without
the service and on any machine. It rewrites anatomy.json, findings.json, summary.json
and report.html in the bundle, and leaves the measurements as they are. Use it after
upgrading redline, or on a bundle copied from elsewhere. The exit code is that of
redline run for the same results.`,
		Example: "  redline diagnose runs/20260102-150405-gateway --all",
		Args:    cli.Takes(1, 1, "no run given: name its directory, runs/..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if soFar {
				yieldCPU()
				summary, err := assess.SoFar(args[0])
				if err != nil {
					return err
				}
				return report.JSON(cmd.OutOrStdout(), summary)
			}
			rec, summary, err := assess.Bundle(args[0])
			if summary == nil {
				return err
			}
			cli.Unstored(cmd.ErrOrStderr(), rec.Dir, errors.Join(err, cli.WriteHTML(rec, summary)))
			if err := cli.PrintSummary(cmd.OutOrStdout(), rec, summary, asJSON, all); err != nil {
				return err
			}
			return cli.Outcome(summary, nil)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print only summary.json on stdout")
	cmd.Flags().BoolVar(&all, "all", false,
		"print every finding in full, causes rejected or not judged, the slowest requests and all sources")
	// What the live page starts every few seconds.
	cmd.Flags().BoolVar(&soFar, "so-far", false, "judge a run that has not finished, print summary.json and write nothing")
	_ = cmd.Flags().MarkHidden("so-far") // it fails only for a flag that is not there
	return cmd
}
