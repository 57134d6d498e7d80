package pool

import "time"

// Stats is what a pool has done since it was made, and what it holds now.
type Stats struct {
	// Gets counts calls of Get, Reused those that got a connection that had been lent
	// before or was idle.
	Gets, Reused int64
	// Dialed counts dials that succeeded, DialErrors those that failed, Breaks how often
	// the breaker stopped them, Refused the callers that were refused because of it.
	Dialed, DialErrors, Breaks, Refused int64
	// Waits counts callers who found no idle connection, WaitTime their time until they
	// got one or an error, GaveUp those whose context or MaxWait ended first.
	Waits, GaveUp int64
	WaitTime      time.Duration
	// Checks counts checks of idle connections.
	Checks int64
	// Closed connections by reason: too long idle, too old, discarded by the borrower,
	// a failed check, beyond MaxIdle, the pool closed.
	ClosedIdle, ClosedLifetime, ClosedBroken, ClosedUnsound, ClosedSurplus, ClosedShutdown int64
	// CloseErrors counts calls of Close that returned an error or panicked.
	CloseErrors int64
	// Open are the connections now: idle, on loan, being dialled or being closed; Idle
	// those that anybody may get at once; Waiting the callers in the queue.
	Open, Idle, Waiting int
}

// reason is why a connection is closed.
type reason int

const (
	none reason = iota
	unused
	lifetime
	broken
	unsound
	surplus
	shutdown
	reasons // how many
)

// Reuse is the share of Gets that needed no dial, from 0 to 1; 0 before the first.
func (s Stats) Reuse() float64 {
	if s.Gets == 0 {
		return 0
	}
	return float64(s.Reused) / float64(s.Gets)
}

// Stats returns a consistent snapshot of the counters.
func (p *Pool[C]) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.ClosedIdle, s.ClosedLifetime, s.ClosedBroken = p.dropped[unused], p.dropped[lifetime], p.dropped[broken]
	s.ClosedUnsound, s.ClosedSurplus, s.ClosedShutdown = p.dropped[unsound], p.dropped[surplus], p.dropped[shutdown]
	s.Open, s.Idle, s.Waiting = p.open, len(p.idle), p.waiters.len
	return s
}
