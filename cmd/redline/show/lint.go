package show

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/lint"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario/scalar"
	"github.com/redline-go/redline/service/compiler"
)

// LintCommand returns the verb lint.
func LintCommand() *cobra.Command {
	var profile, buildFlags string
	var asJSON bool
	var top int
	cmd := &cobra.Command{
		Use:   "lint --profile RUN [packages]",
		Short: "Show the compiler's remarks on the lines that a run found hot",
		Long: `lint joins the CPU and allocation profiles of a recorded run with the Go compiler's
remarks on the same lines: which values escape to the heap and how, which functions are
not inlined and why, which bounds checks remain. It prints only lines that account for
at least 2 % of CPU or of allocations, the most expensive first.

Run it in the service's source tree, at the measured revision. It compiles the packages
again (default ./...) and writes nothing.`,
		Example: `  redline lint --profile runs/20260102-150405-gateway ./...
  redline lint --profile runs/20260102-150405-gateway --top 5 ./internal/...`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if profile == "" {
				return errors.New("no run given (hint: redline lint --profile runs/... ./...)")
			}
			rec, err := record.Open(profile)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				args = []string{"./..."}
			}
			var build compiler.Build
			if buildFlags != "" {
				if build.Flags, err = scalar.SplitCommand(buildFlags); err != nil {
					return fmt.Errorf("--build-flags: %w", err)
				}
			}
			explained, err := lint.Explain(cmd.Context(), rec, build, args...)
			if err != nil {
				return err
			}
			if asJSON {
				return inert.JSON(cmd.OutOrStdout(), explained)
			}
			return lint.Text(cmd.OutOrStdout(), explained, top)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "take the hot lines from the profiles of the run in bundle `RUN`")
	cmd.Flags().StringVar(&buildFlags, "build-flags", "", "`FLAGS` for go build with which the service was built, such as -tags=sqlite")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print every hot line with its remarks as JSON")
	cmd.Flags().IntVar(&top, "top", 10, "print at most `N` hot lines (0: all)")
	return cmd
}
