package cli

import (
	"io"
	"sync"
	"time"

	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/report/live"
	"github.com/redline-go/redline/run"
)

// View shows how a run goes: redrawn on a terminal, lines elsewhere.
type View struct {
	w     io.Writer
	plain bool
	title string

	mu   sync.Mutex
	live live.View // nil while paused or closed
	done bool
}

// NewView returns a View of a run called title on w; plain prints lines even on a terminal. The
// caller must close it.
func NewView(w io.Writer, title string, plain bool) *View {
	v := &View{w: w, plain: plain, title: title}
	v.live = v.open()
	return v
}

func (v *View) open() live.View {
	if v.plain {
		return live.Plain(v.w)
	}
	// It draws with more than the edge lets through, and cleans its output.
	return live.New(inert.Under(v.w), live.Options{Title: v.title, Color: Colour(v.w)})
}

// Event shows an event of the run.
func (v *View) Event(e run.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live == nil {
		return
	}
	shown := live.Event{Phase: e.Phase, Message: e.Warning}
	if p := e.Load; p != nil {
		shown.Done, shown.Total = seconds(p.Done), seconds(p.Total)
		shown.Rate, shown.Errors, shown.Requests, shown.InFlight = p.Rate, p.Errors, p.Requests, p.InFlight
		shown.P50, shown.P90 = time.Duration(p.Latency.P50), time.Duration(p.Latency.P90)
		shown.P99, shown.Max = time.Duration(p.Latency.P99), time.Duration(p.Latency.Max)
		shown.LagP99, shown.GeneratorCPU = time.Duration(p.LagP99), p.CPU
	}
	v.live.Event(shown)
}

// Pause lets f print where the view stands, and then goes on.
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
