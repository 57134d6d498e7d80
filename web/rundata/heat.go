package rundata

import (
	"cmp"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/timebase"
)

// heat is the density of latency over time: requests per cell of a grid whose
// rows are logarithmic and whose columns are the intervals of the latency log.
type heat struct {
	Edges Values `json:"edges"` // s: from, to of column 0, from, to of column 1...
	// A value v ns lies in row floor(log10(v) * PerDecade) - Row.
	PerDecade int `json:"per_decade"`
	Row       int `json:"row"`
	Rows      int `json:"rows"`
	// Cells holds column, row, requests; column, row, requests; ... for the
	// cells that are not empty.
	Cells Values `json:"cells"`
}

const heatColumns = 400

// HeatPerDecade is how many rows of a heat map a power of ten takes.
const HeatPerDecade = 12

// column is one column of a heat map in the making.
type column struct {
	span timebase.Span
	rows map[int]float64
}

// heatOf builds the heat map from the intervals of the latency log. An interval
// is never divided, because it does not say when in it a request ended; where
// there are more than heatColumns, neighbours are joined. It is nil when nothing
// was recorded.
func heatOf(rec *record.Record, span timebase.Span) (*heat, error) {
	byStart := map[time.Duration]*column{}
	for interval, err := range intervals(rec, histogram.Latency) {
		if err != nil {
			return nil, err
		}
		if interval.span.From >= span.To || interval.span.To <= span.From {
			continue
		}
		c := byStart[interval.span.From] // the steps of a mix log the same intervals
		if c == nil {
			c = &column{span: interval.span, rows: map[int]float64{}}
			byStart[interval.span.From] = c
		}
		c.span.To = max(c.span.To, interval.span.To)
		for bar := range interval.counts.Buckets() {
			c.rows[HeatRow(bar.To)] += float64(bar.Count)
		}
	}
	columns := slices.SortedFunc(maps.Values(byStart), func(a, b *column) int { return cmp.Compare(a.span.From, b.span.From) })
	return newHeat(join(columns, heatColumns)), nil
}

// HeatRow returns the row of a heat map in which a duration of so many ns lies: HeatPerDecade rows per power of ten.
func HeatRow(ns int64) int { return int(math.Floor(math.Log10(float64(max(ns, 1))) * HeatPerDecade)) }

// join brings columns down to limit by adding up neighbours.
func join(columns []*column, limit int) []*column {
	each := (len(columns) + limit - 1) / limit
	if each <= 1 {
		return columns
	}
	var out []*column
	for group := range slices.Chunk(columns, each) {
		first := group[0]
		for _, c := range group[1:] {
			first.span.To = max(first.span.To, c.span.To)
			for row, n := range c.rows {
				first.rows[row] += n
			}
		}
		out = append(out, first)
	}
	return out
}

// newHeat writes columns as the page reads them; nil when they are all empty.
func newHeat(columns []*column) *heat {
	low, high := math.MaxInt, math.MinInt
	for _, c := range columns {
		for row := range c.rows {
			low, high = min(low, row), max(high, row)
		}
	}
	if low > high {
		return nil
	}
	h := &heat{PerDecade: HeatPerDecade, Row: low, Rows: high - low + 1}
	for i, c := range columns {
		h.Edges = append(h.Edges, c.span.From.Seconds(), c.span.To.Seconds())
		for _, row := range slices.Sorted(maps.Keys(c.rows)) {
			h.Cells = append(h.Cells, float64(i), float64(row-low), c.rows[row])
		}
	}
	return h
}

// Spectrum is the percentile curve of one kind of latency.
type Spectrum struct {
	Kind   histogram.Kind `json:"kind"`
	Tail   Values         `json:"tail"` // 1/(1-q), the x axis of HdrHistogram's plots
	Values Values         `json:"values"`
}

// Spectra returns the spectra of the span that is judged.
func Spectra(rec *record.Record) ([]Spectrum, error) { return spectra(rec, rec.Judged()) }

// spectra returns the curves of latency and service time. A curve ends where
// less than one request lies beyond.
func spectra(rec *record.Record, span timebase.Span) ([]Spectrum, error) {
	out := []Spectrum{}
	for _, kind := range []histogram.Kind{histogram.Latency, histogram.Service} {
		h, err := rec.Histogram("", kind, span)
		if err != nil {
			return out, err
		}
		n := float64(h.TotalCount())
		if n == 0 {
			continue
		}
		out = append(out, SpectrumOf(kind, n, func(q float64) float64 { return float64(h.ValueAtQuantile(100 * q)) }))
	}
	return out, nil
}

// SpectrumOf returns the curve of n requests, given the quantile q of their latencies in ns.
func SpectrumOf(kind histogram.Kind, n float64, quantile func(q float64) float64) Spectrum {
	s := Spectrum{Kind: kind}
	for tail := 1.0; tail < n; tail *= math.Pow(10, 1.0/16) {
		s.Tail, s.Values = append(s.Tail, tail), append(s.Values, quantile(1-1/tail))
	}
	s.Tail, s.Values = append(s.Tail, n), append(s.Values, quantile(1))
	return s
}

type interval struct {
	span   timebase.Span
	counts *histogram.Counts
}

// intervals iterates over the log's intervals of a kind, and ends with the
// error that stopped it, if any.
func intervals(rec *record.Record, kind histogram.Kind) iter.Seq2[interval, error] {
	return func(yield func(interval, error) bool) {
		stopped := false
		err := rec.Intervals(kind, func(_ string, s timebase.Span, c *histogram.Counts) bool {
			stopped = !yield(interval{s, c}, nil)
			return !stopped
		})
		if err != nil && !stopped && !errors.Is(err, fs.ErrNotExist) {
			yield(interval{}, err)
		}
	}
}
