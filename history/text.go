package history

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/verify/baseline"
)

// TextOptions say how series are drawn; the zero value is UTF-8 without colours,
// 80 cells wide.
type TextOptions struct {
	Width int
	Plain bool // ASCII alone
	Color bool
	// Machine is the reader's own: series of other machines list their
	// differences.
	Machine record.Host
}

// Text draws series with their changes for people.
func Text(w io.Writer, all []Series, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 80
	}
	var b strings.Builder
	for i, s := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		inert.Fprintf(&b, "%s\n", title(s))
		if different := baseline.MachineDifferences(o.Machine, s.Machine); len(different) > 0 {
			inert.Fprintf(&b, "  another machine than this one: %s\n", notation.Clean(baseline.Differing(different)))
		}
		for _, line := range chart(s, o.Width, o.Plain) {
			inert.Fprintf(&b, "%s\n", inert.Own(line))
		}
		b.WriteString(reported(s, o))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func title(s Series) string {
	better := "lower"
	if s.Higher {
		better = "higher"
	}
	unit := "commits"
	if len(s.Points) == 1 {
		unit = "commit"
	}
	return fmt.Sprintf("%s of %s (%s, scenario %s): %d %s, %s is better",
		notation.Clean(s.Metric), notation.Clean(s.Scenario), notation.Clean(string(s.Kind)),
		notation.Clean(s.Hash[:min(8, len(s.Hash))]), len(s.Points), unit, better)
}

// reported lists a series' changes, or why there can be none.
func reported(s Series, o TextOptions) string {
	if len(s.Points) < LeastPoints {
		return fmt.Sprintf("  too few commits to detect a change: %d of %d\n", len(s.Points), LeastPoints)
	}
	if len(s.Changes) == 0 {
		return "  no lasting change\n"
	}
	amount := func(v float64) string {
		if o.Plain {
			return notation.ASCII(notation.Quantity(v, s.Unit))
		}
		return notation.Quantity(v, s.Unit)
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i, c := range s.Changes {
		p := s.Points[c.At]
		word, color := "better", "32"
		if c.Worse {
			word, color = "worse", "31"
		}
		arrow := "→"
		if o.Plain {
			arrow = "->"
		}
		if o.Color {
			// Of one width in all rows, so that columns stay aligned.
			word = "\x1b[" + color + "m" + word + "\x1b[0m" // of constants alone
		}
		inert.Fprintf(t, "  %s\t%s\t%s\t%s %s %s\t%s\t%s\t%s\t%s\n", letter(i), name(p), p.when().UTC().Format("2006-01-02"),
			amount(c.Before), arrow, amount(c.After), relative(c),
			inert.Own(word), probability(c.P), subject(p))
	}
	t.Flush()
	return b.String()
}

func relative(c Change) string {
	if c.Before == 0 {
		return "from 0"
	}
	return notation.Change(c.Relative())
}

func probability(p float64) string {
	if p < 0.0001 {
		return "p < 0.0001"
	}
	return fmt.Sprintf("p %.4f", p)
}

// mostSubject keeps a change to a line.
const mostSubject = 50

func subject(p Point) string {
	text := []rune(notation.Clean(p.Commit.Subject))
	if len(text) > mostSubject {
		return string(text[:mostSubject-2]) + ".."
	}
	return string(text)
}
