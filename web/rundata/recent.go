package rundata

import (
	"time"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// What a run's page draws, for the page of a run in progress.
type (
	// Chart is one chart, its lines in one unit.
	Chart = chart
	// Line is one line of a chart; without values it has no label either.
	Line = line
	// Values are written to JSON with the digits that a chart shows, null for NaN.
	Values = values
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

// HeatRow returns the row of a heat map in which a duration of so many ns lies, as Chart's heat has
// them: HeatPerDecade rows per power of ten.
func HeatRow(ns int64) int { return heatRow(ns) }

// HeatPerDecade is how many rows of a heat map a power of ten takes.
const HeatPerDecade = heatPerDecade
