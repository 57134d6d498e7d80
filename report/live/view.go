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
	amber = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
)

// labelWidth is the width of the first column, figureWidth of the second.
const (
	labelWidth  = 11
	figureWidth = 10
)

// frame is what one drawing is made of.
type frame struct {
	snapshot
	title         string
	width, height int  // of the room; a height of 0 is unknown
	keys, stop    bool // whether keys are read, and one of them stops the load
	paused, help  bool
}

// block is a part of the view. Where room is short, those of the highest rank are left out.
type block struct {
	rank  int
	lines []string
}

// draw lays a frame out in at most width cells per line and height lines. It is a pure
// function, so that it is tested without a terminal. Every line is cut, never
// wrapped: a wrapped line would shift all below it when the view redraws.
func draw(f frame) string {
	f.width = max(f.width, 20)
	blocks := []block{{0, []string{f.head()}}}
	if bar := f.progress(); bar != "" {
		blocks = append(blocks, block{0, []string{bar}})
	}
	if f.last.Done > 0 {
		blocks = append(blocks, f.answer()...)
		if f.help {
			blocks = append(blocks, block{lowestRank, []string{""}}, block{1, helpText(f.stop)})
		} else {
			blocks = append(blocks, f.figures()...)
			blocks = append(blocks, f.percentiles(), f.cpu(), f.collector())
			blocks = append(blocks, f.queries())
		}
	}
	if f.keys {
		blocks = append(blocks, block{lowestRank, []string{""}}, block{2, []string{keyLine(f)}})
	}
	lines := fit(blocks, f.height)
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], f.width, "…")
	}
	return strings.Join(lines, "\n")
}

// lowestRank is that of empty lines.
const lowestRank = 9

// fit takes blocks by their rank as long as there is room; 0 is no bound.
func fit(blocks []block, height int) []string {
	taken, used := make([]bool, len(blocks)), 0
	for rank := range lowestRank + 1 {
		for i, b := range blocks {
			if b.rank == rank && (height <= 0 || used+len(b.lines) <= height) {
				taken[i], used = true, used+len(b.lines)
			}
		}
	}
	var lines []string
	for i, b := range blocks {
		if taken[i] {
			lines = append(lines, b.lines...)
		}
	}
	return lines
}

func (f frame) head() string {
	text := bold.Render("redline")
	if f.last.Phase != "" {
		text += "  " + blue.Render(notation.Clean(f.last.Phase))
	}
	if f.paused {
		text += "  " + amber.Render("view paused; the run continues")
	}
	if f.title != "" {
		text += "  " + dim.Render(notation.Clean(f.title))
	}
	return text
}

func row(label, text string) string {
	return dim.Render(label+strings.Repeat(" ", max(labelWidth-len(label), 1))) + text
}

// progress draws the bar and the time that is left, or "" without a total.
func (f frame) progress() string {
	e := f.last
	if e.Total <= 0 {
		return ""
	}
	// Seconds that have begun are left, so that the last one does not read "0 s left"; those done are the others.
	total, left := math.Round(e.Total.Seconds()), math.Ceil(max(e.Total-e.Done, 0).Seconds())
	text := fmt.Sprintf("%.0f of %.0f s, %.0f s left", max(total-left, 0), total, left)
	cells := f.width - len(text) - 2
	if cells < 5 {
		return text
	}
	full := min(cells, int(float64(cells)*float64(e.Done)/float64(e.Total)))
	return green.Render(strings.Repeat("━", full)) + dim.Render(strings.Repeat("─", cells-full)) + "  " + text
}

// answer is the first finding of the last judgement.
func (f frame) answer() []block {
	if f.soFar == nil {
		return nil
	}
	label := "at " + notation.Duration(int64(f.soFar.At.Round(time.Second)))
	if f.soFar.Title == "" {
		return []block{{lowestRank, []string{""}}, {2, []string{row(label, "nothing found so far")}}}
	}
	room := max(f.width-labelWidth, 8)
	title := strings.Split(ansi.Wrap(notation.Clean(f.soFar.Title), room, ""), "\n")
	blocks := []block{{lowestRank, []string{""}}, {2, []string{row(label, bold.Render(title[0]))}}}
	for _, l := range title[1:min(len(title), 3)] {
		blocks = append(blocks, block{3, []string{row("", bold.Render(l))}})
	}
	worth, place := notation.Clean(f.soFar.Worth), notation.Clean(f.soFar.Place)
	if both := strings.Join(nonempty(worth, place), "  "); ansi.StringWidth(both) <= room {
		worth, place = both, ""
	}
	label = "so far"
	for _, text := range nonempty(worth, place) {
		blocks = append(blocks, block{3, []string{row(label, text)}})
		label = ""
	}
	return blocks
}

