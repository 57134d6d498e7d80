package load

import (
	"sync"
	"time"

	"github.com/redline-go/redline/record"
)

// mostPending bounds how many windows may gather requests at once. Two do, the
// one that closes and the next; more only when the collector itself was kept
// from running, and the last of them then takes the rest.
const mostPending = 8

// collector empties the connections' rings into windows, intervals of the
// latency log and totals. Its lock is taken at window edges, and by a
// connection whose ring is full.
type collector struct {
	run *run

	mu      sync.Mutex // of all below
	feeds   []*feed
	closed  int64     // windows below are closed
	pending []*window // ascending, none closed
	spare   []*window
	log     *intervals
	totals  *totals
	slow    slowest
	ended   int64 // requests, warm-up included
}

func newCollector(r *run, steps []string) *collector {
	return &collector{
		run: r, closed: record.Window(r.start, r.Window),
		log: newIntervals(r.start, r.steady, steps), totals: newTotals(r.steady),
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
	f.ring.drain(func(s *sample) {
		c.ended++
		w := c.window(s.done)
		w.add(s)
		c.log.add(s)
		if c.totals.add(s) {
			c.slow.add(s, int(s.connection))
			if s.latency() >= w.slow.latency() {
				w.slow = slowSample{sample: *s, connection: int(s.connection)}
			}
		}
	})
}

// window returns the open window of a time: for a sample that comes late, its
// own window being closed, the first.
func (c *collector) window(t time.Duration) *window {
	index := max(record.Window(t, c.run.Window), c.closed)
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
	w := newWindowFrom(&c.spare)
	w.reset(index)
	c.pending = append(c.pending, nil)
	copy(c.pending[at+1:], c.pending[at:])
	c.pending[at] = w
	return w
}

func newWindowFrom(spare *[]*window) *window {
	if n := len(*spare); n > 0 {
		w := (*spare)[n-1]
		*spare = (*spare)[:n-1]
		return w
	}
	return newWindow()
}

// edge drains every ring, closes the windows below until, hands them to f in
// order, empty ones included, and returns what the edge saw. f runs under the
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
	for ; c.closed < until; c.closed++ {
		var w *window
		if len(c.pending) > 0 && c.pending[0].index == c.closed {
			w = c.pending[0]
			c.pending = append(c.pending[:0], c.pending[1:]...)
		} else {
			w = newWindowFrom(&c.spare)
			w.reset(c.closed)
		}
		f(w)
		c.spare = append(c.spare, w)
	}
	return g, c.ended
}
