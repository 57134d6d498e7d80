package show

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/compare"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/web"
)

// CompareCommand returns the verb compare.
func CompareCommand() *cobra.Command {
	var asJSON bool
	var markdown, flame, html string
	cmd := &cobra.Command{
		Use:   "compare RUN RUN",
		Short: "Show by how much two recorded runs differ",
		Long: `compare shows by how much the second of two recorded runs differs from the first:
figures with intervals, where the mean request spends more or less time, and which
functions use more or less CPU. It needs only the bundles, on any machine. Intervals
come from blocks of windows, long enough not to be correlated.

compare gives no verdict, because the runs were made one after the other and anything
else may have changed in between. For a verdict, use redline ab.`,
		Example: "  redline compare runs/20260102-150405-gateway runs/20260102-151210-gateway --html diff.html",
		Args:    cli.Takes(2, 2, "two runs are needed: name their directories, runs/..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			var runs [2]*record.Record
			for i, dir := range args {
				rec, err := record.Open(dir)
				if err != nil {
					return err
				}
				runs[i] = rec
			}
			s := compare.Runs(runs[0], runs[1])
			for _, file := range []struct {
				path  string
				write func(io.Writer) error
			}{
				{markdown, func(w io.Writer) error { return compare.Markdown(inert.NewWriter(w, false), s) }},
				{html, func(w io.Writer) error { return comparePage(cmd.ErrOrStderr(), w, args) }},
				{flame, func(w io.Writer) error { return compare.WriteFlame(w, runs[0], runs[1]) }},
			} {
				if file.path == "" {
					continue
				}
				if err := disk.WriteOutput(file.path, file.write); err != nil {
					return err
				}
			}
			if !asJSON {
				return compare.Text(cmd.OutOrStdout(), s)
			}
			return inert.JSON(cmd.OutOrStdout(), s)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the comparison as JSON (redline.compare/1)")
	cmd.Flags().StringVar(&markdown, "markdown", "", "write the comparison as Markdown to `FILE`")
	cmd.Flags().StringVar(&html, "html", "", "write the comparison as one self-contained HTML page to `FILE`")
	cmd.Flags().StringVar(&flame, "flame", "", "write a differential flame graph of the CPU profiles to `FILE` (HTML)")
	return cmd
}

// comparePage writes the page of two runs; it first diagnoses a run without a stored diagnosis.
func comparePage(stderr, w io.Writer, dirs []string) error {
	a, first, err := judged(stderr, dirs[0])
	if err != nil {
		return err
	}
	b, second, err := judged(stderr, dirs[1])
	if err != nil {
		return err
	}
	return web.Compare(w, web.Observed{Record: a, Summary: first}, web.Observed{Record: b, Summary: second})
}
