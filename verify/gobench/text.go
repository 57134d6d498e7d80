package gobench

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchunit" // prefixes of units, as benchstat writes them

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/render"
)

// Text writes a report for people; dir is the session's folder. Names come from the
// measured code and are written inert: no escape sequence reaches the terminal. The
// error is the writer's.
func Text(w io.Writer, r *Report, dir string) error {
	var b strings.Builder
	if r.Verdict != "" {
		inert.Fprintf(&b, "%s: %s\n", strings.ToUpper(string(r.Verdict)), r.Why)
	} else {
		inert.Fprintf(&b, "%s\n", r.Why)
	}
	for _, s := range r.Sides {
		inert.Fprintf(&b, "%s  %s\n", s.Name, s.words())
	}
	pkg := ""
	var t *tabwriter.Writer
	for _, bench := range r.Benchmarks {
		// A table per package, so that columns are as wide as its own names need.
		if bench.Package != pkg || t == nil {
			if t != nil {
				t.Flush()
			}
			pkg = bench.Package
			inert.Fprintf(&b, "\n%s\n", pkg)
			t = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
			inert.Fprintf(t, "%s\n", tabbed(r.columns()))
		}
		for i, m := range bench.Metrics {
			name := bench.Name
			if i > 0 {
				name = ""
			}
			inert.Fprintf(t, "%s\n", tabbed(r.row(name, m)))
		}
	}
	if t != nil {
		t.Flush()
	}
	r.traps(&b)
	r.hot(&b)
	for _, m := range r.Missing {
		inert.Fprintf(&b, "\n%s", m.words())
	}
	for _, line := range r.footing(dir) {
		inert.Fprintf(&b, "\n%s", line)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// words names a side: its revision, commit and variables.
func (s SideReport) words() string {
	text := s.Source
	if s.Commit != "" {
		text += ", commit " + s.Commit[:min(12, len(s.Commit))]
	}
	if s.Dirty {
		text += " with changes"
	}
	return text
}

// words distinguishes a benchmark that fails from one that a side lacks.
func (m Missing) words() string {
	what := m.Package
	if m.Name != "" {
		what += "." + m.Name
	}
	if m.Failed {
		return fmt.Sprintf("FAILED on side %s: %s: %s", m.Side, what, m.Why)
	}
	if m.Skipped {
		return fmt.Sprintf("skipped on side %s: %s (%s)", m.Side, what, cmp.Or(m.Why, "no reason given"))
	}
	return fmt.Sprintf("not compared: %s %s (side %s)", what, m.Why, m.Side)
}

// columns are the titles of the table.
func (r *Report) columns() []string {
	if len(r.Sides) == 1 {
		return []string{"benchmark", "unit", "median", "typical round, 95 %", "noise", "detectable (MDE)"}
	}
	return []string{"benchmark", "unit", "a", "b", "change", "detectable (MDE)", "verdict"}
}

// row returns a metric's line of the table; columns has the titles.
func (r *Report) row(name string, m Metric) []string {
	if len(r.Sides) == 1 {
		spread := "-"
		if m.Spread[1] > 0 {
			spread = amount(m.Spread[0], m.Name) + " to " + amount(m.Spread[1], m.Name)
		}
		return []string{name, m.Name, amount(m.A, m.Name), spread, percent(m.Noise), percent(m.MDE)}
	}
	return []string{name, m.Name, amount(m.A, m.Name), amount(m.B, m.Name), m.change(), percent(m.MDE), render.Verdict(m.MetricResult)}
}

// change words a relative change with its interval.
func (m Metric) change() string {
	switch {
	case m.Estimate == 0 && m.Low == 0 && m.High == 0 && m.Verdict == verify.Pass:
		return "none"
	case m.Estimate == 0 && m.Low == 0 && m.High == 0:
		return "not known"
	// A ratio to nothing is infinite; the amount says more.
	case m.A == 0:
		return fmt.Sprintf("from none to %s", amount(m.B, m.Name))
	case m.B == 0:
		return fmt.Sprintf("from %s to none", amount(m.A, m.Name))
	}
	return render.Interval(m.Higher, m.Estimate, m.Low, m.High)
}

func percent(v float64) string {
	if v <= 0 {
		return "-"
	}
	return notation.Tenths(v)
}

// traps prints the traps, each with its evidence and its remedy.
func (r *Report) traps(b *strings.Builder) {
	title := "\nTraps: these figures do not measure the work they claim to\n"
	for _, bench := range r.Benchmarks {
		for _, t := range bench.Traps {
			b.WriteString(title)
			title = ""
			inert.Fprintf(b, "  %s: %s\n    %s\n    %s\n", bench.Name, t.Kind, t.evidence(), t.Remedy)
		}
	}
}

// evidence words what was seen, with its place before and its side after.
func (t Trap) evidence() string {
	text := t.Evidence
	if t.Where != "" {
		text = t.Where + ": " + text
	}
	switch {
	case strings.Contains(t.Side, ","):
		text += " (sides " + t.Side + ")"
	case t.Side != "":
		text += " (side " + t.Side + ")"
	}
	return text
}

// hot prints where the CPU of profiled benchmarks goes.
func (r *Report) hot(b *strings.Builder) {
	title := "\nWhere the CPU goes\n"
	for _, bench := range r.Benchmarks {
		p := bench.Profile
		if p == nil {
			continue
		}
		last := p.Sides[len(p.Sides)-1]
		var top []string
		for _, f := range last.Top {
			top = append(top, fmt.Sprintf("%s %s", callstack.Short(f.Name), notation.Percent(f.Share)))
		}
		if len(top) == 0 {
			continue
		}
		b.WriteString(title)
		title = ""
		inert.Fprintf(b, "  %s: %s (%d samples)\n", bench.Name, strings.Join(top, ", "), last.Samples)
		for _, c := range p.Changes {
			inert.Fprintf(b, "    %s -> %s of each operation in %s\n", amount(c.A/1e9, perOp),
				amount(c.B/1e9, perOp), callstack.Short(c.Place))
		}
	}
}

// footing says what the figures rest on and where they are kept.
func (r *Report) footing(dir string) []string {
	lines := []string{}
	if r.Verdict != "" {
		lines = append(lines, fmt.Sprintf("%d rounds of %s per side; false-regression rate by design: at "+
			"most %s per session", r.Rounds, r.BenchTime, notation.Bound(r.Alpha/2)))
		if r.AA.Pairs > 0 {
			lines = append(lines, fmt.Sprintf("a against itself: %s; with this noise %s of simulated sessions "+
				"report a regression of identical sides", plural(r.AA.Pairs, "round"), notation.Tenths(r.AA.FalsePositive)))
		}
	}
	for _, warning := range r.Warnings {
		lines = append(lines, "warning: "+warning)
	}
	// The command is complete: benchstat would otherwise split the sides by their
	// commits.
	if len(r.Sides) == 2 {
		lines = append(lines, fmt.Sprintf("kept in %s: benchstat -ignore commit %s %s", dir,
			path.Join(dir, OldFile), path.Join(dir, NewFile)))
	} else {
		lines = append(lines, fmt.Sprintf("kept in %s: benchstat %s", dir, path.Join(dir, NewFile)))
	}
	return lines
}

// Markdown writes a report for a pull request. The error is the writer's.
func Markdown(w io.Writer, r *Report) error {
	var b strings.Builder
	title := string(r.Verdict)
	if title == "" {
		title = "benchmarks"
	}
	columns := r.columns()
	inert.Fprintf(&b, "### redline bench: %s\n\n%s\n\n| %s |\n|%s\n", title, cell(r.Why),
		strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, bench := range r.Benchmarks {
		for _, m := range bench.Metrics {
			row := r.row("`"+bench.Name+"`", m)
			for i := range row {
				row[i] = cell(row[i])
			}
			inert.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
	}
	for _, bench := range r.Benchmarks {
		for _, t := range bench.Traps {
			inert.Fprintf(&b, "\n- **%s** of `%s`: %s. %s", t.Kind, bench.Name, cell(t.evidence()), t.Remedy)
		}
	}
	for _, m := range r.Missing {
		inert.Fprintf(&b, "\n- %s", cell(m.words()))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// cell keeps text of benchmarks from breaking a table or becoming markup.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(text)
}

// amount writes a value with its unit, in three or four figures.
func amount(v float64, unit string) string {
	switch {
	case unit == perOp:
		return notation.Span(v * 1e9)
	case unit == allocsOp:
		return notation.Quantity(v, "1")
	case unit == bytesOp:
		return notation.Size(v)
	}
	return strings.TrimSuffix(benchunit.Scale(v, benchunit.ClassOf(unit)), ".000")
}

// line words the progress of the rounds, with the first benchmark's figures so far.
func (s *session) line() string {
	text := fmt.Sprintf("round %d of %d; at most %s left", s.rounds, s.planned, notation.Time(s.left()))
	// With fewer rounds there is no interval to show.
	if len(s.list) == 0 || len(s.sides) == 1 || s.rounds < sameRounds {
		return text
	}
	b := s.list[0]
	c := compared{of: b, unit: perOp, metric: verify.Metric{Name: perOp, Margin: s.o.Margin},
		sides: [2][]float64{values(b.series[0], perOp), values(b.series[1], perOp)}}
	metrics, pairs, _ := together([]compared{c}, s.rounds, 0)
	for _, m := range verify.Decide(pairs, nil, 1, s.o.rules(metrics)).Metrics {
		text += fmt.Sprintf("; %s %s, detectable %s", b.title(), Metric{MetricResult: m}.change(), percent(m.MDE))
	}
	return text
}

// tabbed makes a row of a table: text in it can begin neither a column nor a row.
func tabbed(cells []string) inert.Own {
	var row []string
	for _, c := range cells {
		row = append(row, inert.Text(c))
	}
	return inert.Own(strings.Join(row, "\t"))
}
