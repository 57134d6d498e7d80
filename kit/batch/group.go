package batch

import (
	"context"
	"runtime/debug"
	"time"
)

// group is items that are written together.
type group[T, R any] struct {
	items   []Item[T, R] // fixed once taken
	written chan struct{}
	timer   *time.Timer // until due; nil without a delay
	due     bool
	taken   bool // by a worker: nothing can be taken back
}

// gather adds an item to the growing group, and returns it with the item's index.
// It is called with the lock held.
func (w *Writer[T, R]) gather(ctx context.Context, value T) (*group[T, R], int) {
	var g *group[T, R]
	if n := len(w.groups); n > 0 && len(w.groups[n-1].items) < w.config.MaxSize {
		g = w.groups[n-1]
	} else {
		g = &group[T, R]{written: make(chan struct{}), due: w.config.MaxDelay == 0}
		g.items = make([]Item[T, R], 0, w.usual)
		if !g.due {
			g.timer = time.AfterFunc(w.config.MaxDelay, func() { w.fallDue(g) })
		}
		w.groups = append(w.groups, g)
	}
	g.items = append(g.items, Item[T, R]{Value: value, Context: ctx})
	at := len(g.items) - 1
	w.dispatch()
	return g, at
}

// fallDue ends the delay of a group.
func (w *Writer[T, R]) fallDue(g *group[T, R]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g.due = true
	w.dispatch()
}

// dispatch starts workers for the groups that are ready. It is called with the lock held.
func (w *Writer[T, R]) dispatch() {
	for w.busy < w.config.Workers {
		g := w.take()
		if g == nil {
			return
		}
		w.busy++
		go w.work(g)
	}
}

// take removes the first group, if it is full, due, or the writer is closed. It is called
// with the lock held.
func (w *Writer[T, R]) take() *group[T, R] {
	if len(w.groups) == 0 {
		return nil
	}
	g := w.groups[0]
	switch {
	case len(g.items) == w.config.MaxSize:
		w.stats.Full++
	case g.due:
		w.stats.Due++
	case w.closed:
		w.stats.Last++
	default:
		return nil
	}
	g.taken = true
	w.usual = len(g.items)
	if g.timer != nil {
		g.timer.Stop()
	}
	w.groups[0] = nil
	w.groups = w.groups[1:]
	return g
}

// work writes a group and those that are ready after it.
func (w *Writer[T, R]) work(g *group[T, R]) {
	finished := false
	defer func() {
		if finished {
			return
		}
		// Flush ended the goroutine, as t.FailNow does: another continues.
		w.mu.Lock()
		defer w.mu.Unlock()
		w.busy--
		w.dispatch()
		w.end()
	}()
	for g != nil {
		w.write(g)
		w.mu.Lock()
		if g = w.take(); g == nil {
			finished = true
			w.busy--
			w.end()
		}
		w.mu.Unlock()
	}
}

// end reports the end of a closed writer with nothing left. It is called with the lock
// held.
func (w *Writer[T, R]) end() {
	if !w.closed || w.busy > 0 || len(w.groups) > 0 {
		return
	}
	select {
	case <-w.ended:
	default:
		close(w.ended)
	}
}

// write hands a group to Flush, and wakes its callers.
func (w *Writer[T, R]) write(g *group[T, R]) {
	// Pointers, so that Flush may sort them: callers read their own items.
	items := make([]*Item[T, R], 0, len(g.items))
	for i := range g.items {
		if !g.items[i].gone {
			items = append(items, &g.items[i])
		}
	}
	defer func() {
		close(g.written)
		for range g.items {
			<-w.room
		}
	}()
	if len(items) == 0 {
		return
	}
	w.mu.Lock()
	w.stats.Groups++
	w.stats.Items += int64(len(items))
	w.mu.Unlock()
	w.flush(items)
}

// flush calls Flush, and stores its error, or that of its panic, in the items.
func (w *Writer[T, R]) flush(items []*Item[T, R]) {
	// A copy, because Flush may change the slice.
	own := append([]*Item[T, R](nil), items...)
	var err error
	returned := false
	defer func() {
		if !returned {
			err = &PanicError{Value: recover(), Stack: debug.Stack()}
			w.mu.Lock()
			w.stats.Panics++
			w.mu.Unlock()
		}
		if err == nil {
			return
		}
		for _, item := range own {
			if item.Err == nil {
				item.Err = err
			}
		}
	}()
	ctx := w.ctx
	if w.config.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.config.Timeout)
		defer cancel()
	}
	err = w.config.Flush(ctx, items)
	returned = true
}
