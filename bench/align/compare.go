//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// view is one source's account of one event.
type view struct {
	// Seen is false when the source shows nothing of it.
	Seen bool `json:"seen"`
	// Same means that it is in the event's own window.
	Same bool `json:"same"`
	// Off is how far the event lies outside the span in which the source put it. For
	// a view with instants (load, traces) that is the distance between its
	// instants and the service's own; for a counter, which has windows, that
	// of the event from the window that got the most of it.
	Off time.Duration `json:"off_ns"`
	// Stated is the error of date that the source itself states, p99.
	Stated time.Duration `json:"stated_ns"`
	// Partly lists the data that the source reports missing, such as readings that a
	// database too busy to answer in time made rarer.
	Partly string `json:"partly,omitempty"`
	// Parts are the shares of a counted event in its own window, the one before and
	// the one after; 1 is all of it.
	Parts [3]float64 `json:"parts"`
}

// trial is one event as all sources saw it.
type trial struct {
	// Phase is where in its window it begins.
	Phase time.Duration `json:"phase_ns"`
	// Edge is its distance from the nearest edge between windows; zero across one.
	Edge   time.Duration   `json:"edge_ns"`
	Across bool            `json:"across"` // it lies on both sides of an edge
	Traced bool            `json:"traced"` // a trace was being taken all the time
	Views  map[string]view `json:"views"`
}

// The views, in the order of the table.
var views = []string{"load", "runtime", "traces", "events", "postgres"}

// counted are the views that count: the series, the amount that one event adds, and
// when by the service's own clock.
var counted = []struct {
	view, series, labels string
	adds                 float64
	when                 func(mark) instants
}{
	{"runtime", "/gc/heap/allocs-by-size:bytes", "size=more", blocks, func(m mark) instants { return m.Allocate }},
	{"events", series.TCPOpens, "dir=out", 1, func(m mark) instants { return m.Connect }},
	{"postgres", series.StatementCalls, "*", 1, func(m mark) instants { return m.Query }},
}

// compare assesses the events of a run by its bundle.
func compare(rec *record.Record, clock timebase.Clock, marks []mark, health []record.SourceHealth) ([]trial, error) {
	slow, err := rec.SlowRequests()
	if err != nil {
		return nil, err
	}
	traced, covered, err := requests(rec, clock)
	if err != nil {
		return nil, err
	}
	sources := map[string]record.SourceHealth{}
	for _, h := range health {
		sources[h.Name] = h
	}
	var all []trial
	for _, m := range marks {
		event := span(clock, m.Whole)
		t := trial{Phase: event.From % width, Edge: fromEdge(event), Across: timebase.Window(event.From,
			width) != timebase.Window(event.To, width), Views: map[string]view{}}
		for _, c := range covered {
			t.Traced = t.Traced || c.From+width < event.From && event.To+width < c.To
		}
		sent, found := sentOf(slow, event)
		if found {
			t.Views["load"] = view{Seen: true, Off: outside(event, sent),
				Same: timebase.Window(sent.To, width) == timebase.Window(event.To, width)}
		}
		if served, ok := traced[name(m.Number)]; ok {
			// It begins when the request's bytes arrived and ends with the answer,
			// so it contains the event and lies within the load's measurement.
			middle := served.From + served.Len()/2
			t.Views["traces"] = view{Seen: true, Same: timebase.Window(middle, width) == timebase.Window(event.To, width),
				Off: max(outside(event, served), outside(served, sent)), Stated: sources["traces"].Align.P99}
		}
		for _, c := range counted {
			v := land(func(w int64) float64 { return amount(rec, c.series, c.labels, w) / c.adds }, span(clock, c.when(m)))
			v.Stated, v.Partly = sources[c.view].Align.P99, sources[c.view].Why
			t.Views[c.view] = v
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the service reported no event")
	}
	return all, nil
}

// span converts instants of the service to the run's clock.
func span(clock timebase.Clock, i instants) timebase.Span {
	return timebase.Span{From: clock.FromMonotonic(i.From), To: clock.FromMonotonic(i.To)}
}

// fromEdge returns how far a span is from the nearest edge between windows.
func fromEdge(s timebase.Span) time.Duration {
	w := timebase.WindowSpan(timebase.Window(s.From, width), width)
	return max(0, min(s.From-w.From, w.To-s.To))
}

// outside returns how far inner reaches beyond outer.
func outside(inner, outer timebase.Span) time.Duration {
	return max(0, outer.From-inner.From, inner.To-outer.To)
}

// sentOf finds the load's own record of an event: the request in progress
// nearest to it. Each is the slowest, and only, one of its window.
func sentOf(slow []record.SlowRequest, event timebase.Span) (sent timebase.Span, found bool) {
	best := width
	for _, r := range slow {
		if off := max(r.Sent-event.From, event.To-r.Done); off < best && r.Error == "" {
			best, sent, found = off, timebase.Span{From: r.Sent, To: r.Done}, true
		}
	}
	return sent, found
}

// requests returns the marked requests of the traces, and the time that these cover.
func requests(rec *record.Record, clock timebase.Clock) (by map[string]timebase.Span, covered []timebase.Span, err error) {
	by = map[string]timebase.Span{}
	for _, t := range rec.Traces() {
		data, err := rec.ReadTrace(t)
		if err != nil {
			return nil, nil, err
		}
		covered = append(covered, t.Span)
		_, err = anatomy.Analyze([]anatomy.Input{{Trace: bytes.NewReader(data), Span: t.Span}}, anatomy.Options{
			Clock: clock, Each: func(r breakdown.Timeline) { by[r.ID] = r.Span },
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return by, covered, nil
}

// land finds the window that got the most of a counted event.
func land(amount func(w int64) float64, event timebase.Span) view {
	own := timebase.Window(event.From, width)
	best, most := own, 0.0
	var parts [3]float64
	for i, w := range []int64{own, own - 1, own + 1} {
		if parts[i] = amount(w); parts[i] > most {
			best, most = w, parts[i]
		}
	}
	if most == 0 {
		return view{}
	}
	in := timebase.WindowSpan(best, width)
	return view{Seen: true, Same: best == own, Parts: parts, Off: max(0, in.From-event.To, event.From-in.To)}
}

// amount is a series' value in a window, over all labels for "*".
func amount(rec *record.Record, series, labels string, w int64) (sum float64) {
	texts := []string{labels}
	if labels == "*" {
		texts = rec.Labels(series)
	}
	for _, text := range texts {
		if values := rec.Series(series, text, timebase.WindowSpan(w, width)).Values; len(values) == 1 && !math.IsNaN(values[0]) {
			sum += values[0]
		}
	}
	return sum
}
