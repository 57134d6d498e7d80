// Package pace spreads what programs of the depot do over time.
package pace

import (
	"sync"
	"time"
)

// Pacer lets callers pass one by one, so many a second.
type Pacer struct {
	mu    sync.Mutex
	next  time.Time
	every time.Duration
}

// PerSecond makes a pacer. Zero or less lets all pass.
func PerSecond(n int) *Pacer {
	if n <= 0 {
		return &Pacer{}
	}
	return &Pacer{every: time.Second / time.Duration(n)}
}

// Pass returns when it is the caller's turn.
func (p *Pacer) Pass() {
	if p.every == 0 {
		return
	}
	p.mu.Lock()
	now := time.Now()
	at := p.next
	if at.Before(now) {
		at = now
	}
	p.next = at.Add(p.every)
	p.mu.Unlock()
	time.Sleep(at.Sub(now))
}
