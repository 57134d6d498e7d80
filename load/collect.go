package load

import (
	"sync"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// mostPending bounds how many windows may gather requests at once. Two do, the
// one that closes and the next; more only when the collector itself was kept
// from running, and the last of them then takes the rest.
const mostPending = 8

// collector empties the loops' rings into windows, whose times become
// lines of the latency log and are added to the totals when they close. Its
// lock is taken at window edges, and by a loop whose ring is full.
//
// A time is recorded once, into the histogram of its window, step and kind;
// everything else follows by adding histograms up at the window's end.
type collector struct {
	run *run

	mu      sync.Mutex // of all below
	feeds   []*feed
	closed  int64     // windows below are closed
	pending []*window // ascending, none closed
	spare   []*window
	recent  bin
	log     *intervals
	totals  *totals
	slow    slowest
	traced  slowest // of those with a Trace
	ended   int64   // requests, warm-up included
}

// bin is where a sample goes that ended within the interval's span.
type bin struct {
	*interval
	window *window
}

func newCollector(r *run, steps []string) *collector {
	return &collector{
		run: r, closed: timebase.Window(r.start, r.Window),
		log: newIntervals(r.start, r.steady, steps), totals: newTotals(r.steady, steps, r.Plan),
	}
}

// connect adds a loop's feed.
func (c *collector) connect(f *feed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.feeds = append(c.feeds, f)
}

// empty drains one loop's ring; the loop itself calls it.
func (c *collector) empty(f *feed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drain(f)
}

// drain needs the lock.
func (c *collector) drain(f *feed) {
	f.ring.drain(func(s *sample) { c.take(s) })
}

// take counts one ended request.
func (c *collector) take(s *sample) {
	c.ended++
	p := c.recent
	if p.interval == nil || !within(p.span, s.done) {
		w := c.window(s.done)
		p = bin{w.interval(s.done), w}
		c.recent = p
	}
	p.window.add(s)
	steady := c.totals.add(s)
	c.log.add(p.interval, s, steady)
	if steady {
		c.slow.add(s)
		if slow := &p.window.slow; slow.done == 0 || s.latency() > slow.latency() {
			*slow = slowSample{sample: *s}
		}
		if s.trace != 0 {
			c.takeTraced(s, p.window)
		}
	}
}

// takeTraced is the part of take for requests that carried a Trace.
func (c *collector) takeTraced(s *sample, w *window) {
	c.traced.add(s)
	if w.traced.done == 0 || s.latency() > w.traced.latency() {
		w.traced = slowSample{sample: *s}
	}
}

// window returns the open window of a time: for a sample that comes late, its
// own window being closed, the first.
func (c *collector) window(t time.Duration) *window {
	index := max(timebase.Window(t, c.run.Window), c.closed)
	at := len(c.pending)
	for at > 0 && c.pending[at-1].index >= index {
		at--
	}
	if at < len(c.pending) && c.pending[at].index == index {
		return c.pending[at]
	}
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
func (c *collector) open(index int64) *window {
	w := &window{}
	if n := len(c.spare); n > 0 {
		w = c.spare[n-1]
		c.spare = c.spare[:n-1]
	}
	w.reset(index)
	w.intervals = c.log.cut(w.intervals, timebase.WindowSpan(index, c.run.Window))
	return w
}

// close adds a window's times to the totals, shows it to f and hands its
// intervals to the log.
func (c *collector) close(w *window, f func(*window)) {
	for _, i := range w.intervals {
		c.totals.merge(i)
		c.log.join(i)
	}
	w.latency, w.service, w.lag = w.whole(timeLatency), w.whole(timeService), w.whole(timeLag)
	f(w)
	c.log.closed = append(c.log.closed, w.intervals...)
	w.reset(0)
	c.spare = append(c.spare, w)
}

// edge drains every ring, closes the windows below until, hands them to f in
// order, empty ones included, and returns the edge's readings. f runs under the
// lock and must be brief.
func (c *collector) edge(until int64, f func(*window)) (g gauges, ended int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.feeds {
		c.drain(f)
		// Read after the ring, so that no request counts as ended and not begun.
		g.begun += f.begun.Load()
		g.unsent += f.unsent.Load()
		g.dials += f.dials.Load()
		g.open += f.open.Load()
	}
	c.recent = bin{}
	for ; c.closed < until; c.closed++ {
		var w *window
		if len(c.pending) > 0 && c.pending[0].index == c.closed {
			w = c.pending[0]
			c.pending = append(c.pending[:0], c.pending[1:]...)
		} else {
			w = c.open(c.closed)
		}
		c.close(w, f)
	}
	return g, c.ended
}
