package render

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
)

// bar is the width of the longest bar, in cells.
const bar = 40

// Text writes an answer for a terminal.
func Text(w io.Writer, a *knee.Answer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	inert.Fprintf(out, "%s\n  %s\n\n", a.Header.Target, Headline(a))
	for _, f := range facts(a) {
		inert.Fprintf(out, "%s\t%s\n", f[0], f[1])
	}
	if up, most := sweep(a); most > 0 {
		fmt.Fprintf(out, "\nthroughput by connections\n")
		for _, s := range up {
			cells := int(bar*s.Served/most + 0.5)
			inert.Fprintf(out, "  %4d  %s/s\t%s\n", s.Connections, notation.Rate(s.Served), strings.Repeat("#", max(0, cells)))
		}
	}
	if len(a.Steps) > 0 {
		fmt.Fprintln(out)
		row(out, stepHead)
		for _, s := range a.Steps {
			row(out, step(s))
		}
	}
	return out.Flush()
}

// row writes cells side by side. The tabs between them must not go through the
// cleaning.
func row(w io.Writer, cells []string) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		inert.Fprintf(w, "%s", cell)
	}
	fmt.Fprintln(w)
}
