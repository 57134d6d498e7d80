package report

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report/notation"
)

// findingLines is the most lines a finding takes unless all is asked for.
const findingLines = 6

func (t *textWriter) findings() {
	t.section()
	if len(t.s.Findings) == 0 {
		headline, limit := nothing(t.s)
		t.line("%s", t.bold(headline))
		for _, l := range wrap(limit, t.width, 0) {
			t.line("%s", l)
		}
		return
	}
	t.line("%s", t.bold("What stops it"))
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

// finding prints the title, where, how much, what to do, and why we say so, in
// that order, since a reader stops when they have enough.
func (t *textWriter) finding(rank int, f *record.Finding) {
	const indent = 11 // " 1  where  "
	room := t.width - indent
	title := fit(notation.Clean(f.Title), t.width-4)
	t.line("%s  %s", t.bold(right(fmt.Sprint(rank), 2)), t.bold(title))
	budget := findingLines - 1
	if t.o.All {
		budget = math.MaxInt
	}
	field := func(label, text string, limit int) {
		if t.o.All {
			limit = 0
		} else if limit = min(limit, budget); limit == 0 {
			return
		}
		for i, l := range wrap(text, room, limit) {
			if i > 0 {
				label = ""
			}
			t.line("    %s%s", t.dim(left(label, indent-4)), l)
			budget--
		}
	}
	field("cause", notation.Clean(f.Cause)+": "+weight(f), 1)
	field("where", place(f.Where), 1)
	field("do", notation.Clean(f.Remedy), 2)
	field("seen", evidence(f.Evidence), max(1, budget-min(1, len(f.Rejected))))
	field("not", rejected(f.Rejected), 1)
}
