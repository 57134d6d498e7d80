package history

import (
	"math"
	"strings"

	"github.com/redline-go/redline/notation"
)

// plotRows is the height of a chart in cells.
const plotRows = 5

// grid is a chart's drawing area in dots.
type grid struct {
	plain          bool // a dot is a cell, for terminals without braille patterns
	columns, lines int  // in dots
	dots           map[[2]int]bool
}

func newGrid(cells int, plain bool) grid {
	g := grid{plain: plain, columns: cells, lines: plotRows, dots: map[[2]int]bool{}}
	if !plain {
		g.columns, g.lines = 2*cells, 4*plotRows
	}
	return g
}

// cell returns the cell in which a column of dots lies.
func (g grid) cell(column int) int {
	if g.plain {
		return column
	}
	return column / 2
}

// brailleDots are the bits of the dots in a cell, by column and line (Unicode
// block Braille Patterns).
var brailleDots = [2][4]rune{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// rows draws the grid, from the top.
func (g grid) rows() []string {
	out := make([]string, plotRows)
	for row := range out {
		var b strings.Builder
		for cell := range g.cell(g.columns-1) + 1 {
			if g.plain {
				b.WriteByte(" *"[btoi(g.dots[[2]int{cell, row}])])
				continue
			}
			pattern := rune(0)
			for x, column := range brailleDots {
				for y, bit := range column {
					if g.dots[[2]int{2*cell + x, 4*row + y}] {
						pattern |= bit
					}
				}
			}
			if pattern == 0 {
				b.WriteByte(' ')
			} else {
				b.WriteRune(0x2800 + pattern)
			}
		}
		out[row] = strings.TrimRight(b.String(), " ")
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// widest is how many cells a point gets where there is room.
const widest = 2

// indent is before all that stands below a series' title.
const indent = "  "

// chart draws a series' points, the newest that fit into width cells, with a
// letter below each change and the first and last commit.
func chart(s Series, width int, plain bool) []string {
	low, high := span(s.Points)
	top, bottom := notation.Quantity(high, s.Unit), notation.Quantity(low, s.Unit)
	margin := len(indent) + notation.Margin(top, bottom)
	cells := max(16, width-margin)
	g := newGrid(cells, plain)
	step := min(max(1, g.columns/len(s.Points)), widest*g.columns/cells)
	first := max(0, len(s.Points)-g.columns/step)
	g.columns = (len(s.Points)-1-first)*step + 1

	column := func(point int) int { return (point - first) * step }
	for i := first; i < len(s.Points); i++ {
		level := 0.5
		if high > low {
			level = (s.Points[i].Value - low) / (high - low)
		}
		g.dots[[2]int{column(i), int(math.Round((1 - level) * float64(g.lines-1)))}] = true
	}
	drawn := g.cell(g.columns-1) + 1
	if high == low {
		top = ""
	}
	below := strings.Repeat(" ", margin)
	var out []string
	for _, line := range notation.Axes(g.rows(), drawn, top, bottom, plain) {
		out = append(out, indent+line)
	}
	if marks := marks(s, first, func(point int) int { return g.cell(column(point)) }); marks != "" {
		out = append(out, below+marks)
	}
	return append(out, below+ends(s.Points[first], s.Points[len(s.Points)-1], drawn))
}

func span(points []Point) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	return low, high
}

// letters name a series' changes below its chart and in the list of them.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

func letter(i int) string {
	if i < len(letters) {
		return letters[i : i+1]
	}
	return "+"
}

// marks is the line of letters; columns before the first point have none.
func marks(s Series, first int, cell func(point int) int) string {
	var line []byte
	for i, c := range s.Changes {
		if c.At < first {
			continue
		}
		for len(line) <= cell(c.At) {
			line = append(line, ' ')
		}
		line[cell(c.At)] = letter(i)[0]
	}
	return string(line)
}

// ends names the first and the last point.
func ends(first, last Point, cells int) string {
	a, b := name(first), name(last)
	if gap := cells - len(a) - len(b); gap > 0 {
		return a + strings.Repeat(" ", gap) + b
	}
	return a + " .. " + b
}

// name is a point's commit, shortened; or its time without a commit.
func name(p Point) string {
	if p.Commit.Hash == "" {
		return p.Time.UTC().Format("2006-01-02T15:04")
	}
	short := notation.Clean(p.Commit.Hash[:min(8, len(p.Commit.Hash))])
	if p.Commit.Dirty {
		short += "+"
	}
	return short
}
