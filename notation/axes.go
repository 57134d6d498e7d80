package notation

import (
	"strings"
	"unicode/utf8"
)

// Margin is the width that labels and the axis take to the left of a chart's rows.
func Margin(labels ...string) (cells int) {
	for _, label := range labels {
		cells = max(cells, utf8.RuneCountInString(label))
	}
	return cells + len(" | ")
}

// Axes draws a chart's rows, so many columns wide, between an axis at their left, whose top and bottom are labelled, and
// one below. Plain lines are ASCII, if the rows are.
func Axes(rows []string, columns int, top, bottom string, plain bool) []string {
	side, corner, floor := " │ ", "╰", "─"
	if plain {
		side, corner, floor = " | ", "+", "-"
		top, bottom = ASCII(top), ASCII(bottom)
	}
	margin := Margin(top, bottom)
	out := make([]string, 0, len(rows)+1)
	for i, row := range rows {
		label := ""
		switch i {
		case 0:
			label = top
		case len(rows) - 1:
			label = bottom
		}
		pad := strings.Repeat(" ", margin-Margin(label))
		out = append(out, strings.TrimRight(pad+label+side+row, " "))
	}
	return append(out, strings.Repeat(" ", margin-2)+corner+strings.Repeat(floor, columns+1))
}
