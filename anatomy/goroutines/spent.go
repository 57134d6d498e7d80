package goroutines

import (
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
)

// maxSpent bounds the operations and states of one request.
const maxSpent = 1 << 10

// Operation is the number of an operation; 0 is none.
type Operation int32

// doingFor returns the innermost operation of a goroutine.
func (g *Goroutine) doingFor() Operation {
	if n := len(g.Operations); n > 0 {
		return g.Operations[n-1]
	}
	return 0
}

// Spent is time of a request within an operation, in one state.
type Spent struct {
	Operation Operation
	State     interned.State
	Took      time.Duration
}

// Account adds the goroutine's time up to t to its current operation and to the request
// that it serves or helps with.
func (g *Goroutine) Account(t trace.Time, state interned.State) {
	from := max(g.since, g.accounted)
	g.accounted = t
	op := g.doingFor()
	if op == 0 || t <= from {
		return
	}
	c, _ := g.Request()
	if c == nil {
		return
	}
	took := t.Sub(from)
	for i := len(c.Spent) - 1; i >= 0; i-- {
		if s := &c.Spent[i]; s.Operation == op && s.State == state {
			s.Took += took
			return
		}
	}
	if len(c.Spent) < maxSpent {
		c.Spent = append(c.Spent, Spent{op, state, took})
	}
}
