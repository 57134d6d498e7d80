package main

import (
	"io"
	"sync"
	"time"

	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/report/live"
	"github.com/redline-go/redline/run"
)

// view shows how a run goes: redrawn on a terminal, lines elsewhere.
type view struct {
	w     io.Writer
	plain bool
	title string

	mu   sync.Mutex
	live live.View // nil while paused or closed
	done bool
}

func newView(w io.Writer, title string, plain bool) *view {
	v := &view{w: w, plain: plain, title: title}
	v.live = v.open()
	return v
}

func (v *view) open() live.View {
	if v.plain {
		return live.Plain(v.w)
	}
	// It draws with more than the edge lets through, and cleans its output.
	return live.New(inert.Under(v.w), live.Options{Title: v.title, Color: colour(v.w)})
}

// event shows an event of the run.
func (v *view) event(e run.Event) {
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

// pause lets f print where the view stands, and then goes on.
func (v *view) pause(f func()) {
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
func (v *view) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done = true
	if v.live != nil {
		v.live.Close()
		v.live = nil
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
