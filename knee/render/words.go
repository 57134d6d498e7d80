package render

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/stat/usl"
)

func perSecond(rate float64) string { return notation.Rate(rate) + "/s" }

// Headline is the answer in one line.
func Headline(a *knee.Answer) string {
	var line string
	switch {
	case a.Knee != nil:
		line = fmt.Sprintf("%s (%s to %s)", perSecond(a.Knee.Rate), notation.Rate(a.Knee.Low), notation.Rate(a.Knee.High))
		if then := end(a); then != "" {
			line += "; then " + then
		}
	case a.AtLeast > 0:
		line = "at least " + perSecond(a.AtLeast)
	default:
		line = "no knee"
	}
	if a.State != knee.Found {
		line = fmt.Sprintf("%s: %s", strings.ToUpper(string(a.State)), line)
	}
	return line
}

// end says in a clause what limits the capacity.
func end(a *knee.Answer) string {
	switch {
	case a.Finding != nil:
		return lower(a.Finding.Title)
	case a.Broke != "":
		return a.Broke
	}
	return ""
}

// lower makes a title the end of a sentence, unless it begins with an acronym or a
// name.
func lower(title string) string {
	first, rest, _ := strings.Cut(title, " ")
	if first == "" || len(first) > 1 && strings.ToLower(first[1:]) != first[1:] {
		return title
	}
	return strings.TrimSpace(strings.ToLower(first[:1]) + first[1:] + " " + rest)
}

// facts are the lines below the headline: a name and a sentence each.
func facts(a *knee.Answer) (lines [][2]string) {
	add := func(name, format string, args ...any) {
		lines = append(lines, [2]string{name, fmt.Sprintf(format, args...)})
	}
	if a.Why != "" {
		add("why", "%s", a.Why)
	}
	if len(a.Header.Objectives) > 0 {
		add("objectives", "%s, no queue that grows", strings.Join(a.Header.Objectives, ", "))
	}
	if a.Header.Reason != "" {
		add("", "%s", a.Header.Reason)
	}
	if a.Broke != "" {
		add("above it", "%s", a.Broke)
	}
	if a.Finding != nil {
		add("remedy", "%s", a.Finding.Remedy)
		add("", "confidence %s; all findings: redline report DIR/%s", a.Finding.Confidence, a.Finding.Bundle)
	}
	if a.Plateau > 0 {
		add("overloaded", "%s are served when more are due", perSecond(a.Plateau))
	}
	if h := a.Hysteresis; h != nil {
		add("hysteresis", "%s", hysteresis(h))
	}
	if s := a.Soak; s != nil {
		add("soak", "%s", soak(*s))
	}
	if p := a.Pool; p != nil {
		add("pool", "%s", pool(p))
	}
	switch {
	case a.Law != nil:
		add("USL", "%s", law(a.Law))
	case a.NoLaw != "":
		add("USL", "not shown: %s", a.NoLaw)
	}
	for _, w := range a.Warnings {
		add("warning", "%s", w)
	}
	return lines
}

func hysteresis(h *knee.Hysteresis) string {
	var parts []string
	if h.Down > 0 {
		parts = append(parts, fmt.Sprintf("on the way down the service serves %s of what it served on the way up",
			notation.Percent(h.Down)))
	}
	switch {
	case h.Return == 0:
	case h.Recovered:
		parts = append(parts, fmt.Sprintf("after %s it holds %s again immediately", perSecond(h.Overload), perSecond(h.Return)))
	default:
		parts = append(parts, fmt.Sprintf("after %s it does not recover at %s", perSecond(h.Overload), perSecond(h.Return)))
	}
	return strings.Join(parts, "; ")
}

func soak(s knee.Step) string {
	text := fmt.Sprintf("%s for %s: %s", perSecond(s.Rate), notation.Time(s.Measured.Round(time.Second)), s.Outcome)
	if s.P99 > 0 { // it is not known where the target ended
		text += ", p99 " + notation.Duration(s.P99)
	}
	if len(s.Why) > 0 {
		text += " (" + strings.Join(s.Why, "; ") + ")"
	}
	return text
}

func pool(p *knee.Pool) string {
	text := fmt.Sprintf(
		"%d at the knee by Little's law: %s x %s = %s in use",
		p.Size,
		perSecond(p.Rate),
		notation.Duration(p.Service),
		notation.Short(p.Little),
	)
	if p.Swept > 0 {
		text += fmt.Sprintf("; in the sweep throughput stopped rising at %d", p.Swept)
	}
	return text + fmt.Sprintf(". The rule of thumb rate x (ms + 50) / 1000 would say %s; nothing measured supports its 50 ms",
		notation.Whole(math.Ceil(p.Folklore)))
}

func law(f *usl.Fit) string {
	return fmt.Sprintf(
		"sigma %.4g (%.3g to %.3g), kappa %.3g (%.2g to %.2g), peak of %s at %s connections",
		f.Sigma,
		f.SigmaInterval.Low,
		f.SigmaInterval.High,
		f.Kappa,
		f.KappaInterval.Low,
		f.KappaInterval.High,
		perSecond(f.Limit()),
		notation.Whole(f.Peak()),
	)
}

// step is a row of the table of steps.
func step(s knee.Step) []string {
	what := perSecond(s.Rate)
	if s.Rate == 0 {
		what = fmt.Sprintf("%d conn.", s.Connections)
	}
	p99 := "-"
	if s.P99 > 0 {
		p99 = notation.Duration(s.P99)
	}
	return []string{
		string(s.Phase),
		fmt.Sprint(s.Launch),
		what,
		notation.Rate(s.Served),
		p99,
		string(s.Outcome),
		strings.Join(s.Why, "; "),
	}
}

var stepHead = []string{"step", "launch", "load", "served/s", "p99", "outcome", "why"}

// sweep returns the steps of the way up, and the most that one served.
func sweep(a *knee.Answer) (up []knee.Step, most float64) {
	for _, s := range a.Steps {
		if s.Phase == knee.Light || s.Phase == knee.Up {
			up = append(up, s)
			most = max(most, s.Served)
		}
	}
	return up, most
}
