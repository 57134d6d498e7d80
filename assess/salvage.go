package assess

import (
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// unknownValidity warns of figures that may be the generator's.
const unknownValidity = "the run was killed before the generator checked its figures, so its validity is unknown"

// salvage derives the measured half of a summary from windows and histograms if the
// run was killed before it could write one. The steady span is then the planned
// one, as far as windows reach.
func salvage(rec *record.Record) (*record.Summary, error) {
	plan, err := scenario.ReadRecorded(rec.Run.Scenario)
	if err != nil {
		return nil, err
	}
	// It is unknown whether the generator was the limit: neither valid nor invalid.
	s := &record.Summary{Generator: record.Generator{Validity: record.ValidityUnknown, WhyInvalid: []string{}}}
	rec.Run.Warnings = append(rec.Run.Warnings, unknownValidity)
	span := steady(rec, plan.Load)
	rec.Run.Steady = span
	l := &s.Load
	l.Model, l.Connections, l.IntendedRate = "closed", plan.Load.Connections, plan.Load.Rate
	if plan.Load.Open() {
		l.Model = "open"
	}
	l.Duration = int64(span.Len())
	l.Requests = total(rec, series.LoadRequests, span)
	l.Status, l.ErrorKinds = map[string]int64{}, map[string]int64{}
	for _, labels := range rec.Labels(series.LoadErrors) {
		count, _ := rec.Series(series.LoadErrors, labels, span).Sum()
		l.ErrorKinds[series.Label(labels, "kind")] += int64(count)
		l.Errors += int64(count)
	}
	l.Rate = series.PerSecond(float64(l.Requests-l.Errors), span.Len())
	for kind, into := range map[histogram.Kind]*histogram.Quantiles{
		histogram.Latency: &l.Latency, histogram.Service: &l.Service, histogram.FirstByte: &l.FirstByte,
		histogram.Lag: &l.Lag, histogram.ErrorLatency: &l.ErrorLatency,
	} {
		h, err := rec.Histogram("", kind, span)
		if err != nil {
			return nil, err
		}
		*into = histogram.QuantilesOf(h)
	}
	l.BytesIn, l.BytesOut = total(rec, series.LoadBytesIn, span), total(rec, series.LoadBytesOut, span)
	return s, nil
}

// steady is the span that figures cover: the recorded one, or else from the first
// window with requests plus the warm-up to the last window.
func steady(rec *record.Record, l scenario.Load) timebase.Span {
	if rec.Run.Steady.Len() > 0 {
		return rec.Run.Steady
	}
	from, to := rec.Windows()
	all := timebase.Span{From: time.Duration(from) * rec.Run.Window, To: time.Duration(to) * rec.Run.Window}
	line := rec.Series(series.LoadRequests, "", all)
	for i, v := range line.Values {
		if v > 0 {
			begin := line.Span(i).From + l.Warmup
			return timebase.Span{From: min(begin, all.To), To: all.To}
		}
	}
	return timebase.Span{}
}

func total(rec *record.Record, name string, s timebase.Span) int64 {
	var sum float64
	for _, labels := range rec.Labels(name) {
		part, _ := rec.Series(name, labels, s).Sum()
		sum += part
	}
	return int64(sum)
}
