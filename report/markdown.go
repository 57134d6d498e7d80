package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
)

// Markdown writes the summary as GitHub-flavoured Markdown for an issue or a pull request: the
// first finding and the load in about ten lines and one table, the rest behind <details>. What
// comes from the service cannot format, link or notify. The only errors are those of w.
func Markdown(w io.Writer, s *record.Summary) error {
	m := &markdownWriter{s: s}
	m.reservations()
	m.head()
	m.figures()
	m.thresholds()
	m.details("All findings, and what was not judged", m.findings)
	m.details("Load", m.load)
	m.details("Where a request's time and the CPU go", m.ledger)
	m.details("Sources and warnings", m.sources)
	if s.Run != "" {
		m.line("Bundle: %s", code(s.Run))
	}
	if _, err := io.WriteString(w, m.b.String()); err != nil {
		return fmt.Errorf("write summary as Markdown: %w", err)
	}
	return nil
}

type markdownWriter struct {
	s *record.Summary
	b strings.Builder
}

func (m *markdownWriter) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

// details folds what write writes, and leaves the fold out where that is nothing.
func (m *markdownWriter) details(title string, write func()) {
	before := m.b.String()
	m.b.Reset()
	write()
	inside := m.b.String()
	m.b.Reset()
	m.b.WriteString(before)
	if inside = strings.TrimSpace(inside); inside != "" {
		// Without the empty line GitHub would take what follows for HTML.
		m.line("<details><summary>%s</summary>\n\n%s\n\n</details>\n", title, inside)
	}
}

// head is the answer: the first finding, with its first evidence.
func (m *markdownWriter) head() {
	if len(m.s.Findings) == 0 {
		headline, limit := nothing(m.s)
		m.line("## %s\n", headline)
		if limit != "" {
			m.line("%s\n", escape(limit))
		}
		return
	}
	f := &m.s.Findings[0]
	if why := hints(m.s); why != "" {
		m.line("## %s\n", escape(why))
		m.item("hint", escape(f.Title))
	} else {
		m.line("## What stops it: %s\n", escape(f.Title))
	}
	m.item("where", code(Place(f.Where)))
	m.item("how much", escape(Weight(f)))
	m.item("do", escape(f.Remedy))
	if len(f.Evidence) > 0 {
		m.item("seen", escape(evidence(f.Evidence[:1])))
	}
	m.line("")
}

// reservations are what a reader must know before any figure.
func (m *markdownWriter) reservations() {
	if why := invalid(m.s); why != "" {
		m.line("> **INVALID**: %s\n", escape(why))
	}
	for _, text := range reservations(m.s) {
		m.line("> %s\n", escape(text))
	}
}

// figures is the load in one row.
func (m *markdownWriter) figures() {
	l := &m.s.Load
	head := []string{"requests/s", "requests", "errors"}
	row := []string{"**" + notation.Rate(l.Rate) + "**", notation.Count(l.Requests),
		fmt.Sprintf("%s (%s)", notation.Count(l.Errors), notation.Percent(ratio(l.Errors, l.Requests)))}
	if l.Latency.Max > 0 {
		for _, p := range []float64{50, 90, 99, 99.9, 100} {
			head, row = append(head, "p"+strconv.FormatFloat(p, 'f', -1, 64)), append(row, percentile(l.Latency, p))
		}
		head[len(head)-1] = "max"
	}
	m.table(strings.Repeat("r", len(head)), head, [][]string{row})
}

// findings are all of them, with all evidence.
func (m *markdownWriter) findings() {
	for i := range m.s.Findings {
		f := &m.s.Findings[i]
		m.line("### %d. %s (%s)\n", i+1, escape(f.Title), code(f.Cause))
		m.item("where", code(Place(f.Where)))
		m.item("how much", escape(Weight(f)))
		m.item("do", escape(f.Remedy))
		for _, e := range f.Evidence {
			m.item("seen", escape(evidence([]findings.Evidence{e})))
		}
		for _, r := range f.Rejected {
			m.item("not", code(r.Cause)+": "+escape(r.Why))
		}
		m.line("")
	}
	if len(m.s.NotJudged) > 0 {
		m.line("Not judged: %s\n", escape(notJudged(m.s.NotJudged, math.MaxInt)))
	}
}

func (m *markdownWriter) item(label, text string) {
	if text != "" {
		m.line("- **%s** %s", label, text)
	}
}

