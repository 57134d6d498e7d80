package forecast

import (
	"cmp"
	"math"
	"strings"

	"github.com/redline-go/redline/notation"
)

// chartRows is the height of a chart.
const chartRows = 12

// mark is what a cell of the chart shows; later ones cover earlier ones.
type mark int

const (
	nothing mark = iota
	interval
	limitLine
	pastRange
	middleLine
)

var (
	drawn = map[mark]string{nothing: " ", interval: "░", limitLine: "─", pastRange: "█", middleLine: "●"}
	ascii = map[mark]string{nothing: " ", interval: ":", limitLine: "-", pastRange: "#", middleLine: "o"}
)

// chart draws the history as the range of values per column, then the forecast's median in
// its interval, and the limit as a line.
func chart(a *Answer, o TextOptions) []string {
	symbols := drawn
	if o.Plain {
		symbols = ascii
	}
	low, high := a.extent()
	top, bottom := a.amount(high), a.amount(low)
	margin := notation.Margin(top, bottom)
	columns := max(20, cmp.Or(o.Width, 80)-margin-1)
	cells := a.cells(columns, func(v float64) int {
		return min(chartRows-1, max(0, int(math.Round((high-v)/(high-low)*float64(chartRows-1)))))
	})
	rows := make([]string, chartRows)
	for i, marks := range cells {
		for _, m := range marks {
			rows[i] += symbols[m]
		}
	}
	out := notation.Axes(rows, columns, top, bottom, o.Plain)
	now := a.column(len(a.History), columns)
	begin, from, end := a.Start.UTC().Format("2006-01-02"), a.From.UTC().Format("2006-01-02"), a.date(&a.From,
		len(a.Middle)-1)
	axis := begin
	if pad := now - len(axis); pad > 0 {
		axis += strings.Repeat(" ", pad) + from
	}
	if pad := columns - len(axis) - len(end); pad > 0 {
		axis += strings.Repeat(" ", pad) + end
	}
	return append(out, strings.Repeat(" ", margin)+axis)
}

// extent is the range of all values that the chart shows.
func (a *Answer) extent() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	take := func(v float64) { low, high = min(low, v), max(high, v) }
	for _, v := range a.History {
		if v != nil {
			take(*v)
		}
	}
	for i := range a.Low {
		take(a.Low[i])
		take(a.High[i])
	}
	// A limit far away would flatten the rest.
	if a.Reach != nil && a.Reach.Limit < high+2*(high-low) {
		take(a.Reach.Limit)
	}
	if high == low {
		high, low = high+1, low-1
	}
	return low, high
}

// column returns the column of a step of history or forecast.
func (a *Answer) column(step, columns int) int {
	return step * columns / (len(a.History) + len(a.Middle))
}

func (a *Answer) cells(columns int, row func(float64) int) [chartRows][]mark {
	var out [chartRows][]mark
	for i := range out {
		out[i] = make([]mark, columns)
	}
	put := func(column, from, to int, m mark) {
		for i := min(from, to); i <= max(from, to); i++ {
			out[i][column] = max(out[i][column], m)
		}
	}
	if a.Reach != nil {
		low, high := a.extent()
		if a.Reach.Limit >= low && a.Reach.Limit <= high {
			for column := range columns {
				put(column, row(a.Reach.Limit), row(a.Reach.Limit), limitLine)
			}
		}
	}
	for i, v := range a.History {
		if v != nil {
			put(a.column(i, columns), row(*v), row(*v), pastRange)
		}
	}
	for i := range a.Middle {
		column := a.column(len(a.History)+i, columns)
		put(column, row(a.Low[i]), row(a.High[i]), interval)
		put(column, row(a.Middle[i]), row(a.Middle[i]), middleLine)
	}
	return out
}
