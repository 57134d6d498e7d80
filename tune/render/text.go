package render

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/tune"
	verdicts "github.com/redline-go/redline/verify/render"
)

// mostListed is the number of settings that the text lists; the JSON has all.
const mostListed = 8

// Text writes a result for people: the verdict in capitals, the settings to adopt, what each is
// worth, the curves and the surface. The error is the writer's.
func Text(w io.Writer, r tune.Result) error {
	var b strings.Builder
	inert.Fprintf(&b, "%s: %s\n", strings.ToUpper(string(r.Verdict)), inert.Block(r.Why))
	if r.Verdict == tune.Recommend {
		b.WriteString("\n")
		for _, line := range r.Lines {
			inert.Fprintf(&b, "    %s\n", line)
		}
	}
	inert.Fprintf(&b, "\nobjective  %s\nservice    %s\nsearch     %s\n", r.Objective, r.Service, searched(r))
	anew := "new launches"
	if r.Running {
		anew = "new turns"
	}
	if r.Confirmed != nil {
		for _, m := range r.Confirmed.Metrics {
			if m.A > 0 {
				inert.Fprintf(&b, "           %s\n", confirmed(m.Name, verdicts.Amount(m.A, m.Unit),
					verdicts.Amount(m.B, m.Unit), anew, r.Verdict == tune.Recommend && !m.Advisory))
			}
		}
	}
	worth(&b, r)
	low, high := reach(r.Knobs)
	for _, k := range r.Knobs {
		knob(&b, k, low, high)
	}
	if r.Surface != nil {
		surface(&b, *r.Surface)
	}
	measured(&b, r)
	for _, warning := range r.Warnings {
		inert.Fprintf(&b, "\nwarning: %s\n", inert.Block(warning))
	}
	inlined(&b, r.PGO)
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// searched says how the search went.
func searched(r tune.Result) string {
	return fmt.Sprintf("%s of %s, %s tried; one trial deviates by %s; seed %d", notation.Counted(int64(r.Trials),
		"trial", "trials"),
		notation.Counted(int64(r.Space), "setting",
			"settings"), notation.Count(int64(r.Tried)), notation.Tenths(r.Noise), r.Seed)
}

func confirmed(name, a, b, anew string, decided bool) string {
	line := fmt.Sprintf("%s %s, now %s", name, b, a)
	if decided {
		line += " (confirmed in " + anew + ")"
	}
	return line
}

// interval formats a gain with its limits.
func interval(g tune.Gain) string { return verdicts.Interval(false, -g.Gain, -g.High, -g.Low) }

// worth writes the table of what each change gains, and each two of them together.
func worth(b *strings.Builder, r tune.Result) {
	if len(r.Worth) == 0 {
		return
	}
	b.WriteString("\nwhat each change is worth (by the search, 90 %)\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	inert.Fprintf(t, "  knob\tfrom\tto\talone\tafter the others\n")
	for _, one := range r.Worth {
		inert.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", one.Knob, one.From, one.To, interval(one.Alone), interval(one.Last))
	}
	t.Flush()
	if len(r.Together) == 0 {
		return
	}
	b.WriteString("\n")
	t = tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	inert.Fprintf(t, "  two together\tboth\tbeyond each alone\n")
	for _, two := range r.Together {
		inert.Fprintf(t, "  %s and %s\t%s\t%s\n", two.A, two.B, interval(two.Both), interval(two.Excess))
	}
	t.Flush()
}

// barWidth is the width of the longest bar.
const barWidth = 40

// reach returns the lowest and the highest value of all curves, so that the bars of all knobs
// have one scale.
func reach(knobs []tune.KnobResult) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, k := range knobs {
		for _, p := range k.Curve {
			if !p.Out {
				low, high = math.Min(low, p.Gain.Gain), math.Max(high, p.Gain.Gain)
			}
		}
	}
	return low, high
}

// knob draws the curve of a knob: a bar per value.
func knob(b *strings.Builder, k tune.KnobResult, low, high float64) {
	inert.Fprintf(b, "\n%s (%s scale)", k.Name, k.Scale)
	if k.Remark != "" {
		inert.Fprintf(b, ": %s", k.Remark)
	}
	if k.Plateau != "" {
		inert.Fprintf(b, ": more than %s gains less than 2 %%", k.Plateau)
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, p := range k.Curve {
		if p.Out {
			inert.Fprintf(t, "  %s\tfailed\n", p.Value)
			continue
		}
		words := []string{bar(p.Gain.Gain, low, high)}
		if p.Present {
			words = append(words, "now")
		}
		if p.Chosen && !p.Present {
			words = append(words, "best")
		}
		if p.Value == k.Plateau {
			words = append(words, "plateau")
		}
		inert.Fprintf(t, "  %s\t%s\t%s\n", p.Value, interval(p.Gain), strings.Join(words, " "))
	}
	t.Flush()
}

// bar is as long as the value's distance from the lowest one.
func bar(v, low, high float64) string {
	if high-low < 1e-9 {
		return "-"
	}
	return strings.Repeat("#", 1+int(math.Round((barWidth-1)*(v-low)/(high-low))))
}

// surface draws two knobs as a grid of gains.
func surface(b *strings.Builder, s tune.Surface) {
	inert.Fprintf(b,
		"\n%s down, %s across, change in %%: ( ) now, [ ] best, x failed or breaks a guard, . never tried there\n", s.Y, s.X)
	t := tabwriter.NewWriter(b, 0, 0, 1, ' ', tabwriter.AlignRight)
	row := func(name string, cells []string) {
		fmt.Fprint(t, inert.Text(name)) // cell by cell: names may hold tabs
		for _, c := range cells {
			fmt.Fprint(t, "\t", inert.Text(c))
		}
		fmt.Fprint(t, "\t\n")
	}
	row("", s.Xs)
	for y, name := range s.Ys {
		var cells []string
		for x := range s.Xs {
			cells = append(cells, cell(s, x, y))
		}
		row(name, cells)
	}
	t.Flush()
}

func cell(s tune.Surface, x, y int) string {
	text := fmt.Sprintf("%+.0f", 100*s.Gain[y][x].Gain)
	if s.Out[y][x] {
		text = "x"
	} else if s.Trials[y][x] == 0 {
		text += "."
	}
	switch {
	case x == s.BestX && y == s.BestY:
		return "[" + text + "]"
	case x == s.PresentX && y == s.PresentY:
		return "(" + text + ")"
	}
	return text
}

// measured lists the best settings that were tried, and those that failed.
func measured(b *strings.Builder, r tune.Result) {
	if len(r.Measured) == 0 {
		return
	}
	b.WriteString("\nsettings tried\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	shown := 0
	for _, m := range r.Measured {
		if m.Out == "" && shown >= mostListed {
			continue
		}
		shown++
		text := m.Out
		if m.Out == "" && m.Gain != nil {
			text = interval(*m.Gain)
		}
		inert.Fprintf(t, "  %s\t%s\t%s\n", setting(m.Values), notation.Counted(int64(m.Trials), "trial", "trials"),
			inert.Text(text))
	}
	t.Flush()
	if more := len(r.Measured) - shown; more > 0 {
		inert.Fprintf(b, "  and %s more, all in tune.json\n", notation.Count(int64(more)))
	}
}

func setting(values []tune.Value) string {
	var words []string
	for _, v := range values {
		if v.Changed {
			words = append(words, v.Knob+"="+v.Value)
		}
	}
	return strings.Join(words, " ")
}

// inlined lists what a build with a profile inlines.
func inlined(b *strings.Builder, p *tune.Inlining) {
	if p == nil {
		return
	}
	if len(p.Calls) == 0 {
		b.WriteString("\nwith the profile the compiler inlines no further call of a hot function\n")
		return
	}
	inert.Fprintf(b, "\nwith the profile the compiler inlines %s in the hot packages; of hot functions:\n",
		notation.Counted(int64(p.Total), "more call", "more calls"))
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, c := range p.Calls {
		inert.Fprintf(t, "  %s\tin\t%s\t%s of the CPU\n", c.Callee, c.Caller, notation.Percent(c.Share))
	}
	t.Flush()
}
