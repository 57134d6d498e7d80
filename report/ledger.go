package report

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report/notation"
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
		lines = append(lines, "Request time: "+entries(l.RequestTime)+".")
	}
	if len(l.CPU) > 0 {
		lines = append(lines, "Service's CPU: "+entries(l.CPU)+".")
	}
	if l.Shape != "" {
		lines = append(lines, notation.Clean(l.Shape))
	}
	return lines
}

func entries(list []record.LedgerEntry) string {
	var parts []string
	rest, lost := 0.0, 0.0
	for _, e := range list {
		switch {
		case e.Who == record.Unattributed:
			lost += e.Share
		case len(parts) < ledgerShown:
			parts = append(parts, fmt.Sprintf("%s %s", notation.Percent(e.Share), notation.Clean(e.Who)))
		default:
			rest += e.Share
		}
	}
	if rest > 0 {
		parts = append(parts, notation.Percent(rest)+" others")
	}
	if lost > 0 {
		parts = append(parts, notation.Percent(lost)+" "+record.Unattributed)
	}
	return strings.Join(parts, ", ")
}

func (t *textWriter) ledger() {
	lines := ledger(t.s)
	if len(lines) == 0 {
		return
	}
	t.section()
	for _, line := range lines {
		for _, l := range wrap(line, t.width, 0) {
			t.line("%s", l)
		}
	}
}

func (m *markdownWriter) ledger() {
	for _, line := range ledger(m.s) {
		m.line("%s\n", escape(line))
	}
}
