package render

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/verify"
)

// Text writes a result for people: the verdict in capitals first, then the sides,
// the metrics, and what the verdict rests on. The error is the writer's.
func Text(w io.Writer, r verify.Result) error {
	var b strings.Builder
	inert.Fprintf(&b, "%s: %s\n\n", strings.ToUpper(string(r.Verdict)), inert.Block(r.Why))
	for i, side := range r.Sides {
		if side != "" {
			inert.Fprintf(&b, "%c  %s\n", 'a'+i, side)
		}
	}
	// A table of dashes hides the reason, which is all there is.
	if measuredNothing(r) {
		_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
		return err
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	inert.Fprintf(t, "metric\ta\tb\tchange\tmargin\tdetectable (MDE)\tverdict\n")
	for _, m := range r.Metrics {
		inert.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, Amount(m.A, m.Unit), Amount(m.B, m.Unit),
			change(m), notation.Bound(m.Margin), seen(m), Verdict(m))
	}
	t.Flush()
	for _, line := range footing(r) {
		inert.Fprintf(&b, "\n%s", line)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	if second := r.AlsoAgainst; second != nil && err == nil {
		if _, err = io.WriteString(w, inert.Sprintf("\nalso against %s\n\n", second.Base)); err == nil {
			err = Text(w, second.Result)
		}
	}
	return err
}

// measuredNothing reports whether no metric has anything to show.
func measuredNothing(r verify.Result) bool {
	unchanged := r.Verdict == verify.Pass && r.Pairs == 0 && r.Stored == nil
	figures := slices.ContainsFunc(r.Metrics, func(m verify.MetricResult) bool { return m.A > 0 || m.B > 0 })
	return (r.Verdict == verify.Invalid || unchanged) && !figures
}

// footing says what the verdict rests on: pairs, looks, the designed error rate,
// and how side a differs from itself.
func footing(r verify.Result) []string {
	lines := []string{measuredLine(r)}
	if line := certainty(r); line != "" {
		lines = append(lines, line)
	}
	if r.Noise != nil {
		line := fmt.Sprintf("noise of CPU per request: %s from turn to turn, %s from launch to launch; the side launched "+
			"second differs by %s", notation.Tenths(r.Noise.Turn), notation.Tenths(r.Noise.Launch), order(*r.Noise))
		if r.Plan != nil {
			line += fmt.Sprintf("; so %d turns a launch", r.Plan.Turns)
		}
		lines = append(lines, line)
		if w := r.Noise.Warming; math.Abs(w) >= leastWarming {
			lines = append(lines, warms(w))
		}
	}
	if r.AA.Pairs > 0 || r.AA.MDE > 0 {
		line := fmt.Sprintf("a against itself: %d pairs", r.AA.Pairs)
		if r.AA.Pairs == 0 {
			line = "side a was not measured against itself, for want of time"
		}
		if r.AA.MDE > 0 {
			line += fmt.Sprintf("; with this noise %d pairs detect changes of %s, and %s of "+
				"simulated sessions report a regression of identical sides", r.Pairs,
				Detectable(r), notation.Tenths(r.AA.FalsePositive))
		}
		lines = append(lines, line)
	}
	if r.Tolerated {
		lines = append(lines, "warning: passed without a verdict, as asked for: "+r.Why)
	}
	for _, warning := range r.Warnings {
		lines = append(lines, "warning: "+warning)
	}
	return lines
}

// certainty describes how sure the intervals are, and which bound a pass rests on. The interval of an
// early look is wide, because it has to be surer than the last one's; without the bound beside it a pass
// looks as if it ignored its own interval.
func certainty(r verify.Result) string {
	if r.Confidence == 0 {
		return ""
	}
	line := "each interval holds at " + notation.Confidence(r.Confidence)
	var bounds []string
	for _, m := range r.Metrics {
		if m.Verdict == verify.Pass && m.Worst != nil && !m.Advisory {
			bounds = append(bounds, fmt.Sprintf("%s %s", m.Name, notation.Tenths(max(0, verify.Own(m.Higher, *m.Worst)))))
		}
	}
	if len(bounds) > 0 {
		line += "; at 97.5 %, worse by at most: " + strings.Join(bounds, ", ")
	}
	return line
}

// order words by how much the side that was launched second differs, with its standard error.
func order(c verify.Components) string {
	return fmt.Sprintf("%s (standard error %s)", notation.Change(math.Expm1(c.Order)), notation.Tenths(c.OrderError))
}

// method says how a pair's two sides were measured.
func method(r verify.Result) string {
	switch {
	case r.Turn > 0:
		return fmt.Sprintf("loaded by turns of %s", notation.Time(r.Turn))
	case r.Apart != "":
		return "one side up at a time (" + r.Apart + ")"
	}
	return "one side up at a time"
}

// Standing words the first deciding metric that has a figure, of the pairs so far;
// empty without one.
func Standing(r verify.Result) string {
	for _, m := range r.Metrics {
		if !m.Advisory && m.A > 0 {
			return fmt.Sprintf("; %s %s, detectable %s", m.Name, change(m), seen(m))
		}
	}
	return ""
}

// change words a metric's relative change; "not known" if it was not measured.
func change(m verify.MetricResult) string {
	if m.Low == 0 && m.High == 0 && m.Estimate == 0 && m.A == 0 {
		return "not known"
	}
	return Interval(m.Higher, m.Estimate, m.Low, m.High)
}

// Interval writes a relative change with the limits of its interval in words: "64 % better (58.1 to
// 70.2)", or "0.6 % worse (2.1 better to 3.3 worse)". The numbers are relative with + as worse, as in
// verify.MetricResult; higher says that more is better, and the words are then of the metric itself:
// throughput that is 64 % better is 1.64 times as much.
func Interval(higher bool, estimate, low, high float64) string {
	if math.IsNaN(low) || math.IsNaN(high) {
		return Change(higher, estimate)
	}
	near, far := low, high
	if estimate < 0 {
		near, far = high, low
	}
	_, nearWord := direction(higher, near)
	farAmount, farWord := direction(higher, far)
	nearAmount, _ := direction(higher, near)
	if nearWord == farWord || nearWord == "" {
		return fmt.Sprintf("%s (%s to %s)", Change(higher, estimate), nearAmount, farAmount)
	}
	return fmt.Sprintf("%s (%s %s to %s %s)", Change(higher, estimate), nearAmount, nearWord, farAmount, farWord)
}

// Change writes a relative change with + as worse in words: "64 % better"; "no change" for one that
// rounds to nothing. higher is that of Interval.
func Change(higher bool, worse float64) string {
	amount, word := direction(higher, worse)
	if word == "" {
		return "no change"
	}
	return amount + " % " + word
}

// direction returns a change's amount in percent, and whether it is worse or better; "" for neither.
func direction(higher bool, worse float64) (amount, word string) {
	amount = strings.TrimSuffix(notation.Tenths(math.Abs(verify.Own(higher, worse))), " %")
	switch {
	case amount == "0.0":
		return "0", ""
	case worse > 0:
		return amount, "worse"
	}
	return amount, "better"
}

// seen words the smallest change that would have been detected; "-" if unknown.
func seen(m verify.MetricResult) string {
	if m.MDE <= 0 {
		return "-"
	}
	return notation.Tenths(verify.Own(m.Higher, m.MDE))
}

// Verdict writes a metric's verdict, with the reason if it is not decided.
func Verdict(m verify.MetricResult) string {
	text := string(m.Verdict)
	if m.Verdict == verify.Inconclusive && m.Why != "" {
		text += ": " + m.Why
	}
	if m.Advisory && !(m.Guard && m.Verdict == verify.Regression) {
		text += " (advisory)"
	}
	return text
}

// Amount writes a value with its unit, three figures; "-" without a measurement.
func Amount(v float64, unit string) string {
	if v == 0 {
		return "-"
	}
	return notation.Quantity(v, unit)
}

// leastWarming is from which trend within launches on a result says that the sides were not measured in one state.
const leastWarming = 0.02

// warms says how a request's CPU changes within launches on both sides.
func warms(by float64) string {
	if by < 0 {
		return fmt.Sprintf("both sides warm up while they are measured: a request takes %s less CPU in the last third of a launch than in "+
			"the first (hint: a larger --block measures them warmer)", notation.Tenths(-by))
	}
	return fmt.Sprintf("a request of both sides takes %s more CPU in the last third of a launch than in the first: something builds up "+
		"(hint: a larger --block shows more of it)", notation.Tenths(by))
}

// measuredLine says how many launches there were, how they were measured and looked at, and how often
// such a session errs.
func measuredLine(r verify.Result) string {
	if r.Stored != nil {
		return storedLine(*r.Stored)
	}
	line := fmt.Sprintf("%s of launches, %s", notation.Counted(int64(r.Pairs), "pair", ""), method(r))
	switch {
	case r.Early:
		line += "; the first look, because they differ beyond doubt"
	case r.Looks > 0:
		line += fmt.Sprintf("; look %d of %d", r.Looks, r.Planned)
	default:
		return line // nothing was decided
	}
	return line + fmt.Sprintf("; false-regression rate by design: at most %s per session", notation.Bound(r.Alpha/2))
}

// storedLine describes the comparison in one line.
func storedLine(s verify.Stored) string {
	if s.Blocks == 0 {
		return fmt.Sprintf("%d launches", s.Launches)
	}
	// The file and the commit both: a baseline may have been moved, or saved from
	// another branch.
	of := s.File
	if s.Commit != "" {
		of += ", commit " + s.Commit[:min(12, len(s.Commit))]
	}
	return fmt.Sprintf("%d launches against %d of the baseline (%s, saved %s): unpaired, one session after "+
		"the other; false-regression rate unknown",
		s.Launches, s.Blocks, of, s.Saved.UTC().Format("2006-01-02 15:04 UTC"))
}
