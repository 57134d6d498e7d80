package settle

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/experiment"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/web"
)

func labListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the claims and their experiments",
		Example: "  redline lab list\n  redline lab list --json",
		Args:    noArgument("it lists all claims; redline lab run ID measures one"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return listJSON(cmd.OutOrStdout())
			}
			listText(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print only the list, as JSON, on stdout")
	return cmd
}

// listed is a line of `redline lab list --json`.
type listed struct {
	ID        string  `json:"id"`
	Claim     string  `json:"claim"`
	Text      string  `json:"text"`
	Claimed   string  `json:"claimed"`
	Factor    float64 `json:"claimed_factor,omitempty"`
	Built     bool    `json:"built"`               // there is an experiment for it
	Elsewhere string  `json:"elsewhere,omitempty"` // the verb that settles it
}

func listJSON(w io.Writer) error {
	var all []listed
	for _, r := range experiment.Rows(experiment.Suite(), experiment.Results{}) {
		one := listed{ID: r.ID(), Claim: r.Claim.ID, Text: r.What(), Claimed: r.Claim.Claimed, Elsewhere: r.Claim.Elsewhere,
			Built: r.Experiment != nil}
		if r.Experiment != nil {
			one.Factor = r.Experiment.Factor
		}
		all = append(all, one)
	}
	return inert.JSON(w, struct {
		Schema string   `json:"schema"`
		Claims []listed `json:"claims"`
	}{experiment.Schema, all})
}

func listText(w io.Writer) {
	built := 0
	for _, r := range experiment.Rows(experiment.Suite(), experiment.Results{}) {
		state := r.Says()
		if r.Experiment != nil {
			state, built = "", built+1
		}
		inert.Fprintf(w, "%-22s %s%s", r.ID(), r.What(), within("; claimed: ", r.Claim.Claimed))
		if state != "" {
			inert.Fprintf(w, " [%s]", state)
		}
		inert.Fprintf(w, "\n")
	}
	inert.Fprintf(w, "\n%d experiments; redline lab run ID runs one, redline lab run all of them\n", built)
}

// within returns before and text, or nothing if there is no text.
func within(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// climbed returns the ladders whose results a directory holds.
func climbed(dir string) (all []ladder.Result, err error) {
	for _, name := range []string{ladder.Order, ladder.Stack} {
		r, ok, err := ladder.Read(dir, name)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, r)
		}
	}
	return all, nil
}

func labReportCommand() *cobra.Command {
	var dir, format, out string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Show all claims with the verdicts so far",
		Example: `  redline lab report > claims.html
  redline lab report --format md -o docs/claims-here.md`,
		Args: noArgument("it shows all claims; --dir names the results, -o the file to write"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			results, err := experiment.Read(dir)
			if err != nil {
				return err
			}
			ladders, err := climbed(dir)
			if err != nil {
				return err
			}
			if len(results.Results) == 0 && (len(ladders) == 0 || format != "html") {
				return fmt.Errorf("no results in %s (hint: redline lab run --quick)", dir)
			}
			write := func(w io.Writer, suite []experiment.Experiment, r experiment.Results) error {
				return web.Lab(w, suite, r, ladders)
			}
			switch format {
			case "html":
			case "md":
				write = experiment.Markdown
			default:
				return fmt.Errorf("unknown format %q (hint: html or md)", format)
			}
			page := func(w io.Writer) error { return write(w, experiment.Suite(), results) }
			switch {
			case out != "":
				return disk.WriteOutput(out, page)
			case format == "html": // the browser's edge is its content security policy
				return page(inert.Under(cmd.OutOrStdout()))
			}
			return page(cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "dir", labDir, "read the results in directory `DIR`")
	flags.StringVar(&format, "format", "html", "`FORMAT`: html (one offline page) or md (a table)")
	flags.StringVarP(&out, "out", "o", "", "write to `FILE` (default stdout)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"html", "md"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagDirname("dir")
	return cmd
}