func nonempty(texts ...string) []string {
	var kept []string
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return kept
}

// figures are the rows with a sparkline each.
func (f frame) figures() []block {
	e := f.last
	blocks := []block{{lowestRank, []string{""}},
		{1, []string{f.spark("rate", bold.Render(figure(notation.Rate(e.Rate)+"/s")), f.load.values(figureRate), blue)}}}
	if e.Max > 0 {
		blocks = append(blocks,
			block{4, []string{f.spark("p50", figure(notation.Duration(int64(e.P50))), f.load.values(figureP50), blue)}},
			block{1, []string{f.spark("p99", figure(notation.Duration(int64(e.P99))), f.load.values(figureP99), blue)}})
	} else {
		blocks = append(blocks, block{1, []string{row("latency", dim.Render(figure("no answer")))}})
	}
	blocks = append(blocks, block{1, []string{f.failures()}},
		block{4, []string{row("in flight", figure(notation.Count(e.InFlight)))}},
		block{3, []string{f.spark("lag p99", figure(notation.Duration(int64(e.LagP99))), f.load.values(figureLag), blue)}})
	if v, ok := f.service.now(figureService); ok {
		used, _ := f.service.whole(figureService)
		blocks = append(blocks, block{3, []string{f.spark("service", figure(notation.Figure(v)+" CPUs"), used, blue)}})
	}
	if v, ok := f.service.now(figureCycles); ok {
		all, _ := f.service.whole(figureCycles)
		blocks = append(blocks, block{5, []string{f.spark("GC cycles", figure(notation.Rate(v)+"/s"), all, blue)}})
	}
	if all := f.service.values(figureGoroutines); len(all) > 0 {
		text := figure(notation.Count(int64(all[len(all)-1])))
		blocks = append(blocks, block{5, []string{f.spark("goroutines", text, all, blue)}})
	}
	if all, most := f.service.values(figurePool), f.service.values(figurePoolMax); len(all) > 0 && len(most) > 0 {
		text := figure(fmt.Sprintf("%s of %s", notation.Whole(all[len(all)-1]), notation.Whole(most[len(most)-1])))
		blocks = append(blocks, block{5, []string{f.spark("pool used", text, all, blue)}})
	}
	if all, ok := f.service.whole(figureRetransmit); ok && f.service.over(figureRetransmit, historyLength) > 0 {
		text := figure(notation.Rate(all[len(all)-1]) + "/s")
		blocks = append(blocks, block{6, []string{f.spark("retransmits", text, all, red)}})
	}
	return blocks
}

func figure(text string) string {
	return strings.Repeat(" ", max(figureWidth-ansi.StringWidth(text), 0)) + text
}

// spark is a row with a figure and how it went.
func (f frame) spark(label, text string, values []float64, style lipgloss.Style) string {
	cells := f.width - labelWidth - ansi.StringWidth(text) - 2
	return row(label, text+"  "+style.Render(sparkline(f.spread(values, cells), cells)))
}

// spread repeats values, so that the whole run takes the cells that there are.
func (f frame) spread(values []float64, cells int) []float64 {
	seconds := max(int(math.Ceil(f.last.Total.Seconds())), len(values), 1)
	times := cells / seconds
	if times <= 1 {
		return values
	}
	wide := make([]float64, 0, len(values)*times)
	for _, v := range values {
		for range times {
			wide = append(wide, v)
		}
	}
	return wide
}

func (f frame) failures() string {
	e := f.last
	text := figure(notation.Count(e.Errors))
	of := dim.Render(" of " + notation.Count(e.Requests) + " requests")
	if e.Errors == 0 {
		return row("errors", text+of)
	}
	share := 1.0
	if e.Requests > 0 {
		share = float64(e.Errors) / float64(e.Requests)
	}
	text = red.Render(text) + of + " " + red.Render("("+notation.Percent(share)+")")
	cells := f.width - labelWidth - ansi.StringWidth(text) - 2
	return row("errors", text+"  "+red.Render(sparkline(f.spread(f.load.values(figureErrors), cells), cells)))
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
