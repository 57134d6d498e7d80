package report

import (
	"strings"

	"github.com/charmbracelet/x/ansi" // display width of text, wide runes and colours counted right
)

// wrap breaks text into lines of at most width cells, at spaces where it can.
// More than limit lines (0 is no limit) are cut, the last one as full as it can
// be and ending in "...".
func wrap(text string, width, limit int) []string {
	if text == "" {
		return nil
	}
	width = max(width, 16)
	// Subtle: ansi.Wrap breaks at each hyphen, so that the name of a cause or a flag would end in the
	// middle. It takes the non-breaking one for a letter of the same width.
	text = strings.ReplaceAll(text, "-", nonBreaking)
	lines := strings.Split(strings.ReplaceAll(ansi.Wrap(text, width, ""), nonBreaking, "-"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if limit > 0 && len(lines) > limit {
		lines[limit-1] = fit(strings.Join(lines[limit-1:], " "), width)
		lines = lines[:limit]
	}
	return lines
}

const nonBreaking = "\u2011" // a hyphen

// fit cuts text to width cells, ending in "..." when something was cut: between
// words, unless the last one alone takes a third of the room, and before a parenthesis
// that would stay open, unless that takes half of it.
func fit(text string, width int) string {
	width = max(width, 4)
	if ansi.StringWidth(text) <= width {
		return text
	}
	kept := ansi.Truncate(text, width-4, "")
	if i := strings.LastIndexByte(kept, ' '); i > len(kept)*2/3 && text[len(kept)] != ' ' {
		kept = kept[:i]
	}
	if i := strings.LastIndex(kept, " ("); i > len(kept)/2 && !strings.Contains(kept[i:], ")") {
		kept = kept[:i]
	}
	return strings.TrimRight(kept, " ,;:") + " ..."
}

// left and right pad text to width cells; longer text stays as it is.
func left(text string, width int) string  { return text + spaces(width-ansi.StringWidth(text)) }
func right(text string, width int) string { return spaces(width-ansi.StringWidth(text)) + text }

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// table aligns rows in columns two spaces apart. Columns named in numeric are
// right-aligned; the last column is never padded.
func table(rows [][]string, numeric ...int) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	isNumeric := make(map[int]bool, len(numeric))
	for _, i := range numeric {
		isNumeric[i] = true
	}
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString("  ")
			}
			if isNumeric[i] {
				b.WriteString(right(cell, widths[i]))
			} else {
				b.WriteString(left(cell, widths[i]))
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// paint adds colours, or does nothing when its value is false.
type paint bool

func (p paint) sgr(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string  { return p.sgr("1", s) }
func (p paint) dim(s string) string   { return p.sgr("2", s) }
func (p paint) red(s string) string   { return p.sgr("1;31", s) }
func (p paint) green(s string) string { return p.sgr("32", s) }
func (p paint) amber(s string) string { return p.sgr("33", s) }
