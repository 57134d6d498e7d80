package forecast

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
)

// TextOptions are the layout of an answer; the zero value is usable.
type TextOptions struct {
	Width int  // of the chart, in columns; zero means 80
	Plain bool // only ASCII
}

// Sentence is the answer in one line.
func (a *Answer) Sentence() string {
	if a.Reach == nil {
		last := len(a.Middle) - 1
		return fmt.Sprintf("%s by %s (%s: %s to %s)", a.amount(a.Middle[last]), a.date(&a.From, last),
			notation.Percent(a.Interval), a.amount(a.Low[last]), a.amount(a.High[last]))
	}
	r := a.Reach
	limit := fmt.Sprintf("%s (%s)", r.Of, a.amount(r.Limit))
	end := a.date(&a.From, len(a.Middle)-1)
	switch {
	case r.Middle == nil && r.Early == nil:
		return fmt.Sprintf("does not reach %s by %s in %s of the simulated futures", limit, end, notation.Percent(1-r.Share))
	case r.Middle == nil:
		return fmt.Sprintf("may reach %s from %s on, but more likely will not by %s: %s of the simulated futures do",
			limit, a.date(r.Early, 0), end, notation.Percent(r.Share))
	case r.Late == nil:
		return fmt.Sprintf("reaches %s on %s (%s: %s to after %s)", limit, a.date(r.Middle, 0), notation.Percent(a.Interval),
			a.date(r.Early, 0), end)
	}
	return fmt.Sprintf("reaches %s on %s (%s: %s to %s)", limit, a.date(r.Middle, 0), notation.Percent(a.Interval),
		a.date(r.Early, 0), a.date(r.Late, 0))
}

func (a *Answer) amount(v float64) string {
	switch a.Unit {
	case "ns", "bytes", "1":
		return notation.Quantity(v, a.Unit)
	}
	return notation.Figure(v) + inert.Text(a.Unit)
}

// date returns the day of a step, with its hour if steps are shorter and the horizon is
// near.
func (a *Answer) date(from *time.Time, step int) string {
	if from == nil {
		return "later"
	}
	each := time.Duration(a.Step * float64(time.Second))
	t := from.Add(time.Duration(step) * each)
	layout := "2 January"
	if t.Year() != a.From.Year() {
		layout += " 2006"
	}
	if each < 24*time.Hour && time.Duration(len(a.Middle))*each <= 7*24*time.Hour {
		layout += " 15:04"
	}
	return t.UTC().Format(layout)
}

// Text writes an answer for people. The error is the writer's.
func Text(w io.Writer, a *Answer, o TextOptions) error {
	var b strings.Builder
	inert.Fprintf(&b, "%s\n\n", a.Sentence())
	for _, line := range chart(a, o) {
		b.WriteString(line + "\n") // formatting would collapse spaces
	}
	b.WriteString("\n")
	for _, line := range a.basis() {
		inert.Fprintf(&b, "%s\n", line)
	}
	text := b.String()
	if o.Plain {
		text = notation.ASCII(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// Markdown writes an answer for a page. The error is the writer's.
func Markdown(w io.Writer, a *Answer) error {
	var b strings.Builder
	inert.Fprintf(&b, "### %s\n\n```\n", a.Sentence())
	for _, line := range chart(a, TextOptions{}) {
		b.WriteString(line + "\n")
	}
	inert.Fprintf(&b, "```\n\n")
	for _, line := range a.basis() {
		inert.Fprintf(&b, "- %s\n", line)
	}
	b.WriteString("\n| candidate | MASE in the backtest |\n|---|---|\n")
	for _, t := range a.Backtest.Trials {
		inert.Fprintf(&b, "| %s | %.3f |\n", t.Name, t.MASE)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON writes an answer for programs. The error is the writer's.
func JSON(w io.Writer, a *Answer) error { return inert.JSON(w, a) }

// basis says what the answer is based on.
func (a *Answer) basis() []string {
	step := time.Duration(a.Step * float64(time.Second))
	out := []string{fmt.Sprintf("history: %s, %s of %s from %s", a.Source,
		notation.Counted(int64(len(a.History)), "step", "steps"), span(step), a.Start.UTC().Format("2006-01-02 15:04"))}
	var seasons []string
	for _, s := range a.Seasons {
		seasons = append(seasons, span(time.Duration(s*float64(time.Second))))
	}
	if len(seasons) > 0 {
		out[0] += "; seasons of " + strings.Join(seasons, " and ")
	}
	chosen, naive := a.Backtest.Trials[0], ""
	for _, t := range a.Backtest.Trials {
		if t.Chosen {
			chosen = t
		}
		if t.Name == "seasonal naive" {
			naive = fmt.Sprintf(", the seasonal naive %.3f", t.MASE)
		}
	}
	out = append(out, "model: "+a.Model, fmt.Sprintf("backtest: MASE %.3f%s, over %s of %s ahead", chosen.MASE, naive,
		notation.Counted(int64(a.Backtest.Origins), "origin", "origins"),
		span(time.Duration(a.Backtest.Ahead*float64(time.Second)))))
	if held := a.Backtest.Held; held != nil {
		out = append(
			out,
			fmt.Sprintf(
				"intervals: %s of the backtest's values lay within them, so they are stretched by %s",
				notation.Percent(*held),
				notation.Short(a.Backtest.Stretch),
			),
		)
	}
	if a.HolidayFactor != 1 {
		out = append(out, fmt.Sprintf("holidays: %s of an ordinary day", notation.Percent(a.HolidayFactor)))
	}
	if r := a.Reach; r != nil && r.Already > 0 {
		out = append(out, fmt.Sprintf("warning: %s of the history reached %s already, the last on %s",
			notation.Counted(int64(r.Already), "step", "steps"),
			a.amount(r.Limit), r.Last.UTC().Format("2006-01-02 15:04")))
	}
	for _, warning := range a.Warnings {
		out = append(out, "warning: "+warning)
	}
	return out
}
