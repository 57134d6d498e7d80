// Package bulletin publishes notices to whoever waits for them.
package bulletin

import (
	"context"
	"sync"
	"time"
)

// Notice is a change of a signal.
type Notice struct {
	Number uint64    `json:"number"`
	Aspect string    `json:"aspect"`
	Signal int       `json:"signal"`
	At     time.Time `json:"at"`
}

// Bulletin is the latest notice.
type Bulletin struct {
	mu     sync.Mutex
	change *sync.Cond
	latest Notice
}

// New makes an empty bulletin.
func New() *Bulletin {
	b := &Bulletin{latest: Notice{Number: 1}}
	b.change = sync.NewCond(&b.mu)
	return b
}

// Publish puts a notice up.
func (b *Bulletin) Publish(aspect string, signal int) {
	b.mu.Lock()
	b.latest = Notice{b.latest.Number + 1, aspect, signal, time.Now()}
	b.mu.Unlock()
	b.change.Broadcast()
}

// Current returns the latest notice.
func (b *Bulletin) Current() Notice {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.latest
}

// After waits for a notice with a higher number.
func (b *Bulletin) After(ctx context.Context, number uint64) (Notice, bool) {
	defer context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.change.Broadcast()
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.latest.Number <= number {
		if ctx.Err() != nil {
			return Notice{}, false
		}
		b.change.Wait()
	}
	return b.latest, true
}
