package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/render"
)

// Text writes a comparison of two runs for people, its limits
// first.
func Text(w io.Writer, s Comparison) error {
	var b strings.Builder
	inert.Fprintf(&b, "a  %s\nb  %s\n\n%s\n", s.Runs[0], s.Runs[1], Caveat)
	for _, warning := range s.Warnings {
		inert.Fprintf(&b, "warning: %s\n", warning)
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	inert.Fprintf(t, "metric\ta\tb\tchange, 95 %%\tblocks of\n")
	for _, m := range s.Metrics {
		inert.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", m.Name, render.Amount(m.A, m.Unit), render.Amount(m.B, m.Unit),
			m.Interval(), m.blockText())
	}
	t.Flush()
	for _, line := range s.unknown() {
		inert.Fprintf(&b, "\n%s", line)
	}
	b.WriteByte('\n')
	for _, section := range s.sections() {
		inert.Fprintf(&b, "\n%s\n", section.title)
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, c := range section.changes {
			inert.Fprintf(t, "  %s\t->\t%s\t%s\n", render.Amount(c.A, "ns"), render.Amount(c.B, "ns"), c.Place)
		}
		t.Flush()
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes a comparison of two runs for a pull request.
func Markdown(w io.Writer, s Comparison) error {
	var b strings.Builder
	inert.Fprintf(&b, "### redline: two runs\n\n- a: `%s`\n- b: `%s`\n\n%s\n", s.Runs[0], s.Runs[1], Caveat)
	for _, warning := range s.Warnings {
		inert.Fprintf(&b, "\n**warning:** %s\n", warning)
	}
	b.WriteString("\n| metric | a | b | change, 95 % | blocks of |\n|---|---|---|---|---|\n")
	for _, m := range s.Metrics {
		inert.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.Name, render.Amount(m.A, m.Unit),
			render.Amount(m.B, m.Unit), m.Interval(), m.blockText())
	}
	for _, line := range s.unknown() {
		inert.Fprintf(&b, "\n%s\n", line)
	}
	for _, section := range s.sections() {
		inert.Fprintf(&b, "\n#### %s\n\n| a | b | place |\n|---|---|---|\n", section.title)
		for _, c := range section.changes {
			inert.Fprintf(&b, "| %s | %s | `%s` |\n", render.Amount(c.A, "ns"), render.Amount(c.B, "ns"),
				strings.NewReplacer("|", "\\|", "`", "'").Replace(c.Place))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type section struct {
	title   string
	changes []verify.Change
}

// sections returns the lists of places that are not empty.
func (s Comparison) sections() []section {
	return slices.DeleteFunc([]section{
		{"Time of the mean request, by activity and place", s.Parts},
		{"Time of the slowest 1 % (p99 and above), by activity and place", s.Tail},
		{"CPU per request, by function", s.Functions},
	}, func(s section) bool { return len(s.changes) == 0 })
}

// unknown gives the reason why changes are not known.
func (s Comparison) unknown() (lines []string) {
	for _, m := range s.Metrics {
		if !m.Known && m.Why != "" {
			lines = append(lines, m.Name+": "+m.Why)
		}
	}
	return lines
}

// Change writes the change in words and in the metric's own terms: throughput that is "93 % better" is 1.93 times as
// much. One that is not known is "not known".
func (m Metric) Change() string {
	if !m.Known {
		return "not known"
	}
	return render.Change(m.Higher, m.Estimate)
}

// Interval is Change with the limits of its interval.
func (m Metric) Interval() string {
	if !m.Known {
		return m.Change()
	}
	return render.Interval(m.Higher, m.Estimate, m.Low, m.High)
}

func (m Metric) blockText() string {
	if !m.Known {
		return ""
	}
	return fmt.Sprintf("%d windows, autocorrelation %s", m.Block, notation.Short(m.Lag1))
}
