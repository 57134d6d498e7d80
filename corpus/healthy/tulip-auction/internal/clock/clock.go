// Package clock has clocks whose price falls until somebody buys.
package clock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// State is what a clock shows. A state is never changed once it is shown.
type State struct {
	Clock int       `json:"clock"`
	Lot   int       `json:"lot"`
	Cents int       `json:"cents"`
	Since time.Time `json:"since"`
}

// Clock is one of a house.
type Clock struct {
	no    int
	state atomic.Pointer[State]

	mu   sync.Mutex
	next chan struct{} // closed when a lot begins
}

// State returns what the clock shows.
func (c *Clock) State() *State { return c.state.Load() }

// Next returns a channel that is closed when the next lot begins.
func (c *Clock) Next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next
}

// Buy ends the lot if the clock still shows it.
func (c *Clock) Buy(seen *State) bool {
	lot := &State{c.no, seen.Lot + 1, 100, time.Now()}
	if !c.state.CompareAndSwap(seen, lot) {
		return false
	}
	c.mu.Lock()
	close(c.next)
	c.next = make(chan struct{})
	c.mu.Unlock()
	return true
}

func (c *Clock) run(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			old := c.State()
			s := *old
			if s.Cents--; s.Cents <= 0 {
				s.Cents = 100
			}
			c.state.CompareAndSwap(old, &s) // or it was bought
		}
	}
}

// House has all clocks.
type House struct{ clocks []*Clock }

// Open starts n clocks.
func Open(ctx context.Context, n int) *House {
	h := &House{make([]*Clock, n)}
	for i := range h.clocks {
		c := &Clock{no: i, next: make(chan struct{})}
		c.state.Store(&State{i, 1, 100, time.Now()})
		h.clocks[i] = c
		go c.run(ctx)
	}
	return h
}

// Clock returns a clock, or nil.
func (h *House) Clock(i int) *Clock {
	if i < 0 || i >= len(h.clocks) {
		return nil
	}
	return h.clocks[i]
}
