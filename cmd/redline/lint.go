package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/lint"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
)

func lintCommand() *cobra.Command {
	var profile string
	var asJSON bool
	var top int
	cmd := &cobra.Command{
		Use:   "lint --profile RUN [packages]",
		Short: "Tell what the compiler did at the lines that a run found hot",
		Long: `lint joins the CPU and allocation profiles of a recorded run with what the Go
compiler says of the same lines: which values escape to the heap and how, which
functions are not inlined and why, which indexes are checked at run time. Only
lines that take at least 2 % of CPU or of allocations are told, costliest first.

Run it where the service's sources are, at the revision that was measured; the
packages (by default ./...) are compiled anew, nothing is written.`,
		Example: `  redline lint --profile runs/20260102-150405-gateway ./...
  redline lint --profile runs/20260102-150405-gateway --top 5 ./internal/...`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if profile == "" {
				return errors.New("which run's profiles? (hint: redline lint --profile runs/... ./...)")
			}
			rec, err := record.Open(profile)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				args = []string{"./..."}
			}
			said, err := lint.Explain(cmd.Context(), rec, "", args...)
			if err != nil {
				return err
			}
			if asJSON {
				return inert.JSON(cmd.OutOrStdout(), said)
			}
			return lint.Text(cmd.OutOrStdout(), said, top)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "`bundle` of the run whose profiles say what is hot")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print every hot line with its remarks as JSON")
	cmd.Flags().IntVar(&top, "top", 10, "print at most this many lines (0: all)")
	return cmd
}
