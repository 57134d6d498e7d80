package live

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/redline-go/redline/notation"
)

// percentiles is the table of latency: of the last window, and of the measured span so far.
func (f frame) percentiles() block {
	e, all := f.last, f.latency
	if e.Max == 0 && all.Max == 0 {
		return block{4, nil}
	}
	columns := []struct {
		name   string
		now    time.Duration
		so     int64
		needed int // cells of the view from which the column is shown
	}{
		{"p50", e.P50, all.P50, 0}, {"p90", e.P90, all.P90, 60}, {"p95", 0, all.P95, 80}, {"p99", e.P99, all.P99, 0},
		{"p99.9", 0, all.P999, 70}, {"max", e.Max, all.Max, 40},
	}
	head, now, so := "", "", ""
	for _, c := range columns {
		if f.width < c.needed {
			continue
		}
		head += figure(c.name)
		now += figure(latency(int64(c.now)))
		so += figure(latency(c.so))
	}
	lines := []string{row("latency", dim.Render(head)), row("  now", now)}
	if all.Max > 0 {
		lines = append(lines, row("  so far", so))
	}
	return block{4, append([]string{""}, lines...)}
}

// latency writes a percentile; one that is not known stays empty.
func latency(ns int64) string {
	if ns == 0 {
		return ""
	}
	return notation.Duration(ns)
}

// part is one user of the CPUs. Its cell distinguishes it without colours, too.
type part struct {
	name  string
	cpus  float64
	cell  string
	style lipgloss.Style
}

// cpu is the bar of the host's CPUs, by who uses them.
func (f frame) cpu() block {
	cpus := f.service.values(figureCPUs)
	busy, ok := f.service.now(figureBusy)
	if len(cpus) == 0 || !ok || cpus[len(cpus)-1] <= 0 {
		return block{5, nil}
	}
	all := cpus[len(cpus)-1]
	service, _ := f.service.now(figureService)
	database, _ := f.service.now(figureDatabase)
	parts := []part{
		{"service", service, "█", blue}, {"generator", f.last.GeneratorCPU, "▓", green}, {"database", database, "▒", amber},
	}
	others := busy
	for _, p := range parts {
		if p.cpus > 0 { // not NaN
			others -= p.cpus
		}
	}
	parts = append(parts, part{"others", max(others, 0), "░", dim})
	text := fmt.Sprintf("%s of %s CPUs", notation.Figure(min(busy, all)), notation.Short(all))
	cells := max(f.width-labelWidth-len(text)-2, 5)
	bar, used, legend := "", 0, []string{}
	for _, p := range parts {
		if !(p.cpus >= 0.005) {
			continue
		}
		n := min(int(p.cpus/all*float64(cells)+0.5), cells-used)
		bar, used = bar+p.style.Render(strings.Repeat(p.cell, n)), used+n
		legend = append(legend, p.style.Render(p.cell)+fmt.Sprintf(" %s %s", p.name, notation.Figure(p.cpus)))
	}
	bar += dim.Render(strings.Repeat("·", cells-used))
	return block{5, []string{"", row("CPU", bar+"  "+text), row("", strings.Join(legend, "  "))}}
}

// collectorSeconds is how far back the collector's share reaches: the runtime counts its CPU once per cycle.
const collectorSeconds = 10

// collector is the bar of the part of the service's CPU that collects garbage.
func (f frame) collector() block {
	used := f.service.over(figureService, collectorSeconds)
	if _, ok := f.service.whole(figureGC); !ok || used <= 0 {
		return block{6, nil}
	}
	share := min(f.service.over(figureGC, collectorSeconds)/used, 1)
	text := notation.Percent(share) + " of the service's CPU"
	cells := max(f.width-labelWidth-len(text)-2, 5)
	full := int(share*float64(cells) + 0.5)
	return block{6, []string{row("GC", amber.Render(strings.Repeat("█", full))+dim.Render(strings.Repeat("·", cells-full))+"  "+text)}}
}

// queries are the statements that take the most time of the database.
func (f frame) queries() block {
	if len(f.statements) == 0 {
		return block{7, nil}
	}
	whole := 0.0
	for _, s := range f.statements {
		whole += s.time
	}
	lines := []string{"", row("statements", dim.Render(figure("share")+figure("mean")))}
	for _, s := range f.statements {
		mean := ""
		if s.calls > 0 {
			mean = notation.Duration(int64(s.time / s.calls))
		}
		text := figure(notation.Percent(s.time/whole)) + figure(mean) + "  " + notation.Clean(s.text)
		lines = append(lines, row("", ansi.Truncate(text, max(f.width-labelWidth, 8), "…")))
	}
	return block{7, lines}
}

// keyLine names the keys.
func keyLine(f frame) string {
	pause, help := "pause", "help"
	if f.paused {
		pause = "go on"
	}
	if f.help {
		help = "back"
	}
	keys := []string{key("?", help), key("p", pause)}
	if f.stop {
		keys = append(keys, key("s", "stop"))
	}
	return strings.Join(append(keys, key("q", "leave")), "  ")
}

func key(name, does string) string { return bold.Render(name) + " " + dim.Render(does) }

// helpText says what the keys do and what the figures mean.
func helpText(stop bool) []string {
	lines := []string{
		row("p", "pauses the view; the run continues"),
		row("q", "leaves the view; the run continues in plain lines"),
	}
	if stop {
		lines = append(lines, row("s", "stops the load now; what was measured is kept, as with Ctrl-C"))
	}
	return append(lines,
		row("rate", "requests that succeeded, per second"),
		row("p50, p99", "latency, from when a request was due, in the last window of 100 ms"),
		row("so far", "the measured span up to now, without the warm-up"),
		row("in flight", "requests sent or waiting for a connection"),
		row("lag p99", "how late the generator sends; above a few ms it is the limit"),
		row("service", "CPUs that the service uses, in the last second"),
		row("GC", "the part spent on garbage collection, over 10 s"),
		row("statements", "those that recently took most of the database's time"))
}
