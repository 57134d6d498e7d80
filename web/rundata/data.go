// Package rundata is what the page knows of a run: a bundle's series as charts on one time
// axis, its latency as a heat map and a spectrum, findings, anatomy, statements and flame
// graphs, bounded so that no bundle makes a page that cannot be opened.
//
// It reads only a record and decides nothing. A figure that is missing is left out and
// never becomes a zero.
package rundata

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/redline-go/redline/diagnose/slowest"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/web/flame"
)

// Run is what the page knows of a run, as its script reads it; web/page/src/data.ts
// mirrors it. It marshals to JSON.
type Run struct {
	Schema     string               `json:"schema"` // "redline.page/1"
	Headline   report.Headline      `json:"headline"`
	Summary    *record.Summary      `json:"summary"`
	Weights    []string             `json:"weights"` // how much each finding weighs, in words
	Places     []string             `json:"places"`  // where each is, in one line
	Run        record.Run           `json:"run"`
	Anatomy    *breakdown.Anatomy   `json:"anatomy"` // null without one
	Slowest    []slowest.Request    `json:"slowest"` // the slowest requests in words
	Axis       axis                 `json:"axis"`
	Charts     []Chart              `json:"charts"`
	Others     []otherSeries        `json:"others"`
	OthersAxis axis                 `json:"others_axis"` // theirs, where there are so many that they are joined further
	Heat       *heat                `json:"heat"`
	Spectrum   []Spectrum           `json:"spectrum"`
	Latencies  *latencyLog          `json:"latencies"` // null without a latency log
	Activity   *activity            `json:"activity"`  // of the statements; null where it is not known over time
	Thresholds []threshold          `json:"thresholds"`
	Basis      [][]basis            `json:"basis"` // of each finding
	Spans      []markedSpan         `json:"spans"`
	Slow       []record.SlowRequest `json:"slow"`
	Statements *database.Statements `json:"statements"`
	Flames     *flame.Set           `json:"flames"` // null without profiles and traces
	Remarks    []remark             `json:"remarks"`
	// Missing names the parts of the bundle that could not be shown, and why.
	Missing []string `json:"missing"`
}

// remark is one of the compiler's on a hot line of the service's own code.
type remark struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// markedSpan is a stretch of the time axis that the charts shade.
type markedSpan struct {
	Kind string  `json:"kind"` // warm-up, trace, mark
	From float64 `json:"from"` // s
	To   float64 `json:"to"`
	Text string  `json:"text,omitempty"` // of a mark
}

// Bounds on inlined data, so that no bundle makes a page that cannot be
// opened. They are far above the bundles that redline writes.
const (
	maxParts     = 80
	maxFrames    = 24
	maxChains    = 3
	maxTimelines = 20
	maxSegments  = 400
	maxSlow      = 50
	maxSteps     = 60       // of a narrated request
	maxStatement = 4 << 10  // bytes of one statement's text
	maxPlan      = 64 << 10 // bytes of one plan
	maxListed    = 30       // statements
	maxRequests  = 20_000   // of a mix
	maxRemarks   = 500
)

