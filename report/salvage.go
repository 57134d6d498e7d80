package report

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report/notation"
)

// undiagnosed stands for all causes where none was looked for.
const undiagnosed = "every cause"

// SummaryOf returns the summary of a bundle. A bundle whose run was killed has
// none; then it is made from what is there: run.json, the series and the
// histograms. The second result says what could not be read.
func SummaryOf(rec *record.Record) (*record.Summary, []string) {
	var s record.Summary
	err := rec.ReadJSON(record.SummaryFile, &s)
	if err == nil {
		if s.Run == "" {
			s.Run = rec.Dir
		}
		return &s, nil
	}
	missing := []string{"summary.json: the run did not get so far; figures are of all that was recorded"}
	if !errors.Is(err, fs.ErrNotExist) {
		missing[0] = notation.Clean("summary.json: " + err.Error())
	}
	s = record.Summary{Schema: record.SummarySchema, Run: rec.Dir, State: rec.Run.State, Target: rec.Run.Target,
		Sources: rec.Run.Sources, Warnings: slices.Clone(rec.Run.Warnings)}
	// Whether the generator was the limit is not known; it is not called
	// invalid for that, and the missing list says that nobody judged it.
	s.Generator.Valid = true
	if rec.Run.Why != "" {
		s.Warnings = append([]string{"the run was aborted: " + rec.Run.Why}, s.Warnings...)
	}
	var f record.Findings
	if err := rec.ReadJSON(record.FindingsFile, &f); err == nil {
		s.Findings, s.NotJudged = f.Findings, f.NotJudged
	} else {
		s.NotJudged = []record.NotJudged{{Cause: undiagnosed, Why: "the run ended before it was diagnosed"}}
	}
	whole, _, err := wholeSpan(rec)
	if err != nil {
		return &s, append(missing, notation.Clean("windows.parquet: "+err.Error()))
	}
	salvageLoad(rec, spanOf(rec, whole), &s.Load)
	return &s, missing
}

// salvageLoad computes the load half of a summary from series and histograms.
func salvageLoad(rec *record.Record, span record.Span, l *record.LoadSummary) {
	total := func(name string) int64 {
		sum := 0.0
		for _, labels := range rec.Labels(name) {
			part, _ := record.Sum(rec.Series(name, labels, span))
			sum += part
		}
		return int64(sum)
	}
	l.Duration = int64(span.Len())
	l.Requests, l.Errors = total(record.LoadRequests), total(record.LoadErrors)
	l.Rate = record.PerSecond(float64(l.Requests-l.Errors), span.Len())
	l.BytesIn, l.BytesOut = total(record.LoadBytesIn), total(record.LoadBytesOut)
	l.ErrorKinds = map[string]int64{}
	for _, labels := range rec.Labels(record.LoadErrors) {
		if n, _ := record.Sum(rec.Series(record.LoadErrors, labels, span)); n > 0 {
			l.ErrorKinds[cmp.Or(record.Label(labels, "kind"), "unknown")] += int64(n)
		}
	}
	for kind, to := range map[record.Kind]*record.Quantiles{
		record.Latency: &l.Latency, record.Service: &l.Service, record.FirstByte: &l.FirstByte,
		record.Lag: &l.Lag, record.ErrorLatency: &l.ErrorLatency,
	} {
		if h, err := rec.Histogram("", kind, span); err == nil {
			*to = record.QuantilesOf(h)
		}
	}
}

func sortByTime(s []record.Statement) {
	slices.SortStableFunc(s, func(a, b record.Statement) int { return cmp.Compare(b.Time, a.Time) })
}
