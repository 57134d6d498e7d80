package report

import (
	"errors"
	"io/fs"
	"iter"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go" // the record's histograms
	"github.com/redline-go/redline/record"
)

// heat is the density of latency over time: requests per cell of a grid whose
// rows are logarithmic.
type heat struct {
	From float64 `json:"from"` // s, left edge of column 0
	Step float64 `json:"step"` // s, width of a column
	// A value v ns lies in row floor(log10(v) * PerDecade) - Row.
	PerDecade int `json:"per_decade"`
	Row       int `json:"row"`
	Rows      int `json:"rows"`
	Columns   int `json:"columns"`
	// Cells holds column, row, requests; column, row, requests; ... for the
	// cells that are not empty.
	Cells values `json:"cells"`
}

const (
	heatColumns   = 400
	heatPerDecade = 12
)

// heatOf builds the heat map from the intervals of the latency log. An interval
// longer than a column is spread over the columns it touches, which blurs time
// but keeps counts. It is nil when nothing was recorded.
func heatOf(rec *record.Record, span record.Span) (*heat, error) {
	columns := min(heatColumns, int(span.Len()/max(rec.Run.Window, time.Millisecond)))
	if columns < 1 {
		return nil, nil
	}
	step := (span.Len() + time.Duration(columns) - 1) / time.Duration(columns)
	type cell struct{ column, row int }
	cells := map[cell]float64{}
	low, high := math.MaxInt, math.MinInt
	for interval, err := range intervals(rec, record.Latency) {
		if err != nil {
			return nil, err
		}
		for _, bar := range interval.h.Distribution() {
			if bar.Count == 0 {
				continue
			}
			row := int(math.Floor(math.Log10(float64(max(bar.To, 1))) * heatPerDecade))
			low, high = min(low, row), max(high, row)
			s := record.Span{From: interval.span.From - span.From, To: interval.span.To - span.From}
			record.Split(s, step, float64(bar.Count), func(column int64, part float64) {
				if column >= 0 && column < int64(columns) {
					cells[cell{int(column), row}] += part
				}
			})
		}
	}
	if len(cells) == 0 {
		return nil, nil
	}
	h := &heat{From: span.From.Seconds(), Step: step.Seconds(), PerDecade: heatPerDecade, Row: low, Rows: high - low + 1, Columns: columns}
	for column := range columns {
		for row := low; row <= high; row++ {
			if n := cells[cell{column, row}]; n > 0 {
				h.Cells = append(h.Cells, float64(column), float64(row-low), n)
			}
		}
	}
	return h, nil
}

// spectrum is the percentile curve of one kind of latency.
type spectrum struct {
	Kind   record.Kind `json:"kind"`
	Tail   values      `json:"tail"` // 1/(1-q), the x axis of HdrHistogram's plots
	Values values      `json:"values"`
}

// spectra returns the curves of latency and service time. A curve ends where
// less than one request lies beyond.
func spectra(rec *record.Record, span record.Span) ([]spectrum, error) {
	out := []spectrum{}
	for _, kind := range []record.Kind{record.Latency, record.Service} {
		h, err := rec.Histogram("", kind, span)
		if err != nil {
			return out, err
		}
		n := float64(h.TotalCount())
		if n == 0 {
			continue
		}
		s := spectrum{Kind: kind}
		for tail := 1.0; tail <= n*1.0001; tail *= math.Pow(10, 1.0/16) {
			s.Tail = append(s.Tail, tail)
			s.Values = append(s.Values, float64(h.ValueAtQuantile(100*(1-1/tail))))
		}
		s.Tail, s.Values = append(s.Tail, n), append(s.Values, float64(h.Max()))
		out = append(out, s)
	}
	return out, nil
}

type interval struct {
	span record.Span
	h    *hdrhistogram.Histogram
}

// intervals iterates over the log's intervals of a kind, and ends with the
// error that stopped it, if any.
func intervals(rec *record.Record, kind record.Kind) iter.Seq2[interval, error] {
	return func(yield func(interval, error) bool) {
		stopped := false
		err := rec.Intervals(kind, func(_ string, s record.Span, h *hdrhistogram.Histogram) bool {
			stopped = !yield(interval{s, h}, nil)
			return !stopped
		})
		if err != nil && !stopped && !errors.Is(err, fs.ErrNotExist) {
			yield(interval{}, err)
		}
	}
}