// Of collects what the page shows of a bundle and its summary. Parts that a bundle lacks
// (a run without trace has no anatomy) are left out; those that cannot be read are named in
// Missing.
func Of(rec *record.Record, s *record.Summary) *Run {
	shown := *s
	shown.Load.Steps = shown.Load.Steps[:min(len(shown.Load.Steps), maxRequests)]
	shown.Sources = report.Asked(s.Sources)
	shown.Anatomy = breakdown.Summary{} // Anatomy has all of it
	d := &Run{Schema: "redline.page/1", Summary: &shown, Run: rec.Run, Headline: report.HeadlineOf(s)}
	for i := range s.Findings {
		d.Weights = append(d.Weights, report.Weight(&s.Findings[i]))
		d.Places = append(d.Places, report.Place(s.Findings[i].Where))
		d.Basis = append(d.Basis, basisOf(rec, &s.Findings[i]))
	}
	d.Thresholds = thresholdsOf(s.Thresholds)
	d.Flames = &flame.Set{}
	d.readAnatomy(rec)
	d.Flames.AddProfiles(rec, d.miss)
	d.readStatements(rec)
	d.readRemarks(rec)
	if slow, err := rec.SlowRequests(); err == nil {
		d.Slow = slow[:min(len(slow), maxSlow)]
	} else if !errors.Is(err, fs.ErrNotExist) {
		d.miss("slow requests", err)
	}
	b, err := newChartBuilder(rec)
	if err != nil {
		d.miss("time series", err)
		return d
	}
	d.Axis, d.Charts = b.axis(), drawn(b.charts(textsOf(d.Statements)))
	d.Others, d.OthersAxis = b.others(rec.Names())
	d.Activity = b.activityOf(d.Statements)
	d.Spans = spansOf(rec, b.span)
	if d.Heat, err = heatOf(rec, b.span); err != nil {
		d.miss("latency heat map", err)
	}
	if d.Latencies, err = latenciesOf(rec, b.span, s.Load.Steps); err != nil {
		d.miss("latency by time", err)
	}
	if d.Spectrum, err = spectra(rec, spanOf(rec, b.span)); err != nil {
		d.miss("latency spectrum", err)
	}
	return d
}

func (d *Run) miss(what string, err error) {
	d.Missing = append(d.Missing, notation.Clean(what+": "+err.Error()))
}

func (d *Run) readAnatomy(rec *record.Record) {
	var a breakdown.Anatomy
	if err := rec.ReadJSON(breakdown.File, &a); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.miss("anatomy", err)
		}
		return
	}
	d.Flames.AddAnatomy(&a)
	d.Slowest = slowest.Describe(rec, &a, slowest.Most) // before its stacks are cut
	for i := range d.Slowest {
		d.Slowest[i].Steps = list(d.Slowest[i].Steps[:min(len(d.Slowest[i].Steps), maxSteps)])
	}
	for _, band := range []*[]breakdown.Part{&a.All, &a.Median, &a.Tail} {
		*band = list((*band)[:min(len(*band), maxParts)])
		for i := range *band {
			p := &(*band)[i]
			p.Stack = p.Stack[:min(len(p.Stack), maxFrames)]
			p.Behind = p.Behind[:min(len(p.Behind), maxChains)]
			for _, c := range p.Behind {
				if n := len(c.Links); n > 0 {
					c.Links[n-1].Stack = nil // its site says enough here
				}
			}
		}
	}
	for i := range a.During {
		d := &a.During[i]
		for _, band := range []*[]breakdown.Piece{&d.All, &d.Median, &d.Tail} {
			*band = slices.DeleteFunc(list(*band), func(p breakdown.Piece) bool { return p.Part < 0 || p.Part >= len(a.All) })
		}
	}
	for i := range a.Named {
		n := &a.Named[i]
		for _, band := range []*[]breakdown.Piece{&n.All, &n.Median, &n.Tail} {
			*band = slices.DeleteFunc(list(*band), func(p breakdown.Piece) bool { return p.Part < 0 || p.Part >= len(a.All) })
		}
	}
	a.Marked, a.Path = nil, nil // the slowest are drawn already, the path is a flame graph
	a.Slowest = list(a.Slowest[:min(len(a.Slowest), maxTimelines)])
	for i := range a.Slowest {
		a.Slowest[i].Segments = shorten(a.Slowest[i].Segments, maxSegments)
	}
	a.Warnings = list(a.Warnings)
	d.Anatomy = &a
}

// shorten brings a timeline down to about limit segments by joining neighbours
// that are too short to be seen into one of state other; the sum stays.
func shorten(segments []breakdown.Segment, limit int) []breakdown.Segment {
	if len(segments) <= limit {
		return list(segments)
	}
	var total int64
	for _, s := range segments {
		total += s.NS
	}
	short := total / int64(limit) * 2
	var out []breakdown.Segment
	for _, s := range segments {
		last := len(out) - 1
		if s.NS < short && last >= 0 && out[last].Site == "(short stretches)" && out[last].NS < short {
			out[last].NS += s.NS
			continue
		}
		if s.NS < short {
			s.State, s.Site = breakdown.StateOther, "(short stretches)"
		}
		out = append(out, s)
	}
	return out
}

