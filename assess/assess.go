// Package assess turns a bundle into findings, thresholds and a summary: it takes
// the requests of its traces apart, runs the analyzers, checks the thresholds, and
// writes anatomy.json, findings.json and summary.json next to the measurements.
//
// It needs only the bundle: assessing twice, or on another machine, gives the same
// result. It never changes the measurements.
package assess

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/anatomy/bands"
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/stacks"
	"github.com/redline-go/redline/scenario"
)

// Bundle assesses the bundle in dir, writes the outcome into it, and returns
// the record and its summary. The bundle of a killed run is judged by what it
// holds. If only writing fails (a full disk), the record and the summary are
// returned with the error.
func Bundle(dir string) (*record.Record, *record.Summary, error) {
	a, err := assessed(dir)
	if err != nil {
		return nil, nil, err
	}
	return a.rec, a.summary, a.write(dir)
}

// SoFar assesses the bundle of a running run by what it holds so far, and writes
// nothing.
func SoFar(dir string) (*record.Summary, error) {
	a, err := assessed(dir)
	if err != nil {
		return nil, err
	}
	return a.summary, nil
}

// assessment is a bundle and what was found in it.
type assessment struct {
	rec     *record.Record
	summary *record.Summary
	body    *breakdown.Anatomy // nil without a trace
	found   findings.Findings
}

// write writes the outcome into the bundle.
func (a *assessment) write(dir string) (err error) {
	for file, value := range map[string]any{
		breakdown.File: a.body, findings.File: a.found, record.SummaryFile: a.summary,
	} {
		if a.body == nil && file == breakdown.File {
			continue
		}
		err = errors.Join(err, disk.WriteJSON(dir, file, value))
	}
	return err
}

// disturbed is the part of the host's CPUs from which those who took it are named before any finding: without a third of the CPUs
// throughput is off by 1.5, beyond which a claimed gain does not count as right.
const disturbed = 1.0 / 3

func assessed(dir string) (*assessment, error) {
	rec, summary, err := opened(dir)
	if err != nil {
		return nil, err
	}
	return judged(rec, summary, dissect(rec, summary))
}

func opened(dir string) (*record.Record, *record.Summary, error) {
	rec, err := record.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	summary, err := measured(rec)
	return rec, summary, err
}

// judged adds to a summary what the record and its anatomy, nil without a trace, show.
func judged(rec *record.Record, summary *record.Summary, body *breakdown.Anatomy) (*assessment, error) {
	found, err := diagnose.Run(rec, body, guarded(suite.All()))
	if err != nil {
		return nil, fmt.Errorf("diagnose %s: %w", rec.Dir, err)
	}
	if body != nil {
		summary.Anatomy = body.Summary.Short() // anatomy.json has all of it
	}
	summary.Warnings = append(summary.Warnings, found.Unread...)
	summary.Findings, summary.NotJudged, summary.CPU = found.Findings, found.NotJudged, found.CPU
	noted(summary, found.Notes)
	summary.Load.Unexpected = summary.Load.ErrorKinds[record.UnexpectedStatus]
	summary.Warnings = append(summary.Warnings, unexpected(&summary.Load)...)
	summary.Ledger = found.Ledger
	summary.Thresholds = thresholds(rec, summary)
	return &assessment{rec, summary, body, found}, nil
}

// noted adds what an analyzer says of the measurement to a summary's warnings.
func noted(summary *record.Summary, notes []findings.Finding) {
	for _, note := range notes {
		text := note.Title + ". " + note.Remedy
		summary.Warnings = append(summary.Warnings, text)
		if note.Share >= disturbed {
			summary.Caution = text
		}
	}
}

// measured returns the summary's measured half: as the run wrote it, or derived
// from the record if the run was killed before it could.
func measured(rec *record.Record) (*record.Summary, error) {
	summary := &record.Summary{}
	err := rec.ReadJSON(record.SummaryFile, summary)
	// A run writes its steady span and its summary together, at its end; a
	// summary without the span is an earlier assessment of a killed run.
	if errors.Is(err, fs.ErrNotExist) || err == nil && rec.Run.Steady.Len() == 0 {
		summary, err = salvage(rec)
	}
	if err != nil {
		return nil, err
	}
	summary.Schema, summary.Run, summary.State = record.SummarySchema, rec.Dir, rec.Run.State
	summary.Target, summary.Sources = rec.Run.Target, rec.Run.Sources
	summary.Warnings = append([]string{}, rec.Run.Warnings...)
	if text := rec.ThinnedText(); text != "" {
		summary.Warnings = append(summary.Warnings, text)
	}
	if rec.Run.State == record.Aborted {
		summary.Warnings = append(summary.Warnings, "the run was aborted: "+rec.Run.Why)
	}
	return summary, nil
}

