package load

import (
	"math"
	"time"

	"github.com/redline-go/redline/load/account"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/usage"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// begin takes the readings that the first window starts from.
func (r *run) begin() {
	r.meter = usage.NewMeter()
	r.used, r.usedAt = r.meter.Read(), r.clock.Now()
	r.spare.idle, r.spare.loops = new(usage.Idle), len(r.loops)
	r.spare.look(r.usedAt)
}

// report closes windows and intervals as their ends pass, until driven is
// closed, and then the rest.
func (r *run) report(driven <-chan struct{}) {
	defer r.meter.Close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next := timebase.WindowSpan(timebase.Window(r.clock.Now(), r.Window), r.Window).To
		timer.Reset(next - r.clock.Now())
		select {
		case <-timer.C:
			r.edge(timebase.Window(r.clock.Now(), r.Window))
			r.sunk(r.collector.WriteEnded(r.Record, r.clock.Now))
		case <-driven:
			// Nothing ends any more: the current window may close early.
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
	// Everything under the lock comes from memory; what may block, the record and the live
	// view, comes after it.
	now, ended := r.collector.Edge(until, func(w *account.Window) {
		r.points = r.series.Points(r.points, w, &r.met)
		slow = r.slowRequests(slow, r.collector.SlowestOf(w))
		progress = append(progress, r.progress(w))
	})
	at := r.clock.Now()
	now.Queued = r.queue.waiting(at)
	r.points = r.series.Edge(r.points, until-1, r.before, now, min(ended, now.Begun), r.plan.Open())
	used := r.meter.Read()
	r.points = r.series.Consumed(r.points, timebase.Span{From: r.usedAt, To: at}, r.Window, r.used, used)
	polled := r.polling()
	r.account(timebase.Span{From: r.usedAt, To: at}, used, polled, now)
	cpus := series.PerSecond((used.CPU - r.used.CPU).Seconds(), at-r.usedAt)
	r.before, r.used, r.polled, r.usedAt = now, used, polled, at
	r.spare.look(at)

	r.sunk(r.Record.Add(r.points...))
	if len(slow) > 0 {
		r.sunk(r.Record.Slow(slow...))
	}
	if r.OnWindow != nil {
		for _, p := range progress {
			p.InFlight, p.CPU = max(0, now.Begun-ended), cpus
			r.OnWindow(p)
		}
	}
}

// account adds the usage between two edges, as far as it lies in the
// measured span.
func (r *run) account(s timebase.Span, used usage.Usage, polled time.Duration, g account.Gauges) {
	inside := min(s.To, r.steady.To) - max(s.From, r.steady.From)
	if inside <= 0 || s.Len() <= 0 {
		return
	}
	share := float64(inside) / float64(s.Len())
	r.spent.CPU += time.Duration(share * float64(used.CPU-r.used.CPU))
	r.spent.Polled += time.Duration(share * float64(polled-r.polled))
	if used.DelayKnown && r.used.DelayKnown {
		r.spent.Delay += time.Duration(share * float64(used.Delay-r.used.Delay))
		r.spent.Runs += share * float64(used.Runs-r.used.Runs)
		r.spent.Known = true
	}
	if r.spent.Edges == 0 {
		r.markLoops(s.To)
	}
	r.spent.Busy = r.busiest(s.To)
	r.spent.Edges++
	r.spent.Open += (float64(g.Open) - r.spent.Open) / float64(r.spent.Edges)
}

// polling returns the CPU time that all loops have spent so far on waiting awake.
func (r *run) polling() (sum time.Duration) {
	for _, l := range r.loops {
		sum += time.Duration(l.early.total.Load())
	}
	return sum
}

// markLoops reads the CPU time of the loops' threads when the measured span
// begins.
func (r *run) markLoops(at time.Duration) {
	r.loopsAt, r.loopsBusy = at, make([]float64, len(r.loops))
	for _, l := range r.loops {
		used, _ := l.worked()
		r.loopsUsed = append(r.loopsUsed, used)
	}
}

// worked returns the CPU time of the loop's thread without that of waking early, which yields
// to any work.
func (l *loop) worked() (time.Duration, bool) {
	used, ok := usage.ThreadCPU(int(l.Thread.Load()))
	return max(0, used-time.Duration(l.early.total.Load())), ok
}

// busiest returns the share of the time since markLoops that the busiest loop was on
// CPU; zero if that is not known.
//
// Hazard: a loop's thread ends with its load, a little before the last edge. Its share
// then remains that of the edge before.
func (r *run) busiest(at time.Duration) (share float64) {
	for i, l := range r.loops {
		if used, ok := l.worked(); ok && at > r.loopsAt {
			r.loopsBusy[i] = float64(used-r.loopsUsed[i]) / float64(at-r.loopsAt)
		}
		share = max(share, r.loopsBusy[i])
	}
	return share
}

// progress needs the collector's lock.
func (r *run) progress(w *account.Window) Progress {
	span := timebase.WindowSpan(w.Index, r.Window)
	t := r.collector.Totals
	return Progress{
		Window: w.Index, Warmup: span.From < r.steady.From,
		Done:    min(max(0, span.To-r.start), r.steady.To-r.start).Seconds(),
		Total:   (r.steady.To - r.start).Seconds(),
		Rate:    series.PerSecond(float64(w.Requests-w.Failed()), r.Window),
		Latency: w.Latency.Quantiles(), LagP99: w.Lag.Quantiles().P99,
		Errors: t.Failed(), Requests: t.Requests, CPU: math.NaN(),
	}
}

// writeLast writes the rest when nothing ends any more.
func (r *run) writeLast() {
	r.sunk(r.collector.WriteEnded(r.Record, r.clock.Now))
	r.sunk(r.collector.WriteLast(r.Record, r.clock.Now()))
	if slow := r.slowRequests(nil, r.collector.SlowestLeft()); len(slow) > 0 {
		r.sunk(r.Record.Slow(slow...))
	}
}

// slowRequests appends samples in the form of slow.jsonl.
func (r *run) slowRequests(dst []record.SlowRequest, samples []account.Sample) []record.SlowRequest {
	for i := range samples {
		dst = append(dst, r.slowRequest(&samples[i]))
	}
	return dst
}

func (r *run) slowRequest(s *account.Sample) record.SlowRequest {
	return record.SlowRequest{
		Intended: s.Intended, Sent: s.Sent, FirstByte: s.First, Done: s.Done,
		Request: r.names[s.Request], Connection: int(s.Connection), ID: s.ID,
		Status: int(s.Status), Error: string(failure.Kinds[s.Kind]), TraceID: r.traceText(s),
	}
}
