// Package show holds the verbs that read what was recorded or what is here, and put no
// load on a service: report, diagnose, compare, history, forecast, lint, explain, serve,
// doctor.
package show

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/web"
)

// ReportCommand returns the verb report.
func ReportCommand() *cobra.Command {
	var format, out string
	var all bool
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Write the report of a recorded run",
		Long: `report writes the report of a recorded run from its bundle, without the service and on
any machine: as text (default), Markdown, JSON, or one self-contained HTML page. If the
bundle has no stored diagnosis, because the run was killed for example, report first
diagnoses it as redline diagnose does. Thresholds do not change the exit code; redline
run and redline diagnose report those.`,
		Example: `  redline report runs/20260102-150405-gateway                  # text
  redline report runs/20260102-150405-gateway --all            # every finding in full, the slowest requests
  redline report runs/20260102-150405-gateway --format html -o report.html
  redline report runs/20260102-150405-gateway --format json | jq .findings`,
		Args: cli.Takes(1, 1, "no run given: name its directory, runs/..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			rec, summary, err := judged(cmd.ErrOrStderr(), args[0])
			if err != nil {
				return err
			}
			text := cli.TextOptions(cmd.OutOrStdout(), rec, all, out == "" && cli.Colour(cmd.OutOrStdout()))
			write, err := writer(rec, summary, format, text)
			if err != nil {
				return err
			}
			switch {
			case out != "":
				return disk.WriteOutput(out, write)
			case format == "html": // the browser's edge is its content security policy
				return write(inert.Under(cmd.OutOrStdout()))
			}
			return write(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "`FORMAT`: text, md, json or html")
	cmd.Flags().StringVarP(&out, "out", "o", "", "write to `FILE` (default stdout)")
	cmd.Flags().BoolVar(&all, "all", false,
		"text: print every finding in full, causes rejected or not judged, the slowest requests and all sources")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "md", "json", "html"},
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// judged opens a bundle with its stored diagnosis, and diagnoses it first if it
// has none yet. A failure to store that is printed on stderr.
func judged(stderr io.Writer, dir string) (*record.Record, *record.Summary, error) {
	rec, err := record.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	var stored findings.Findings
	if err := rec.ReadJSON(findings.File, &stored); errors.Is(err, fs.ErrNotExist) {
		rec, summary, err := assess.Bundle(dir)
		if summary == nil {
			return nil, nil, err
		}
		cli.Unstored(stderr, dir, err)
		return rec, summary, nil
	}
	summary := &record.Summary{}
	if err := rec.ReadJSON(record.SummaryFile, summary); err != nil {
		return nil, nil, err
	}
	return rec, summary, nil
}

func writer(rec *record.Record, s *record.Summary, format string, text report.TextOptions) (func(io.Writer) error, error) {
	switch format {
	case "text":
		return func(w io.Writer) error { return report.Text(inert.NewWriter(w, text.Color), s, text) }, nil
	case "md":
		return func(w io.Writer) error { return report.Markdown(inert.NewWriter(w, false), s) }, nil
	case "json":
		return func(w io.Writer) error { return report.JSON(w, s) }, nil
	case "html":
		return func(w io.Writer) error { return web.Report(w, rec, s) }, nil
	}
	return nil, fmt.Errorf("unknown format %q (hint: text, md, json or html)", format)
}
