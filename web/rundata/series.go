package rundata

import (
	"math"
	"runtime/metrics"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
)

// maxPoints is the most points a line is inlined with; a longer one is
// joined into groups of windows: the line is their mean, and a band around it
// their extremes, so that a short spike stays in sight.
const (
	maxPoints = 3000
	// longPoints is the same for a run so long that its record was thinned: a line of
	// it always has its band, so a page of the same size holds a third.
	longPoints = 1000
)

// axis is the one time axis of all charts: point i covers the run time from
// From + i*Step to From + (i+1)*Step, in s.
type axis struct {
	From    float64 `json:"from"`
	Step    float64 `json:"step"`
	Points  int     `json:"points"`
	Windows int     `json:"windows"` // windows joined into one point
}

// Line is one line of a chart; without values it has no label either.
type Line struct {
	Label string `json:"label"`
	// Tone names a colour of the page: a number of its palette, or bad, limit
	// or muted.
	Tone   string `json:"tone"`
	Values Values `json:"values"`
	Low    Values `json:"low,omitempty"` // only where windows were joined
	High   Values `json:"high,omitempty"`
	// Apart keeps a line of a stacked chart out of the stack.
	Apart bool `json:"apart,omitempty"`
}

// Windows are what charts are drawn from: those of a record, or the last of a run in progress.
type Windows interface {
	Series(name, labels string, s timebase.Span) windows.Line
	Labels(name string) []string
}

var _ Windows = (*record.Record)(nil)

// chartBuilder reads series on the page's axis.
type chartBuilder struct {
	rec    Windows
	amount func(name, labels string) float64 // ranks the labels of a series
	span   timebase.Span
	width  time.Duration
	group  int
	used   map[series.Series]bool
}

func newChartBuilder(rec *record.Record) (*chartBuilder, error) {
	span, width, err := wholeSpan(rec)
	if err != nil {
		return &chartBuilder{}, err
	}
	windows, most := int(span.Len()/width), maxPoints
	if rec.Thinned() != nil {
		most = longPoints
	}
	return &chartBuilder{rec: rec, span: span, width: width, group: (windows + most - 1) / most, used: map[series.Series]bool{},
		amount: func(name, labels string) float64 {
			sum, _ := rec.Series(name, labels, span).Sum()
			return sum
		}}, nil
}

func (b *chartBuilder) axis() axis {
	windows := int(b.span.Len() / b.width)
	return axis{From: b.span.From.Seconds(), Step: (b.width * time.Duration(b.group)).Seconds(),
		Points: (windows + b.group - 1) / b.group, Windows: b.group}
}

// raw returns one value per window, or nil when there is no such series.
func (b *chartBuilder) raw(name, labels string) []float64 {
	return b.read(name, labels).Values
}

func (b *chartBuilder) read(name, labels string) windows.Line {
	l := b.rec.Series(name, labels, b.span)
	if l.Values != nil {
		b.used[series.Series{Name: name, Labels: labels}] = true
	}
	return l
}

// perSecond returns a counter's amount per window as a rate.
func (b *chartBuilder) perSecond(name, labels string) []float64 {
	return b.read(name, labels).PerSecond()
}

// cpus returns a counter of ns as the number of CPUs (or, for the time of a
// statement, of executions at a time) that it stands for.
func (b *chartBuilder) cpus(name, labels string) []float64 {
	return scale(b.perSecond(name, labels), 1e-9)
}

// total sums a series over all its labels.
func (b *chartBuilder) total(name string, read func(name, labels string) []float64) []float64 {
	var sum []float64
	for _, labels := range b.rec.Labels(name) {
		sum = plus(sum, read(name, labels), 1)
	}
	return sum
}

func scale(v []float64, by float64) []float64 {
	for i := range v {
		v[i] *= by
	}
	return v
}

// plus returns a + by*b; where one of them is missing the other stands alone,
// except that nothing is taken off a missing value. It writes into a.
func plus(a, b []float64, by float64) []float64 {
	if a == nil {
		return scale(b, by)
	}
	for i := range b {
		switch {
		case i >= len(a) || math.IsNaN(b[i]):
		case math.IsNaN(a[i]) && by < 0: // nothing to take it off
		case math.IsNaN(a[i]):
			a[i] = by * b[i]
		default:
			a[i] += by * b[i]
		}
	}
	return a
}

// line makes a line of values per window; it has no values when v is nil.
func (b *chartBuilder) line(label, tone string, v []float64) Line {
	if v == nil || !anyPresent(v) {
		return Line{}
	}
	if b.group <= 1 {
		return Line{Label: label, Tone: tone, Values: v}
	}
	l := Line{Label: label, Tone: tone}
	for from := 0; from < len(v); from += b.group {
		mean, low, high := extremes(v[from:min(from+b.group, len(v))])
		l.Values, l.Low, l.High = append(l.Values, mean), append(l.Low, low), append(l.High, high)
	}
	return l
}

// extremes returns mean, least and greatest of the values present, NaN when
// none is.
func extremes(v []float64) (mean, low, high float64) {
	sum, n := series.Sum(v)
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	low, high = math.Inf(1), math.Inf(-1)
	for _, x := range v {
		if !math.IsNaN(x) {
			low, high = min(low, x), max(high, x)
		}
	}
	return sum / float64(n), low, high
}

func anyPresent(v []float64) bool {
	for _, x := range v {
		if !math.IsNaN(x) {
			return true
		}
	}
	return false
}

// otherSeries is a series that no chart shows; the page plots it when asked.
type otherSeries struct {
	Name   string `json:"name"`
	Labels string `json:"labels"`
	Unit   string `json:"unit"`
	Line
}

// maxOthers bounds the series inlined in addition to those of the charts.
const maxOthers = 240

// maxOtherValues bounds the values inlined for all other series together; a long run may have as many
// as 100 series of it, because its charts take more as well.
const maxOtherValues = 30_000

// others returns the series that no chart took, in the catalogue's order, those
// that never move left out, with their axis.
func (b *chartBuilder) others(names []series.Series) ([]otherSeries, axis) {
	counters := runtimeCounters()
	out, lines := []otherSeries{}, [][]float64{}
	for _, s := range names {
		key := series.Series{Name: s.Name, Labels: s.Labels}
		if b.used[key] || len(out) == maxOthers {
			continue
		}
		o := otherSeries{Name: notation.Clean(s.Name), Labels: notation.Clean(s.Labels), Unit: s.Unit}
		info, _ := series.Known(s.Name)
		v := b.raw(s.Name, s.Labels)
		if info.Counter || counters[s.Name] && s.Labels == "" {
			v = b.perSecond(s.Name, s.Labels)
			if o.Unit += "/s"; s.Unit == "1" {
				o.Unit = "1/s"
			}
		}
		if _, low, high := extremes(v); low == high && low == 0 {
			continue
		}
		if anyPresent(v) {
			out, lines = append(out, o), append(lines, v)
		}
	}
	joined := *b
	windows := int(b.span.Len() / b.width)
	if most := max(maxOtherValues, 100*b.axis().Points); len(out)*b.axis().Points > most {
		joined.group = max(b.group, (3*len(out)*windows+most-1)/most) // mean, least and greatest
	}
	for i := range out {
		out[i].Line = joined.line(out[i].Name, "0", lines[i])
	}
	return out, joined.axis()
}

// runtimeCounters names the cumulative metrics of this program's own
// runtime/metrics; the target's may be a few more, which then show as amounts
// per window.
func runtimeCounters() map[string]bool {
	names := map[string]bool{}
	for _, d := range metrics.All() {
		if d.Cumulative {
			names[d.Name] = true
		}
	}
	return names
}
