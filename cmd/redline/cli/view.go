package cli

import (
	"io"
	"sync"
	"time"

	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/live"
	"github.com/redline-go/redline/run"
)

// View shows how a run goes: redrawn on a terminal, lines elsewhere.
type View struct {
	w     io.Writer
	plain bool
	title string
	stop  func() // ends the load early; nil where keys are not read

	mu     sync.Mutex
	live   live.View // nil while paused or closed
	steady timebase.Span
	done   bool
}

var _ run.Follower = (*View)(nil)

// NewView returns a View of a run called title on w; plain prints lines even on a terminal. With stop,
// which ends the load early, somebody at the terminal can press keys. The caller must close it.
func NewView(w io.Writer, title string, plain bool, stop func()) *View {
	v := &View{w: w, plain: plain, title: title, stop: stop}
	v.live = v.open()
	return v
}

func (v *View) open() live.View {
	if v.plain {
		return live.Plain(v.w)
	}
	o := live.Options{Title: v.title, Color: Colour(v.w)}
	if v.stop != nil && Terminal(v.w) {
		if keys := readKeys(); keys != nil {
			o.Keys, o.Left, o.Stop = keys.pressed, keys.close, v.stop
		}
	}
	// The live view draws with more than an inert writer lets through, and cleans its output itself.
	return live.New(inert.Under(v.w), o)
}

// Event shows an event of the run.
func (v *View) Event(e run.Event) {
	shown := live.Event{Phase: e.Phase, Message: e.Warning, Statement: live.Statement(e.Statement)}
	if p := e.Load; p != nil {
		shown.Done, shown.Total = seconds(p.Done), seconds(p.Total)
		shown.Rate, shown.Errors, shown.Requests, shown.InFlight = p.Rate, p.Errors, p.Requests, p.InFlight
		shown.P50, shown.P90 = time.Duration(p.Latency.P50), time.Duration(p.Latency.P90)
		shown.P99, shown.Max = time.Duration(p.Latency.P99), time.Duration(p.Latency.Max)
		shown.LagP99, shown.GeneratorCPU = time.Duration(p.LagP99), p.CPU
	}
	v.show(shown)
}

// SoFar shows the assessment so far of a run in progress.
func (v *View) SoFar(s *record.Summary) {
	shown := &live.SoFar{}
	if len(s.Findings) > 0 {
		f := &s.Findings[0]
		shown.Title, shown.Place, shown.Worth = f.Title, report.Place(f.Where), report.Weight(f)
	}
	v.show(live.Event{SoFar: shown})
}

func (v *View) show(e live.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live != nil {
		v.live.Event(e)
	}
}

// Follows reports whether the view shows more than a run's events.
func (v *View) Follows() bool { return v.feed() != nil }

func (v *View) feed() live.Feed {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live == nil {
		return nil
	}
	return v.live.Feed()
}

// Begin implements run.Follower.
func (v *View) Begin(r run.Recording) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.steady = r.Steady
}

// Add implements run.Follower.
func (v *View) Add(points []series.Point) {
	if feed := v.feed(); feed != nil {
		feed.Add(points)
	}
}

// Counts implements run.Follower.
func (v *View) Counts(kind histogram.Kind, s timebase.Span, c *histogram.Counts) {
	if feed := v.feed(); feed != nil && kind == histogram.Latency && s.From >= v.steady.From && s.From < v.steady.To {
		feed.Latency(c)
	}
}

// Pause lets f print where the view stands, and then continues.
func (v *View) Pause(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live != nil {
		v.live.Close()
	}
	f()
	if !v.done {
		v.live = v.open()
	}
}

// Close ends the view and restores the terminal. It may be called twice.
func (v *View) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done = true
	if v.live != nil {
		v.live.Close()
		v.live = nil
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