func (d *Run) readStatements(rec *record.Record) {
	var s database.Statements
	if err := rec.ReadJSON(database.File, &s); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.miss("statements", err)
		}
		return
	}
	slices.SortStableFunc(s.Statements, func(a, b database.Statement) int { return cmp.Compare(b.Time, a.Time) })
	s.Statements = list(s.Statements[:min(len(s.Statements), maxListed)])
	for i := range s.Statements {
		st := &s.Statements[i]
		if len(st.Text) > maxStatement {
			at := maxStatement
			for !utf8.RuneStart(st.Text[at]) {
				at--
			}
			st.Text = st.Text[:at] + " ..."
		}
		if len(st.Plan) > maxPlan {
			st.Plan, st.PlanError = nil, "the plan is too large to be shown here; see statements.json"
		}
	}
	d.Statements = &s
}

func (d *Run) readRemarks(rec *record.Record) {
	var c code.Compiler
	if err := rec.ReadJSON(code.File, &c); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.miss("the compiler's remarks", err)
		}
		return
	}
	for _, l := range c.Lines {
		for _, r := range l.Remarks {
			if len(d.Remarks) == maxRemarks {
				return
			}
			d.Remarks = append(d.Remarks, remark{File: notation.Clean(l.File), Line: l.Line, Text: notation.Clean(r.Text)})
		}
	}
}

// spansOf lists the stretches that the charts shade.
func spansOf(rec *record.Record, whole timebase.Span) []markedSpan {
	spans := []markedSpan{}
	add := func(kind string, s timebase.Span) {
		s.From, s.To = max(s.From, whole.From), min(s.To, whole.To)
		if s.To > s.From {
			spans = append(spans, markedSpan{Kind: kind, From: s.From.Seconds(), To: s.To.Seconds()})
		}
	}
	if steady := rec.Run.Steady; steady.Len() > 0 {
		add("warm-up", timebase.Span{From: whole.From, To: steady.From})
		add("after the load", timebase.Span{From: steady.To, To: whole.To})
	}
	for _, t := range rec.Traces() {
		add("trace", t.Span)
	}
	for _, m := range rec.Run.Marks {
		spans = append(spans, markedSpan{Kind: "mark", From: m.At.Seconds(), To: m.At.Seconds(), Text: notation.Clean(m.Text)})
	}
	return spans
}

// spanOf returns the steady span, or everything when the run did not get
// there.
func spanOf(rec *record.Record, whole timebase.Span) timebase.Span {
	if rec.Run.Steady.Len() > 0 {
		return rec.Run.Steady
	}
	return whole
}

// Values are the values of a line; NaN is written to JSON as null. Four digits are one
// more than a figure shows.
type Values []float64

func (v Values) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(v)+2)
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			b = append(b, "null"...)
		case x == math.Trunc(x) && math.Abs(x) < 1e5:
			b = strconv.AppendInt(b, int64(x), 10)
		default:
			b = strconv.AppendFloat(b, x, 'g', 4, 64)
		}
	}
	return append(b, ']'), nil
}

var errNoWindows = errors.New("the bundle holds no windows")

// wholeSpan returns the span of all windows of a record.
func wholeSpan(rec *record.Record) (timebase.Span, time.Duration, error) {
	from, to := rec.Windows()
	if to <= from {
		return timebase.Span{}, 0, errNoWindows
	}
	if n := to - from; n > maxWindows || n < 0 {
		return timebase.Span{}, 0, fmt.Errorf("%d windows are more than the page can hold (%d)", n, maxWindows)
	}
	// In a long run the page's windows are the widest that the run has.
	all := timebase.Span{From: timebase.WindowSpan(from, rec.Run.Window).From, To: timebase.WindowSpan(to, rec.Run.Window).From}
	width := rec.Width(all)
	first, last := timebase.Window(all.From, width), timebase.Window(all.To-1, width)
	return timebase.Span{From: timebase.WindowSpan(first, width).From, To: timebase.WindowSpan(last, width).To}, width, nil
}

// maxWindows bounds the memory of a page's making: a day at 100 ms is 864,000.
const maxWindows = 4_000_000

// list returns s, or an empty list when it is nil: the page's lists are never null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
