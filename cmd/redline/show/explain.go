package show

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/scenario/mistake"
)

// ExplainCommand returns the verb explain.
func ExplainCommand() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "explain [CAUSE]",
		Short: "Explain a cause: symptoms, evidence, remedy",
		Long: `explain prints a cause's symptoms, the evidence that redline requires for it, the
remedy with code before and after, and how to check that it helped. Without a cause,
it lists all causes that redline can name.`,
		Example: "  redline explain\n  redline explain lock-contention",
		Args:    cli.Takes(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			causes, out := assess.Causes(), cmd.OutOrStdout()
			if len(args) == 0 {
				text := causes.List(cli.Width(out))
				if markdown {
					text = causes.Index()
				}
				return printText(out, text)
			}
			page, ok := causes.Find(args[0])
			switch {
			case !ok:
				return unknownCause(args[0], causes.IDs())
			case markdown:
				return printText(out, page.Markdown())
			}
			return printText(out, page.Text(cli.Width(out)))
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var ids []string
			for _, page := range assess.Causes() {
				ids = append(ids, cobra.CompletionWithDesc(page.ID, page.Title))
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print Markdown")
	return cmd
}

func printText(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// unknownCause names the causes whose name contains the argument, or the
// nearest.
func unknownCause(written string, ids []string) error {
	var near []string
	for _, id := range ids {
		if strings.Contains(id, strings.ToLower(written)) && written != "" {
			near = append(near, id)
		}
	}
	hint := "redline explain lists all"
	const most = 8
	if len(near) > 0 {
		lower := strings.ToLower(written)
		slices.SortFunc(near, func(a, b string) int {
			return cmp.Or(cmp.Compare(strings.Index(a, lower), strings.Index(b, lower)), cmp.Compare(a, b))
		})
		hint = "did you mean " + strings.Join(near[:min(most, len(near))], ", ") + "?"
	} else if guess := mistake.DidYouMean(written, ids); guess != "" {
		hint = guess
	}
	return fmt.Errorf("there is no cause %q (hint: %s)", written, hint)
}
