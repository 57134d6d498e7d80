package live

import (
	"context"
	"sync"
	"time"
)

// mostViewers bounds the pages that watch at once.
const mostViewers = 64

// polled is how long a viewer that asks again and again counts as one that watches.
const polled = 3 * time.Second

// viewers are the browsers' pages, by the name that each got with its page.
type viewers struct {
	mu      sync.Mutex
	byName  map[string]*viewer
	changed chan struct{}
	dropped int // did not read
}

type viewer struct {
	connections int
	asked       time.Time // its last connection
	seen        int64     // the last event that was written to it
	served      bool      // it has the report
}

func newViewers() *viewers {
	return &viewers{byName: map[string]*viewer{}, changed: make(chan struct{})}
}

// enter counts a connection; false if there are too many.
func (v *viewers) enter(name string, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for known, w := range v.byName {
		if w.connections == 0 && now.Sub(w.asked) > polled {
			delete(v.byName, known)
		}
	}
	w := v.byName[name]
	if w == nil {
		if len(v.byName) >= mostViewers {
			return false
		}
		w = &viewer{}
		v.byName[name] = w
	}
	w.connections++
	w.asked = now
	return true
}

// update changes what is known of a viewer and wakes who waits for it.
func (v *viewers) update(name string, f func(*viewer)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w := v.byName[name]; w != nil {
		f(w)
	}
	close(v.changed)
	v.changed = make(chan struct{})
}

// any reports whether somebody watches.
func (v *viewers) any(now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.byName {
		if w.watches(now) {
			return true
		}
	}
	return false
}

// watches reports whether the viewer is connected, or was a moment ago.
func (w *viewer) watches(now time.Time) bool { return w.connections > 0 || now.Sub(w.asked) < polled }

// await returns once every viewer has the event, and the report if there is one, or has gone; or when the
// context ends.
func (v *viewers) await(ctx context.Context, event int64, report bool, now func() time.Time) {
	for {
		v.mu.Lock()
		waits := false
		for _, w := range v.byName {
			heard := w.seen >= event // with which a page closes its stream: one that is to fetch the report need not be connected
			waits = waits || !heard && w.watches(now()) || heard && report && !w.served
		}
		changed := v.changed
		v.mu.Unlock()
		if !waits {
			return
		}
		select {
		case <-changed:
		case <-time.After(polled): // one that goes away changes nothing
		case <-ctx.Done():
			return
		}
	}
}
