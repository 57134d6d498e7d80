package load

import (
	"math"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// spent is the usage of the generator's process within the measured span.
type spent struct {
	cpu   time.Duration
	delay time.Duration
	known bool    // whether delay is
	open  float64 // mean established connections
	// busy is the largest share of the time that one event loop was on CPU; 0
	// where it is not known.
	busy  float64
	edges int // that open is the mean of
}

// begin takes the readings that the first window starts from.
func (r *run) begin() {
	r.meter = newUsageMeter()
	r.used, r.usedAt = r.meter.read(), r.clock.Now()
}

// report closes windows and intervals as their ends pass, until driven is
// closed, and then the rest.
func (r *run) report(driven <-chan struct{}) {
	defer r.meter.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next := timebase.WindowSpan(timebase.Window(r.clock.Now(), r.Window), r.Window).To
		timer.Reset(next - r.clock.Now())
		select {
		case <-timer.C:
			r.edge(timebase.Window(r.clock.Now(), r.Window))
			r.writeEnded()
		case <-driven:
			// Nothing ends any more: the window under way may close early.
			r.edge(timebase.Window(r.clock.Now(), r.Window) + 1)
			r.writeLast()
			return
		}
	}
}

// edge closes the windows below until.
func (r *run) edge(until int64) {
	r.points = r.points[:0]
	var progress []Progress
	var slow []record.SlowRequest
	now, ended := r.collector.edge(until, func(w *window) {
		r.points = r.series.points(r.points, w, &r.met)
		slow = r.slowestOf(slow, w)
		progress = append(progress, r.progress(w))
	})
	at := r.clock.Now()
	now.queued = r.queue.waiting(at)
	r.points = r.series.edge(r.points, until-1, r.before, now, min(ended, now.begun), r.plan.Open())
	used := r.meter.read()
	r.points = r.series.consumed(r.points, timebase.Span{From: r.usedAt, To: at}, r.Window, r.used, used)
	r.account(timebase.Span{From: r.usedAt, To: at}, used, now)
	cpus := series.PerSecond((used.cpu - r.used.cpu).Seconds(), at-r.usedAt)
	r.before, r.used, r.usedAt = now, used, at

	r.sunk(r.Record.Add(r.points...))
	if len(slow) > 0 {
		r.sunk(r.Record.Slow(slow...))
	}
	if r.OnWindow != nil {
		for _, p := range progress {
			p.InFlight, p.CPU = max(0, now.begun-ended), cpus
			r.OnWindow(p)
		}
	}
}

// account adds the usage between two edges, as far as it lies in the
// measured span.
func (r *run) account(s timebase.Span, used usage, g gauges) {
	inside := min(s.To, r.steady.To) - max(s.From, r.steady.From)
	if inside <= 0 || s.Len() <= 0 {
		return
	}
	share := float64(inside) / float64(s.Len())
	r.spent.cpu += time.Duration(share * float64(used.cpu-r.used.cpu))
	if used.delayKnown && r.used.delayKnown {
		r.spent.delay += time.Duration(share * float64(used.delay-r.used.delay))
		r.spent.known = true
	}
	if r.spent.edges == 0 {
		r.markLoops(s.To)
	}
	r.spent.busy = r.busiest(s.To)
	r.spent.edges++
	r.spent.open += (float64(g.open) - r.spent.open) / float64(r.spent.edges)
}

// markLoops reads the CPU time of the loops' threads when the measured span
// begins.
func (r *run) markLoops(at time.Duration) {
	r.loopsAt, r.loopsBusy = at, make([]float64, len(r.loops))
	for _, l := range r.loops {
		used, _ := threadCPU(int(l.thread.Load()))
		r.loopsUsed = append(r.loopsUsed, used)
	}
}

// busiest returns the share of the time since then that the busiest loop was on
// CPU; zero where that is not known.
//
// Hazard: a loop's thread ends with its load, a little before the last edge. Its
// share as of the edge before stays.
func (r *run) busiest(at time.Duration) (share float64) {
	for i, l := range r.loops {
		if used, ok := threadCPU(int(l.thread.Load())); ok && at > r.loopsAt {
			r.loopsBusy[i] = float64(used-r.loopsUsed[i]) / float64(at-r.loopsAt)
		}
		share = max(share, r.loopsBusy[i])
	}
	return share
}

// progress needs the collector's lock.
func (r *run) progress(w *window) Progress {
	span := timebase.WindowSpan(w.index, r.Window)
	t := r.collector.totals
	return Progress{
		Window: w.index, Warmup: span.From < r.steady.From,
		Done:    min(max(0, span.To-r.start), r.steady.To-r.start).Seconds(),
		Total:   (r.steady.To - r.start).Seconds(),
		Rate:    series.PerSecond(float64(w.requests-w.failed()), r.Window),
		Latency: w.latency.quantiles(), LagP99: w.lag.quantiles().P99,
		Errors: t.failed(), Requests: t.requests, CPU: math.NaN(),
	}
}

// writeEnded writes the intervals whose end has passed.
func (r *run) writeEnded() {
	c := r.collector
	for {
		c.mu.Lock()
		full := c.log.ended(r.clock.Now())
		c.mu.Unlock()
		if full == nil {
			return
		}
		// Outside of the lock: encoding takes milliseconds, and connections
		// with full rings would wait.
		r.sunk(c.log.write(r.Record, full))
		c.mu.Lock()
		c.log.reuse(full)
		c.mu.Unlock()
	}
}

// writeLast writes the rest when nothing ends any more.
func (r *run) writeLast() {
	r.writeEnded()
	for _, i := range r.collector.log.last(r.clock.Now()) {
		r.sunk(r.collector.log.write(r.Record, i))
	}
	var slow []record.SlowRequest
	c := r.collector
	for _, s := range c.slow.rest() {
		slow = append(slow, r.slowRequest(&s))
		c.traced.wrote(s.id)
	}
	for _, s := range c.traced.rest() {
		slow = append(slow, r.slowRequest(&s))
	}
	if len(slow) > 0 {
		r.sunk(r.Record.Slow(slow...))
	}
}

// slowestOf appends a window's entries in slow.jsonl: its slowest request, and
// the slowest of those that carried a Trace, whose spans can be found.
func (r *run) slowestOf(slow []record.SlowRequest, w *window) []record.SlowRequest {
	c := r.collector
	if w.slow.done > 0 && c.slow.window(&w.slow) {
		slow = append(slow, r.slowRequest(&w.slow))
		c.traced.wrote(w.slow.id)
	}
	if w.traced.done > 0 && w.traced.id != w.slow.id && c.traced.window(&w.traced) {
		slow = append(slow, r.slowRequest(&w.traced))
		c.slow.wrote(w.traced.id)
	}
	return slow
}

func (r *run) slowRequest(s *slowSample) record.SlowRequest {
	return record.SlowRequest{
		Intended: s.intended, Sent: s.sent, FirstByte: s.first, Done: s.done,
		Request: r.names[s.request], Connection: int(s.connection), ID: s.id,
		Status: int(s.status), Error: string(kinds[s.kind]), TraceID: r.traceText(&s.sample),
	}
}
