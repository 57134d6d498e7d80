package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
)

// ledgerShown is how many entries of a ledger a line names; the rest are summed.
const ledgerShown = 5

// ledger returns the lines that account for all of the request time and CPU, and
// the shape of the run; none where nothing was measured.
func ledger(s *record.Summary) []string {
	l := s.Ledger
	if l == nil {
		return nil
	}
	var lines []string
	if len(l.RequestTime) > 0 {
		lines = append(lines, "Request time by kind: "+entries(l.RequestTime)+".")
	}
	if len(l.CPU) > 0 {
		whole := "Service's CPU"
		if c := s.CPU; c != nil && c.Target > 0 { // a half of next to nothing is nothing
			whole += fmt.Sprintf(" (%s of %s CPUs)", notation.Short(c.Target), notation.Short(c.CPUs))
		}
		lines = append(lines, whole+": "+entries(l.CPU)+".")
	}
	if len(l.Path) == 0 && l.PathWhy != "" && len(l.RequestTime) == 0 {
		lines = append(lines, "Where a request's time goes is unknown. "+sentence(notation.Clean(l.PathWhy))+".")
	}
	if l.Shape != "" {
		lines = append(lines, notation.Clean(l.Shape))
	}
	return lines
}

// sentence begins a reason, such as "no execution trace", as a sentence does.
func sentence(why string) string {
	first, size := utf8.DecodeRuneInString(why)
	return string(unicode.ToUpper(first)) + why[size:]
}

func entries(list []findings.LedgerEntry) string {
	var parts []string
	rest, lost := 0.0, 0.0
	for _, e := range list {
		switch {
		case e.Who == findings.Unattributed:
			lost += e.Share
		case len(parts) < ledgerShown:
			parts = append(parts, fmt.Sprintf("%s %s", notation.Percent(e.Share), notation.Clean(e.Who)))
		default:
			rest += e.Share
		}
	}
	if rest > 0 {
		parts = append(parts, notation.Percent(rest)+" everything else")
	}
	if lost > 0 {
		parts = append(parts, notation.Percent(lost)+" "+findings.Unattributed)
	}
	return strings.Join(parts, ", ")
}

// pathTitle heads the lines of the critical path.
const pathTitle = "Where a request's time goes"

// pathLines returns the ways that requests' time goes, in words, with their shares;
// none where they are not known.
func pathLines(s *record.Summary) (shares, texts []string) {
	if s.Ledger == nil {
		return nil, nil
	}
	for _, l := range s.Ledger.Path[:min(len(s.Ledger.Path), pathShown)] {
		shares, texts = append(shares, notation.Percent(l.Share)), append(texts, notation.Clean(l.Text))
	}
	return shares, texts
}

// pathShown bounds the lines of a path; diagnosis keeps to it.
const pathShown = 8

// pathTextLines is how many lines each takes unless all is asked for.
const pathTextLines = 3

func (t *textWriter) ledger() {
	lines := ledger(t.s)
	if len(lines) == 0 {
		return
	}
	t.section()
	const indent = 9 // "  87 %   "
	if shares, texts := pathLines(t.s); len(shares) > 0 {
		t.line("%s", t.bold(pathTitle))
		limit := pathTextLines
		if t.o.All {
			limit = 0
		}
		for i, text := range texts {
			label := right(shares[i], indent-2)
			for _, l := range wrap(text, t.width-indent, limit) {
				t.line("%s  %s", label, l)
				label = strings.Repeat(" ", indent-2)
			}
		}
	}
	for _, line := range lines {
		for _, l := range wrap(line, t.width, 0) {
			t.line("%s", l)
		}
	}
}

func (m *markdownWriter) ledger() {
	if shares, texts := pathLines(m.s); len(shares) > 0 {
		m.line("**%s**\n", pathTitle)
		for i, text := range texts {
			m.line("- %s %s", shares[i], escape(text))
		}
		m.line("")
	}
	for _, line := range ledger(m.s) {
		m.line("%s\n", escape(line))
	}
}
