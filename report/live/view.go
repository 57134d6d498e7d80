package live

import (
	"fmt"
	"math"
	"strings"
	"time"

	"charm.land/lipgloss/v2" // styles of the terminal view
	"github.com/charmbracelet/x/ansi"

	"github.com/redline-go/redline/notation"
)

var (
	bold  = lipgloss.NewStyle().Bold(true)
	dim   = lipgloss.NewStyle().Faint(true)
	red   = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
	blue  = lipgloss.NewStyle().Foreground(lipgloss.Blue)
	green = lipgloss.NewStyle().Foreground(lipgloss.Green)
)

// labelWidth is the width of the first column.
const labelWidth = 11

// draw lays the state out in at most width cells per line. It is a pure
// function, so that it is tested without a terminal. Every line is cut, never
// wrapped: a wrapped line would shift all below it when the view redraws.
func draw(title string, e Event, rates []float64, width int) string {
	width = max(width, 30)
	lines := []string{head(title, e)}
	if bar := progress(e, width); bar != "" {
		lines = append(lines, bar)
	}
	if e.Done > 0 {
		rate := fmt.Sprintf("%10s", notation.Rate(e.Rate)+"/s")
		spark := sparkline(rates, min(60, width-labelWidth-ansi.StringWidth(rate)-2))
		lines = append(lines, "",
			row("rate", bold.Render(rate)+"  "+blue.Render(spark)),
			row("latency", percentiles(e)),
			row("errors", failures(e)),
			row("in flight", fmt.Sprintf("%10s", notation.Count(e.InFlight))),
			row("generator", health(e)))
	}
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], width, "…")
	}
	return strings.Join(lines, "\n")
}

func head(title string, e Event) string {
	text := bold.Render("redline")
	if e.Phase != "" {
		text += "  " + blue.Render(notation.Clean(e.Phase))
	}
	if title != "" {
		text += "  " + dim.Render(notation.Clean(title))
	}
	return text
}

func row(label, text string) string {
	return dim.Render(label+strings.Repeat(" ", labelWidth-len(label))) + text
}

// progress draws the bar and the time that is left, or "" without a total.
func progress(e Event, width int) string {
	if e.Total <= 0 {
		return ""
	}
	remaining := max(e.Total-e.Done, 0)
	text := fmt.Sprintf("%.0f of %.0f s, %.0f s left", min(e.Done, e.Total).Seconds(), e.Total.Seconds(), math.Ceil(remaining.Seconds()))
	cells := min(60, width-len(text)-2)
	if cells < 5 {
		return text
	}
	full := min(cells, int(float64(cells)*float64(e.Done)/float64(e.Total)))
	return green.Render(strings.Repeat("━", full)) + dim.Render(strings.Repeat("─", cells-full)) + "  " + text
}

func percentiles(e Event) string {
	if e.Max == 0 {
		return dim.Render(fmt.Sprintf("%10s", "no answer"))
	}
	var parts []string
	for _, p := range []struct {
		name  string
		value time.Duration
	}{{"p50", e.P50}, {"p90", e.P90}, {"p99", e.P99}, {"max", e.Max}} {
		parts = append(parts, dim.Render(p.name)+" "+fmt.Sprintf("%-7s", notation.Duration(int64(p.value))))
	}
	return strings.Repeat(" ", 3) + strings.Join(parts, "  ")
}

func failures(e Event) string {
	text := fmt.Sprintf("%10s", notation.Count(e.Errors))
	of := dim.Render(" of " + notation.Count(e.Requests) + " requests")
	if e.Errors == 0 {
		return text + of
	}
	share := 1.0
	if e.Requests > 0 {
		share = float64(e.Errors) / float64(e.Requests)
	}
	return red.Render(text) + of + " " + red.Render("("+notation.Percent(share)+")")
}

func health(e Event) string {
	text := fmt.Sprintf("%10s", fmt.Sprintf("%.2f CPUs", e.GeneratorCPU)) + dim.Render(", lag p99 ") + notation.Duration(int64(e.LagP99))
	if e.Unhealthy != "" {
		text += "  " + red.Render(notation.Clean(e.Unhealthy))
	}
	return text
}

// sparkline draws the last values, one per cell, from zero to the largest, so
// that heights compare as rates do.
func sparkline(v []float64, cells int) string {
	if cells <= 0 {
		return ""
	}
	v = v[max(0, len(v)-cells):]
	top := 0.0
	for _, x := range v {
		top = max(top, x)
	}
	blocks := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, x := range v {
		if x <= 0 || top == 0 || math.IsNaN(x) {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(blocks[min(len(blocks)-1, int(x/top*float64(len(blocks))))])
	}
	return b.String()
}
