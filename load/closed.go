package load

import (
	"context"
	"sync"
	"time"
)

// driveClosed runs a closed loop until the load's end or until loading ends,
// and returns when every connection has ended its last request, or was cut off.
func (r *run) driveClosed(ctx context.Context) {
	var all sync.WaitGroup
	for i := range r.pace.most() {
		c := r.connect(i)
		all.Go(func() { c.loop(ctx) })
	}
	all.Wait()
}

// loop is one connection of a closed loop. Its next request is intended when
// the last one ended or when its connection is open, so that what the
// generator takes in between is schedule lag.
func (c *connection) loop(ctx context.Context) {
	r := c.run
	for id := int64(c.id); ; id += int64(r.width) {
		free := c.x.Done // of the last request
		if c.backoff > 0 || free == 0 {
			free = r.clock.Now()
		}
		at, ok := r.pace.active(c.id, max(0, free-r.start))
		if !ok || ctx.Err() != nil {
			break
		}
		if at += r.start; at > free {
			if !sleep(ctx, at-r.clock.Now()) {
				break
			}
			free = max(at, r.clock.Now())
		}
		if !c.perform(ctx, id, free, free, false) {
			return
		}
	}
}

// sleep returns false when ctx ends before d has passed.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