func (m *markdownWriter) load() {
	l := &m.s.Load
	m.line("%s\n", escape(loadModel(m.s)))
	if url := code(m.s.Target.URL); url != "" {
		m.line("Target: %s\n", url)
	}
	if l.Latency.Max > 0 {
		rows := [][]string{}
		for _, q := range quantiles(l) {
			rows = append(rows, []string{q.name, q.latency, q.service})
		}
		m.table("lrr", []string{"percentile", "latency", "service"}, rows)
	}
	if len(l.ErrorKinds) > 0 {
		m.line("Errors: %s\n", escape(tally(l.ErrorKinds)))
	}
	if l.ErrorLatency.Max > 0 {
		m.line("Failed after: %s\n", took(l.ErrorLatency))
	}
	if l.IntendedRate > 0 && l.Lag.Max > 0 {
		m.line("Schedule lag: %s\n", took(l.Lag))
	}
	if len(l.Status) > 0 {
		m.line("Status: %s\n", escape(tally(l.Status)))
	}
	rows := [][]string{}
	for _, s := range l.Steps {
		rows = append(rows, []string{escape(s.Name), notation.Count(s.Requests), notation.Count(s.Errors),
			percentile(s.Latency, 50), percentile(s.Latency, 99), percentile(s.Latency, 100)})
	}
	if len(rows) > 0 {
		m.table("lrrrrr", []string{"request", "count", "errors", "p50", "p99", "max"}, rows)
	}
	rows = rows[:0]
	for _, c := range l.Checks {
		rows = append(rows, []string{paint(false).mark(c.Failed == 0 && c.Passed > 0), escape(c.Request), escape(c.Name), checked(c)})
	}
	if len(rows) > 0 {
		m.table("lllr", []string{"", "request", "check", ""}, rows)
	}
	if m.s.Overhead != nil {
		m.line("%s\n", overhead(m.s.Overhead))
	}
}

// thresholds are one line, those that failed first.
func (m *markdownWriter) thresholds() {
	var failed, met []string
	for _, t := range m.s.Thresholds {
		text := paint(false).mark(t.OK) + " " + code(t.Expr) + ": " + ThresholdValue(t)
		if t.OK {
			met = append(met, text)
		} else {
			failed = append(failed, text)
		}
	}
	if len(m.s.Thresholds) > 0 {
		m.line("%s\n", strings.Join(append(failed, met...), "; "))
	}
}

func (m *markdownWriter) sources() {
	rows := [][]string{}
	for _, s := range Asked(m.s.Sources) {
		row := []string{paint(false).mark(s.OK), escape(s.Name), notation.Count(s.Samples), "", "", escape(s.Why)}
		if s.Samples > 0 {
			row[3], row[4] = notation.Duration(int64(s.Align.P50)), notation.Duration(int64(s.Align.P99))
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		m.table("llrrrl", []string{"", "source", "samples", "aligned within p50", "p99", "note"}, rows)
	}
	for _, warning := range m.s.Warnings {
		m.line("- warning: %s", escape(warning))
	}
}

// table writes a table; align holds l or r per column.
func (m *markdownWriter) table(align string, head []string, rows [][]string) {
	m.line("| %s |", strings.Join(head, " | "))
	marks := make([]string, len(align))
	for i, a := range align {
		marks[i] = map[rune]string{'l': "---", 'r': "--:"}[a]
	}
	m.line("| %s |", strings.Join(marks, " | "))
	for _, row := range rows {
		m.line("| %s |", strings.Join(row, " | "))
	}
	m.line("")
}

// escape makes text of unknown origin plain text in GitHub's Markdown: no HTML, no link, no
// mention. GitHub looks for mentions and issues in what it has rendered, where an entity is
// the character again; a space of no width behind it ends the name.
func escape(s string) string { return markdownEscapes.Replace(notation.Clean(s)) }

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`, "$", `\$`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "@ ", "@ ", "@", "@&#8203;", "#", `\#&#8203;`,
	"://", "&#58;//", "www.", "www&#46;",
)

// code returns s as a code span, its fence longer than any run of backticks in
// it. The pipe is replaced: a table cell would end at it even in a span.
func code(s string) string {
	s = strings.ReplaceAll(notation.Clean(s), "|", "¦")
	if s == "" {
		return ""
	}
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
