package deadline

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// WithTimeout is WithDeadline(parent, time.Now().Add(limit)).
func WithTimeout(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return WithDeadline(parent, time.Now().Add(limit))
}

// WithDeadline returns a context below parent that ends at the given time, when parent
// ends, or when cancel is called, whichever is first. Like that of the standard library,
// cancel should be called as soon as the work is done, may be called again, and from any
// goroutine. It panics if parent is nil.
func WithDeadline(parent context.Context, at time.Time) (ctx context.Context, cancel context.CancelFunc) {
	if parent == nil {
		panic("deadline: parent is nil")
	}
	var l *layer
	if above, base := nearest(parent); above != nil {
		l = &layer{chain: above.chain, above: above, depth: above.depth + 1, values: above.values, at: at}
		if parent != context.Context(above) {
			l.values = parent
		}
		if above.at.Before(at) {
			l.at = above.at
		}
		if !above.extended.Load() {
			above.extended.Store(true)
		}
	} else {
		first := &struct {
			layer
			chain
		}{}
		first.base = base
		l = &first.layer
		l.chain, l.values, l.at = &first.chain, parent, at
		if limit, ok := parent.Deadline(); ok && limit.Before(at) {
			l.at = limit
		}
	}
	return l, func() { l.end(cancelled) }
}

// layer is a context of this package.
type layer struct {
	chain  *chain
	above  *layer          // nil for the first of a chain
	depth  int             // layers above
	values context.Context // the next context above that may hold values
	at     time.Time       // the soonest limit of this layer and of all above

	// ending is why the layer has ended, once anyone noticed.
	ending   atomic.Pointer[ending]
	extended atomic.Bool // there are or were layers below
	done     atomic.Pointer[chan struct{}]

	// For a layer that is waited on; guarded by the chain's lock.
	timer *time.Timer
	index int // in chain.waited
	after map[*func()]struct{}
}

var _ context.Context = (*layer)(nil)

// chain is what directly nested layers share.
type chain struct {
	base context.Context // the parent of the first layer

	mu     sync.Mutex
	waited []*layer // whose Done was called, and which have not ended
	count  atomic.Int32
	stop   func() bool // ends the registration with base
}

// ending is a reason, as Err reports it.
type ending struct{ err error }

var (
	cancelled = &ending{context.Canceled}
	expired   = &ending{context.DeadlineExceeded}
)

// Deadline returns the soonest limit of the layer and of all above it.
func (l *layer) Deadline() (time.Time, bool) { return l.at, true }

// Value looks above: a layer has no values of its own.
func (l *layer) Value(key any) any { return l.values.Value(key) }

// String names the context, without reading fields that other goroutines change.
func (l *layer) String() string { return "deadline.WithDeadline(" + l.at.String() + ")" }

// Err returns why the context has ended, nil if it has not.
func (l *layer) Err() error {
	e := l.look()
	if e == nil {
		return nil
	}
	l.end(e)
	// An error promises that Done is closed: another goroutine may be about to.
	if done := l.done.Load(); done != nil {
		<-*done
	}
	return l.ending.Load().err
}

// look finds out whether the layer has ended. If nobody waits, nothing else does.
func (l *layer) look() *ending {
	for a := l; a != nil; a = a.above {
		if e := a.ending.Load(); e != nil {
			return e
		}
	}
	if err := l.chain.base.Err(); err != nil {
		return &ending{err}
	}
	// A layer with waiters has a timer, and Err must not run ahead of it.
	if l.done.Load() == nil && !time.Now().Before(l.at) {
		return expired
	}
	return nil
}

// Done returns a channel that is closed when the context ends.
func (l *layer) Done() <-chan struct{} {
	if done := l.done.Load(); done != nil {
		return *done
	}
	c := l.chain
	c.mu.Lock()
	if done := l.done.Load(); done != nil {
		c.mu.Unlock()
		return *done
	}
	// Subtleness ahead: the layer must be among the waited before it looks whether it has
	// ended, and end marks a layer before it looks at the waited. One sees the other.
	fresh := make(chan struct{})
	l.done.Store(&fresh)
	left := time.Until(l.at)
	l.index = len(c.waited)
	c.waited = append(c.waited, l)
	c.count.Add(1)
	e := l.look()
	if e == nil && left <= 0 {
		e = expired
	}
	if e != nil {
		l.ending.CompareAndSwap(nil, e)
		c.wake(l, nil)
	} else {
		l.timer = time.AfterFunc(left, func() { l.end(expired) })
		if c.stop == nil && c.base.Done() != nil {
			c.stop = context.AfterFunc(c.base, c.baseEnded)
		}
	}
	c.mu.Unlock()
	return fresh
}

// end marks the layer ended, and those below it that are waited on. The first reason
// stays.
func (l *layer) end(why *ending) {
	if !l.ending.CompareAndSwap(nil, why) {
		return
	}
	c := l.chain
	if c.count.Load() == 0 {
		return
	}
	c.mu.Lock()
	var after []func()
	if l.extended.Load() {
		for i := len(c.waited) - 1; i >= 0; i-- {
			if w := c.waited[i]; w.below(l) {
				w.ending.CompareAndSwap(nil, why)
				after = c.wake(w, after)
			}
		}
	} else if l.isWaited() {
		after = c.wake(l, after)
	}
	c.mu.Unlock()
	for _, f := range after {
		f()
	}
}

// below reports whether the layer is l or below it.
func (w *layer) below(l *layer) bool {
	for w.depth > l.depth {
		w = w.above
	}
	return w == l
}

// isWaited is called with the lock held.
func (l *layer) isWaited() bool {
	return l.index < len(l.chain.waited) && l.chain.waited[l.index] == l
}

// wake ends the wait on a layer that was marked ended, and adds what is to be called
// without the lock. It is called with the lock held.
func (c *chain) wake(w *layer, after []func()) []func() {
	last := len(c.waited) - 1
	c.waited[w.index] = c.waited[last]
	c.waited[w.index].index = w.index
	c.waited[last] = nil
	c.waited = c.waited[:last]
	c.count.Add(-1)
	if w.timer != nil {
		w.timer.Stop()
	}
	if last == 0 && c.stop != nil {
		c.stop()
		c.stop = nil
	}
	close(*w.done.Load())
	for f := range w.after {
		after = append(after, *f)
	}
	w.after = nil
	return after
}

// baseEnded ends all layers that are waited on.
func (c *chain) baseEnded() {
	why := &ending{c.base.Err()}
	c.mu.Lock()
	var after []func()
	for len(c.waited) > 0 {
		w := c.waited[len(c.waited)-1]
		w.ending.CompareAndSwap(nil, why)
		after = c.wake(w, after)
	}
	c.mu.Unlock()
	for _, f := range after {
		f()
	}
}

// AfterFunc calls f once the context has ended, and returns a function that prevents
// that. The standard library looks for this method, and needs no goroutine to wait for
// a context that has it. f is called by whoever ends the context, and must return
// soon.
func (l *layer) AfterFunc(f func()) (stop func() bool) {
	l.Done()
	c := l.chain
	c.mu.Lock()
	if !l.isWaited() {
		c.mu.Unlock()
		go f()
		return func() bool { return false }
	}
	if l.after == nil {
		l.after = map[*func()]struct{}{}
	}
	key := &f
	l.after[key] = struct{}{}
	c.mu.Unlock()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, pending := l.after[key]
		delete(l.after, key)
		return pending
	}
}