// dissect takes the requests of all traces of ordinary windows apart; nil without a trace. A trace
// that cannot be read is a warning, not an error: the rest still counts.
func dissect(rec *record.Record, summary *record.Summary) *breakdown.Anatomy {
	traces, warnings := inputs(rec)
	summary.Warnings = append(summary.Warnings, warnings...)
	if len(traces) == 0 {
		return nil
	}
	var names []string
	for _, s := range summary.Load.Steps {
		names = append(names, s.Name)
	}
	body, err := anatomy.Analyze(traces, anatomy.Options{Clock: rec.Run.Clock, Module: rec.Run.Target.Module, Names: names,
		Mean: meanRequest(rec), CPU: func() []bands.Ran { return ran(rec) }})
	if err != nil {
		summary.Warnings = append(summary.Warnings, fmt.Sprintf("no anatomy: %v", err))
		return nil
	}
	summary.Warnings = append(summary.Warnings, body.Warnings...)
	return body
}

// meanRequest returns the load's mean service time; 0 if it recorded none.
func meanRequest(rec *record.Record) time.Duration {
	h, err := rec.Histogram("", histogram.Service, rec.Judged())
	if err != nil || h.TotalCount() == 0 {
		return 0
	}
	return time.Duration(h.Mean())
}

// ran returns the run's CPU profile for the critical path; nil without one.
func ran(rec *record.Record) []bands.Ran {
	prof, err := stacks.CPU(rec)
	if err != nil {
		return nil // the analyzers say so
	}
	list := make([]bands.Ran, len(prof.Samples))
	for i, s := range prof.Samples {
		list[i] = bands.Ran{Stack: s.Stack, Value: s.Value}
	}
	return list
}

// thresholds checks the scenario's pass/fail expressions. A metric that is
// missing or cannot be trusted fails, and so does a plan that cannot be read.
func thresholds(rec *record.Record, s *record.Summary) []record.ThresholdResult {
	results := []record.ThresholdResult{}
	if len(rec.Run.Scenario) == 0 {
		return results
	}
	plan, err := scenario.ReadRecorded(rec.Run.Scenario)
	if err != nil { // it is unknown whether there were any, so nothing may pass
		return append(results, record.ThresholdResult{Expr: "unknown: " + err.Error()})
	}
	for _, t := range plan.Thresholds {
		ok, value := t.Check(func(name string) (float64, bool) { return metric(s, name) })
		bound := value != nil && lowerBound(s, t.Metric)
		if bound && strings.HasPrefix(t.Op, "<") {
			ok = false // the true figure exceeds the value by an unknown amount
		}
		results = append(results, record.ThresholdResult{Expr: t.Expr, OK: ok, Value: value, AtLeast: bound})
	}
	return results
}

// lowerBound reports whether only a lower bound of a metric is known, because it
// falls on requests that never ended.
func lowerBound(s *record.Summary, name string) bool {
	percentile, ok := map[string]float64{"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p99_9": 99.9, "max": 100, "mean": 100}[name]
	return ok && s.Load.Latency.Bound(percentile)
}

// metric returns a threshold's metric from the summary, in its base unit.
func metric(s *record.Summary, name string) (float64, bool) {
	l := s.Load
	if name == "requests" {
		return float64(l.Requests), true
	}
	if l.Requests == 0 {
		return 0, false
	}
	switch name {
	case "errors":
		return float64(l.Errors) / float64(l.Requests), true
	case "rate":
		return l.Rate, true
	}
	if l.Errors == l.Requests {
		return 0, false // there were no successes, so there is no latency
	}
	q := map[string]int64{
		"mean": l.Latency.Mean, "p50": l.Latency.P50, "p90": l.Latency.P90, "p95": l.Latency.P95,
		"p99": l.Latency.P99, "p99_9": l.Latency.P999, "max": l.Latency.Max,
	}
	value, ok := q[name]
	return float64(value), ok
}
