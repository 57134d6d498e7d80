package verify

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/redline-go/redline/record/inert"
)

// Text writes a result for people.
func Text(w io.Writer, r Result) error {
	var b strings.Builder
	inert.Fprintf(&b, "%s: %s\n\n", strings.ToUpper(string(r.Verdict)), inert.Block(r.Why))
	for i, side := range r.Sides {
		if side != "" {
			inert.Fprintf(&b, "%c  %s\n", 'a'+i, side)
		}
	}
	if r.measuredNothing() {
		_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
		return err
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	inert.Fprintf(t, "metric\ta\tb\tchange (+ is worse)\tmargin\tcould see\tverdict\n")
	for _, m := range r.Metrics {
		inert.Fprintf(t, "%s\t%s\t%s\t%s\t%.0f %%\t%s\t%s\n", m.Name, amount(m.A, m.Unit), amount(m.B, m.Unit), change(m), 100*m.Margin, seen(m), told(m))
	}
	t.Flush()
	for _, line := range footing(r) {
		inert.Fprintf(&b, "\n%s", line)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// measuredNothing reports whether no metric has anything to show.
func (r Result) measuredNothing() bool {
	return r.Verdict == Invalid && !slices.ContainsFunc(r.Metrics, func(m MetricResult) bool { return m.A > 0 || m.B > 0 })
}

// footing says what the verdict rests on.
func footing(r Result) []string {
	lines := []string{fmt.Sprintf("%d pairs of launches, %s; look %d of %d; designed to call a regression without one in at most %.1f %% of sessions",
		r.Pairs, r.method(), r.Looks, r.Planned, 100*r.Alpha/2)}
	if r.Stored != nil {
		lines[0] = r.Stored.line()
	}
	if r.AA.Pairs > 0 {
		line := fmt.Sprintf("a against itself: %d pairs", r.AA.Pairs)
		if r.AA.MDE > 0 {
			line += fmt.Sprintf("; with this noise %d pairs find changes of %.1f %%, and %.1f %% of simulated sessions call identical sides a regression", r.Pairs, 100*r.AA.MDE, 100*r.AA.FalsePositive)
		}
		lines = append(lines, line)
	}
	for _, warning := range r.Warnings {
		lines = append(lines, "warning: "+warning)
	}
	return lines
}

// method says how a pair's two sides were measured.
func (r Result) method() string {
	switch {
	case r.Turn > 0:
		return fmt.Sprintf("loaded by turns of %v", r.Turn)
	case r.Apart != "":
		return "one side up at a time (" + r.Apart + ")"
	}
	return "one side up at a time"
}

func change(m MetricResult) string {
	if m.Low == 0 && m.High == 0 && m.Estimate == 0 && m.A == 0 {
		return "not known"
	}
	return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", 100*m.Estimate, 100*m.Low, 100*m.High)
}

func seen(m MetricResult) string {
	if m.MDE <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*m.MDE)
}

func told(m MetricResult) string {
	text := string(m.Verdict)
	if m.Verdict == Inconclusive && m.Why != "" {
		text += ": " + m.Why
	}
	if m.Advisory {
		text += " (advisory)"
	}
	return text
}

// amount writes a value with its unit, three figures.
func amount(v float64, unit string) string {
	switch {
	case v == 0:
		return "-"
	case unit == "ns":
		return duration(v)
	case unit == "bytes":
		return octets(v)
	case unit == "1/s":
		return fmt.Sprintf("%.4g/s", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func duration(ns float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= unit.size {
			return fmt.Sprintf("%.3g %s", ns/unit.size, unit.name)
		}
	}
	return time.Duration(ns).String()
}

func octets(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return fmt.Sprintf("%.3g %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.3g B", n)
}

// Line words progress in one line.
func (p Progress) Line() string {
	line := p.Phase
	if p.Result != nil {
		for _, m := range p.Result.Metrics {
			if !m.Advisory && m.A > 0 {
				line += fmt.Sprintf("; %s %s, could see %s", m.Name, change(m), seen(m))
				break
			}
		}
	}
	if p.Left > 0 {
		line += fmt.Sprintf("; at most %s left", p.Left.Round(time.Second))
	}
	return line
}
