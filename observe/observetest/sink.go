package observetest

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Sink is an observe.Sink that keeps everything it receives. The zero Sink is ready.
type Sink struct {
	mu       sync.Mutex
	points   []series.Point
	profiles []record.Profile
	traces   []record.Trace
}

var _ observe.Sink = (*Sink)(nil)

// Add keeps points.
func (s *Sink) Add(points ...series.Point) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.points = append(s.points, points...)
	return nil
}

// Profile keeps p.
func (s *Sink) Profile(p record.Profile) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profiles = append(s.profiles, p)
	return nil
}

// Trace keeps t.
func (s *Sink) Trace(t record.Trace) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traces = append(s.traces, t)
	return nil
}

// Len returns how many points, profiles and traces there are.
func (s *Sink) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.points) + len(s.profiles) + len(s.traces)
}

// Points returns the added points, in order.
func (s *Sink) Points() []series.Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.points)
}

// Profiles returns the profiles, in order.
func (s *Sink) Profiles() []record.Profile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.profiles)
}

// Traces returns the traces, in order.
func (s *Sink) Traces() []record.Trace {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.traces)
}

// Sum adds up the points of a series, over all labels when labels is "*", and
// returns how many there are.
func (s *Sink) Sum(name, labels string) (sum float64, points int) {
	for _, p := range s.Points() {
		if p.Series.Name == name && (labels == "*" || p.Series.Labels == labels) {
			sum += p.Value
			points++
		}
	}
	return sum, points
}

// Last returns the last point of a series, NaN if there is none.
func (s *Sink) Last(name, labels string) float64 {
	last := math.NaN()
	for _, p := range s.Points() {
		if p.Series.Name == name && p.Series.Labels == labels {
			last = p.Value
		}
	}
	return last
}

// check asserts the properties that the record relies on; span is when the source ran.
func (s *Sink) check(t *testing.T, width time.Duration, span timebase.Span) {
	t.Helper()
	first, last := timebase.Window(span.From, width), timebase.Window(span.To, width)
	reported := map[string]bool{} // once per series, not per point
	for _, p := range s.Points() {
		if err := checkPoint(p, first, last); err != nil && !reported[p.Series.Name+err.Error()] {
			reported[p.Series.Name+err.Error()] = true
			t.Errorf("%s{%s} window %d = %v %s: %v", p.Series.Name, p.Series.Labels, p.Window, p.Value, p.Series.Unit, err)
		}
	}
	kinds := []string{"cpu", "allocs", "heap", "mutex", "block", "goroutine", "goroutineleak"}
	for _, p := range s.Profiles() {
		if !slices.Contains(kinds, p.Type) || len(p.Data) == 0 || !within(p.Span, span) {
			t.Errorf("profile %q of %d bytes over %v, while the source ran %v", p.Type, len(p.Data), p.Span, span)
		}
	}
	for _, tr := range s.Traces() {
		if len(tr.Data) == 0 || tr.Span.Len() <= 0 || !within(tr.Span, span) {
			t.Errorf("trace of %d bytes over %v, while the source ran %v", len(tr.Data), tr.Span, span)
		}
	}
}

// checkPoint returns what is wrong with a point: its name, unit or labels are not the
// catalogue's, or its window is not of the run.
func checkPoint(p series.Point, first, last int64) error {
	info, ok := series.Known(p.Series.Name)
	if p.Series.Labels == "q=count" || strings.HasPrefix(p.Series.Labels, "size=") { // the events of a histogram, whatever its unit
		info.Unit, info.Counter = "1", true
	}
	switch {
	case !ok:
		return errors.New("the name is not in the catalogue")
	case p.Series.Unit != info.Unit:
		return errors.New("the catalogue's unit is " + info.Unit)
	case math.IsNaN(p.Value) || math.IsInf(p.Value, 0):
		return errors.New("what is not known must be absent")
	case info.Counter && p.Value < 0:
		return errors.New("the amount of a counter is negative")
	case p.Window < first || p.Window > last:
		return errors.New("the source did not run in this window")
	}
	for part := range strings.SplitSeq(p.Series.Labels, ",") {
		name, _, _ := strings.Cut(part, "=")
		if p.Series.Labels != "" && !slices.Contains(strings.Split(info.Labels, ","), name) {
			return errors.New("the catalogue has no label " + name)
		}
	}
	return nil
}

// within reports whether one span lies in another, both ends included.
func within(inner, outer timebase.Span) bool {
	return inner.From >= outer.From && inner.To <= outer.To && inner.From <= inner.To
}
