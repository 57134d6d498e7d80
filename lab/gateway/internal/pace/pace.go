// Package pace lets calls through at an even rate by sleeping until the next
// free slot: the limiter that a service gets after an incident, "to protect the
// database", and keeps.
package pace

import (
	"sync"
	"time"
)

// Pacer spaces calls evenly. A nil Pacer lets everything through.
type Pacer struct {
	interval time.Duration

	mu   sync.Mutex
	next time.Time
}

// New returns a pacer of perSecond calls; 0 or less is nil, no pacing.
func New(perSecond float64) *Pacer {
	if perSecond <= 0 {
		return nil
	}
	return &Pacer{interval: time.Duration(float64(time.Second) / perSecond)}
}

// Take waits for the next slot.
func (p *Pacer) Take() {
	if p == nil {
		return
	}
	time.Sleep(p.reserve(time.Now()))
}

// reserve takes the next slot and returns how long it is until then. Slots
// that nobody took are not saved up.
func (p *Pacer) reserve(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	slot := now
	if p.next.After(now) {
		slot = p.next
	}
	p.next = slot.Add(p.interval)
	return slot.Sub(now)
}
