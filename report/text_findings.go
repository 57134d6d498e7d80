package report

import (
	"cmp"
	"fmt"

	"github.com/charmbracelet/x/ansi"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/findings"
)

// evidenceLines is about how many lines a finding's evidence takes unless all is asked
// for. A finding's text is never cut, except where no analyzer wrote it: a bundle may
// come from anywhere.
//
// On a terminal of 80 by 24 the first finding's place, gain, remedy and first evidence are on the
// first screen: its place, which may be a statement of any length, gets whereLines.
const (
	evidenceLines = 2
	titleLines    = 4
	whereLines    = 3
	fieldLines    = 6
)

func (t *textWriter) findings() {
	t.section()
	if len(t.s.Findings) == 0 {
		headline, limit := nothing(t.s)
		for _, l := range wrap(headline, t.width, 0) {
			t.line("%s", t.bold(l))
		}
		for _, l := range wrap(limit, t.width, 0) {
			t.line("%s", l)
		}
		return
	}
	for _, l := range wrap(cmp.Or(hints(t.s), "What stops it"), t.width, 0) {
		t.line("%s", t.bold(l))
	}
	shown := len(t.s.Findings)
	if !t.o.All {
		shown = min(shown, findingsShown)
	}
	for i := range t.s.Findings[:shown] {
		if i > 0 {
			t.line("")
		}
		t.finding(i+1, &t.s.Findings[i])
	}
	if rest := len(t.s.Findings) - shown; rest > 0 {
		t.line("")
		text := fmt.Sprintf("and %d more", rest)
		if t.o.More != "" {
			text += ": " + t.o.More
		}
		t.line("%s", t.dim(text))
	}
}

// finding prints the title, where, how much, the remedy, and the evidence, in
// that order, because a reader stops when they have enough.
func (t *textWriter) finding(rank int, f *findings.Finding) {
	const indent = 11 // " 1  where  "
	room := t.width - indent
	for i, l := range wrap(notation.Clean(f.Title), t.width-4, titleLines) {
		number := ""
		if i == 0 {
			number = fmt.Sprint(rank)
		}
		t.line("%s  %s", t.bold(right(number, 2)), t.bold(l))
	}
	field := func(label, text string, limit int) {
		if t.o.All {
			limit = 0
		}
		for i, l := range wrap(text, room, limit) {
			if i > 0 {
				label = ""
			}
			t.line("    %s%s", t.dim(left(label, indent-4)), l)
		}
	}
	seen, not := evidence(f.Evidence), rejected(f.Rejected)
	if !t.o.All {
		seen, not = some(f.Evidence, evidenceLines*room), ""
	}
	field("cause", notation.Clean(f.Cause)+": "+Weight(f), fieldLines)
	field("where", Place(f.Where), whereLines)
	field("do", notation.Clean(f.Remedy), fieldLines)
	field("seen", seen, fieldLines)
	field("not", not, fieldLines)
}

// some words as much evidence as a number of cells holds, the first piece whole in any
// case, and counts the rest: half a sentence would say nothing.
func some(all []findings.Evidence, cells int) string {
	n := len(all)
	for n > 1 && ansi.StringWidth(evidence(all[:n])) > cells {
		n--
	}
	text := evidence(all[:n])
	if n < len(all) {
		text += fmt.Sprintf("; and %d more", len(all)-n)
	}
	return text
}
