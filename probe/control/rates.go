package control

import (
	"runtime"
	"sync"
)

// rates remembers what the sampling rates were before redline set them.
type rates struct {
	mu      sync.Mutex
	mutex   int
	changed map[string]bool
}

// set sets a rate and returns the previous one, -1 if the runtime does not report it.
func (r *rates) set(kind string, rate int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(map[string]bool)
	}
	first := !r.changed[kind]
	r.changed[kind] = true
	if kind == "block" {
		runtime.SetBlockProfileRate(rate)
		return -1
	}
	before := runtime.SetMutexProfileFraction(rate)
	if first {
		r.mutex = before
	}
	return before
}

// restore restores the mutex fraction, and turns the block profile off if
// redline turned it on: the runtime does not report what its rate was.
func (r *rates) restore() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed["mutex"] {
		runtime.SetMutexProfileFraction(r.mutex)
	}
	if r.changed["block"] {
		runtime.SetBlockProfileRate(0)
	}
	r.changed = nil
}
