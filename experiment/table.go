package experiment

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/redline-go/redline/notation"
)

// Row is one line of the table of claims: an experiment with its result, or a claim that
// has none.
type Row struct {
	Claim      Claim
	Experiment *Experiment // nil where none is built
	Result     *Result     // nil where it was not run
	// Elsewhere names the host or the version of Go on which it was run, if that of most results is another.
	Elsewhere string
}

// Rows joins claims, experiments and results, in the order of the claims.
func Rows(suite []Experiment, results Results) []Row {
	var rows []Row
	for _, c := range claims {
		n := len(rows)
		for i := range suite {
			if suite[i].Claim != c.ID {
				continue
			}
			row := Row{Claim: c, Experiment: &suite[i]}
			if r, ok := results.Of(suite[i].ID); ok {
				row.Result, row.Elsewhere = &r, results.elsewhere(r)
			}
			rows = append(rows, row)
		}
		if len(rows) == n {
			rows = append(rows, Row{Claim: c})
		}
	}
	return rows
}

// ID is the experiment's, or the claim's.
func (r Row) ID() string {
	if r.Experiment != nil {
		return r.Experiment.ID
	}
	return r.Claim.ID
}

// Says is the verdict, or why there is none.
func (r Row) Says() string {
	switch {
	case r.Result != nil:
		return string(r.Result.Verdict)
	case r.Claim.Elsewhere != "":
		return "see " + r.Claim.Elsewhere
	}
	return "not run"
}

// What is the comparison, or the claim if there is none.
func (r Row) What() string {
	if r.Experiment != nil {
		return r.Experiment.Title
	}
	return r.Claim.Text
}

// Measured is the gain with its interval, "" where nothing was measured.
func (r Row) Measured() string {
	if r.Result == nil || r.Result.Estimate == 0 {
		return ""
	}
	return GainText(r.Result.Gain)
}

// GainText writes a gain with its interval.
func GainText(g Gain) string {
	if g.Low >= Most {
		return fmt.Sprintf("%dx or more", Most)
	}
	return fmt.Sprintf("%s (%s to %s)", notation.Factor(g.Estimate), notation.Factor(g.Low), notation.Factor(g.High))
}

// Why is the sentence behind the verdict.
func (r Row) Why() string {
	if r.Result == nil {
		return ""
	}
	why := r.Result.Why
	if r.Result.Quick {
		why += " (quick)"
	}
	if r.Elsewhere != "" {
		why += " (" + r.Elsewhere + ")"
	}
	return why
}

// pages are those that Claim.Elsewhere names; the table links them, as a page beside them.
var pages = regexp.MustCompile(`\bdocs/([a-z/-]+\.md)`)

// Markdown writes the table that docs/claims.md shows.
func Markdown(w io.Writer, suite []Experiment, results Results) error {
	var b strings.Builder
	b.WriteString("| experiment | tuned against baseline | claimed | measured | in | verdict | why |\n|---|---|---|---|---|---|---|\n")
	for _, r := range Rows(suite, results) {
		metric := ""
		if r.Result != nil {
			metric = r.Result.Metric
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.ID(), cell(r.What()), cell(r.Claim.Claimed),
			r.Measured(), metric, pages.ReplaceAllString(cell(r.Says()), "[$1]($1)"), cell(r.Why()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell keeps a text within its cell.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(notation.Clean(s)), " "), "|", `\|`)
}
