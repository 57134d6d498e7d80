// Package account turns the requests that event loops end into the figures of a run:
// windows and their series, the latency log, the totals of the measured span, the
// slowest requests. Every request counts once, wherever it goes. It drives nothing
// and reads no clock.
package account

import (
	"sync"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// mostPending bounds how many windows may gather requests at once. Two do, the
// one that closes and the next; more only when the collector itself was kept
// from running, and the last of them then takes the rest.
const mostPending = 8

// Sink takes the measurements of a run of load; *record.Writer is one. Its errors do not
// end the load; the Collector's Write methods return the first.
type Sink interface {
	Add(points ...series.Point) error
	Counts(step string, kind histogram.Kind, s timebase.Span, c *histogram.Counts) error
	Slow(requests ...record.SlowRequest) error
}

// Collector empties the loops' rings into windows. When a window closes, its times
// become lines of the latency log and are added to the totals. The lock is taken at
// window edges, and by a loop whose ring is full.
//
// A time is recorded once, into the histogram of its window, step and kind;
// everything else follows by adding histograms up at the window's end.
type Collector struct {
	width time.Duration // of a window

	mu      sync.Mutex // of all below
	feeds   []*Feed
	closed  int64     // windows below are closed
	pending []*Window // ascending, none closed
	spare   []*Window
	recent  bin
	log     *intervals
	Totals  *Totals // complete once no request can end anymore
	slow    slowest
	traced  slowest // of those with a Trace
	ended   int64   // requests, warm-up included
}

// bin is where a sample goes that ended within the interval's span.
type bin struct {
	*interval
	window *Window
}

// New returns the collector of a load that begins at start, with windows of the given
// width. names are those of the plan's requests, in order; a nil plan has no checks.
func New(start, width time.Duration, steady timebase.Span, names []string, plan *scenario.Plan) *Collector {
	return &Collector{
		width: width, closed: timebase.Window(start, width),
		log: newIntervals(start, steady, names), Totals: newTotals(steady, names, plan),
	}
}

// Connect adds a loop's feed.
func (c *Collector) Connect(f *Feed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.feeds = append(c.feeds, f)
}

// Empty drains one loop's ring; the loop itself calls it.
func (c *Collector) Empty(f *Feed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drain(f)
}

// drain needs the lock.
func (c *Collector) drain(f *Feed) {
	f.ring.drain(func(s *Sample) { c.take(s) })
}

// take counts one ended request.
func (c *Collector) take(s *Sample) {
	c.ended++
	p := c.recent
	// Nearly all requests end in the same interval as the one before.
	if p.interval == nil || !Within(p.span, s.Done) {
		w := c.window(s.Done)
		p = bin{w.interval(s.Done), w}
		c.recent = p
	}
	p.window.add(s)
	steady := c.Totals.add(s)
	c.log.add(p.interval, s, steady)
	if steady {
		c.slow.add(s)
		if slow := &p.window.slow; slow.Done == 0 || s.latency() > slow.latency() {
			*slow = slowSample{Sample: *s}
		}
		if s.Trace != 0 {
			c.takeTraced(s, p.window)
		}
	}
}

// takeTraced is the part of take for requests that carried a Trace.
func (c *Collector) takeTraced(s *Sample, w *Window) {
	c.traced.add(s)
	if w.traced.Done == 0 || s.latency() > w.traced.latency() {
		w.traced = slowSample{Sample: *s}
	}
}

// window returns the open window of a time; for a late sample, whose own window is
// closed, the first open one.
func (c *Collector) window(t time.Duration) *Window {
	// Windows that were closed are written. A request that a loop handed over late counts in
	// the next one, so that the sum over windows stays right.
	index := max(timebase.Window(t, c.width), c.closed)
	at := len(c.pending)
	for at > 0 && c.pending[at-1].Index >= index {
		at--
	}
	if at < len(c.pending) && c.pending[at].Index == index {
		return c.pending[at]
	}
	// Memory stays bounded, at the expense of the windows' times; the totals are exact
	// nevertheless.
	if len(c.pending) >= mostPending {
		return c.pending[len(c.pending)-1]
	}
	w := c.open(index)
	c.pending = append(c.pending, nil)
	copy(c.pending[at+1:], c.pending[at:])
	c.pending[at] = w
	return w
}

// open returns an empty window.
func (c *Collector) open(index int64) *Window {
	w := &Window{}
	if n := len(c.spare); n > 0 {
		w = c.spare[n-1]
		c.spare = c.spare[:n-1]
	}
	w.reset(index)
	w.intervals = c.log.cut(w.intervals, timebase.WindowSpan(index, c.width))
	return w
}

// close adds a window's times to the totals, shows it to f and hands its
// intervals to the log.
func (c *Collector) close(w *Window, f func(*Window)) {
	for _, i := range w.intervals {
		c.Totals.merge(i)
		c.log.join(i)
	}
	w.Latency, w.service, w.Lag = w.whole(timeLatency), w.whole(timeService), w.whole(timeLag)
	f(w)
	c.log.closed = append(c.log.closed, w.intervals...)
	w.reset(0)
	c.spare = append(c.spare, w)
}

// Edge drains every ring, closes the windows below until, hands them to f in
// order, empty ones included, and returns the edge's readings. f runs under the
// lock and must be brief.
func (c *Collector) Edge(until int64, f func(*Window)) (g Gauges, ended int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.feeds {
		c.drain(f)
		// Read after the ring, so that no request counts as ended but not begun.
		g.Begun += f.begun.Load()
		g.Unsent += f.unsent.Load()
		g.Dials += f.dials.Load()
		g.Open += f.open.Load()
	}
	c.recent = bin{}
	for ; c.closed < until; c.closed++ {
		var w *Window
		if len(c.pending) > 0 && c.pending[0].Index == c.closed {
			w = c.pending[0]
			c.pending = append(c.pending[:0], c.pending[1:]...)
		} else {
			w = c.open(c.closed)
		}
		c.close(w, f)
	}
	return g, c.ended
}

// WriteEnded writes the intervals whose end has passed, and returns the first
// error of sink.
func (c *Collector) WriteEnded(sink Sink, now func() time.Duration) (failed error) {
	for {
		c.mu.Lock()
		full := c.log.ended(now())
		c.mu.Unlock()
		if full == nil {
			return failed
		}
		// Outside of the lock: encoding takes milliseconds, and connections
		// with full rings would wait.
		if err := c.log.write(sink, full); err != nil && failed == nil {
			failed = err
		}
		c.mu.Lock()
		c.log.reuse(full)
		c.mu.Unlock()
	}
}

// WriteLast writes the rest, cut at now, once no request can end anymore, and returns the
// first error of sink.
func (c *Collector) WriteLast(sink Sink, now time.Duration) (failed error) {
	for _, i := range c.log.last(now) {
		if err := c.log.write(sink, i); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// WriteUnfinished writes the ages of requests that never ended, by step, over a
// span, and returns the first error of sink.
func (c *Collector) WriteUnfinished(sink Sink, span timebase.Span) (failed error) {
	for i := range c.Totals.Open.steps {
		t := &c.Totals.Open.steps[i]
		if t.Total() == 0 {
			continue
		}
		if err := sink.Counts(c.log.names[i], histogram.Unfinished, span, &t.Counts); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// SlowestOf returns a window's entries in slow.jsonl: its slowest request, and the slowest
// of those that carried a Trace, whose spans can be found. The caller must hold the lock,
// as Edge's callback does.
func (c *Collector) SlowestOf(w *Window) (slow []Sample) {
	if w.slow.Done > 0 && c.slow.window(&w.slow) {
		slow = append(slow, w.slow.Sample)
		c.traced.wrote(w.slow.ID)
	}
	if w.traced.Done > 0 && w.traced.ID != w.slow.ID && c.traced.window(&w.traced) {
		slow = append(slow, w.traced.Sample)
		c.slow.wrote(w.traced.ID)
	}
	return slow
}

// SlowestLeft returns the slowest requests that are in no window's entry. Call it once no
// request can end anymore.
func (c *Collector) SlowestLeft() (slow []Sample) {
	for _, s := range c.slow.rest() {
		slow = append(slow, s.Sample)
		c.traced.wrote(s.ID)
	}
	for _, s := range c.traced.rest() {
		slow = append(slow, s.Sample)
	}
	return slow
}
