package rundata

import (
	"time"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Recent is a stretch of a run in progress.
type Recent struct {
	Windows
	Span  timebase.Span
	Width time.Duration     // of a window
	Texts map[string]string // of statements, by query id
	// Amount ranks the labels of a series, of which the largest are drawn apart.
	Amount func(name, labels string) float64
}

// Charts returns the charts that a run's page has, over the stretch, with one value per window. All
// are there, always in the same order; lines without a value in the stretch are empty, and each keeps its
// place, except in the charts whose lines are ranked.
func (r Recent) Charts() []Chart {
	b := &chartBuilder{rec: r.Windows, amount: r.Amount, span: r.Span, width: r.Width, group: 1, used: map[series.Series]bool{}}
	return b.charts(r.Texts)
}

// Ranked reports whether the lines of a chart are the largest of many, which change as a run continues.
func Ranked(chart string) bool {
	return chart == "statements" || chart == "backends" || chart == "waits"
}
