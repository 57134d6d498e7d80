package anatomy

import (
	"fmt"

	"github.com/redline-go/redline/anatomy/bounded"
)

// Bounds on what is alive at once in a trace; the reader and the tracker keep some 500
// bytes for each.
const (
	maxGoroutines = 500_000
	maxAlive      = 200_000 // tasks, and processors
)

// alive counts what only the reader keeps.
type alive struct{ tasks, processors int }

// crowd returns what there is too much of, nil if nothing.
func (t *tracker) crowd() error {
	switch {
	case len(t.goroutines.ByID) > maxGoroutines:
		return bounded.Beyond{What: fmt.Sprintf("its first %d goroutines", maxGoroutines)}
	case t.alive.tasks > maxAlive:
		return bounded.Beyond{What: fmt.Sprintf("its first %d tasks", maxAlive)}
	case t.alive.processors > maxAlive:
		return bounded.Beyond{What: fmt.Sprintf("its first %d processors", maxAlive)}
	}
	return nil
}
