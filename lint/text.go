package lint

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record/code"
)

// Text writes hot lines with their remarks, costliest first, at most most of
// them (0 is all). Hot lines without remarks are only counted.
func Text(w io.Writer, explained code.Compiler, most int) error {
	var b strings.Builder
	reported, silent := 0, 0
	for _, l := range explained.Lines {
		if len(l.Remarks) == 0 {
			silent++
			continue
		}
		if most > 0 && reported == most {
			continue
		}
		reported++
		inert.Fprintf(&b, "%s:%d  %s  (%s)\n", path.Base(l.File), l.Line, cost(l), callstack.Short(l.Function))
		for _, r := range l.Remarks {
			inert.Fprintf(&b, "    %s\n", r.Text)
			for _, step := range r.Flow {
				inert.Fprintf(&b, "      from %s\n", step)
			}
		}
	}
	switch {
	case len(explained.Lines) == 0:
		b.WriteString("nothing is hot: the run has no CPU or allocs profile, or none of the service's own lines takes 2 % of either\n")
	case reported == 0:
		inert.Fprintf(&b, "the compiler (%s) has no remarks on the %d hot lines\n", explained.GoVersion, silent)
	case silent > 0:
		inert.Fprintf(&b, "%d more hot lines without remarks from the compiler (%s)\n", silent, explained.GoVersion)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cost describes a line's measured cost.
func cost(l code.HotLine) string {
	var parts []string
	for _, c := range []struct {
		share float64
		of    string
	}{{l.CPU, "CPU"}, {l.Bytes, "bytes allocated"}, {l.Objects, "objects allocated"}} {
		if c.share >= 0.005 {
			parts = append(parts, fmt.Sprintf("%s of %s", notation.Percent(c.share), c.of))
		}
	}
	return strings.Join(parts, ", ")
}
