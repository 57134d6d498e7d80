// Package ledger guards reads against half-written orders, in one of two ways.
//
// The locked ledger holds one lock of the process across each read and write,
// the database's round trips included: the guard of services that were written
// before they had transactions. The other leaves the guarding to PostgreSQL,
// where every read sees committed orders only.
package ledger

import "sync"

// Ledger runs reads and writes. The zero Ledger does not lock.
type Ledger struct {
	locked bool
	mu     sync.Mutex
}

// New returns a ledger that locks, or one that does not.
func New(locked bool) *Ledger { return &Ledger{locked: locked} }

// Do runs f, which reads or writes one user's orders.
func (l *Ledger) Do(f func() error) error {
	if l.locked {
		l.mu.Lock()
		defer l.mu.Unlock()
	}
	return f()
}
