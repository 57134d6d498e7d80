package rundata

import (
	"math"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
	"github.com/redline-go/redline/report/reporttest"
)

// TestMarksAreShown: a moment that was marked is shown in the charts.
func TestMarksAreShown(t *testing.T) {
	rec := reporttest.Bundle(t, reporttest.Options{})
	rec.Run.Marks = []record.Mark{{At: 12 * time.Second, Text: "deploy\x1b[31m"}}
	for _, s := range Of(rec, reporttest.Sick()).Spans {
		if s.Kind == "mark" {
			if s.From != 12 || s.To != 12 || s.Text == "" || s.Text == "deploy\x1b[31m" {
				t.Errorf("%+v", s)
			}
			return
		}
	}
	t.Error("no mark")
}

// few are windows of 100 ms from the run's begin on.
type few map[string][]float64

func (f few) Series(name, _ string, s timebase.Span) windows.Line {
	all, from := f[name], timebase.Window(s.From, timebase.DefaultWindow)
	if all == nil {
		return windows.Recent(s.From, timebase.DefaultWindow, nil)
	}
	values := make([]float64, s.Len()/timebase.DefaultWindow)
	for i := range values {
		values[i] = math.NaN()
		if at := from + int64(i); at >= 0 && at < int64(len(all)) {
			values[i] = all[at]
		}
	}
	return windows.Recent(s.From, timebase.DefaultWindow, values)
}

func (f few) Labels(string) []string { return nil }

// TestDueIsWhatWasAsked: due is the load offered in an open loop, whatever the service did with it; the same from any
// window on.
func TestDueIsWhatWasAsked(t *testing.T) {
	nan := math.NaN()
	f := few{series.LoadSent: {nan, 10, 10, 4, 4, 22, 10, 10}, series.LoadQueued: {nan, 0, 0, 6, 12, 0, nan, 0}}
	for _, from := range []int64{0, 3} {
		r := Recent{Windows: f, Span: timebase.Span{From: time.Duration(from) * timebase.DefaultWindow, To: 8 * timebase.DefaultWindow},
			Width: timebase.DefaultWindow, Amount: func(string, string) float64 { return 0 }}
		lines := r.Charts()[0].Lines
		due := lines[len(lines)-1]
		want := []float64{nan, 100, 100, 100, 100, 100, nan, nan}[from:]
		if due.Label != "due" || len(due.Values) != len(want) {
			t.Fatalf("%+v", due)
		}
		for i, v := range due.Values {
			if v != want[i] && !(math.IsNaN(v) && math.IsNaN(want[i])) {
				t.Errorf("from window %d: %v, want %v", from, due.Values, want)
			}
		}
	}
}
