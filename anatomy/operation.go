package anatomy

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
)

// Bounds on the logs of operations.
const (
	maxOperation  = 1 << 16 // an operation's number
	maxNested     = 8       // operations of one goroutine at a time
	maxOperations = 1 << 12 // of one request that are counted
)

// operation takes a log of the probe's hooks: "b KIND ID STACK" where an operation begins
// on a goroutine, "e ID STACK" where it ends. A trace is untrusted: any other form is
// ignored.
func (t *tracker) operation(ev trace.Event, message string) {
	g := t.goroutines.ByID[ev.Goroutine()]
	if g == nil || len(message) > 32 {
		return
	}
	state := g.State
	if g.Assist {
		state = interned.Assist
	}
	g.Account(ev.Time(), state)
	words := strings.Fields(message)
	switch {
	case len(words) == 4 && words[0] == "b":
		if id := operationOf(words[2]); id != 0 {
			if len(g.Operations) < maxNested {
				g.Operations = append(g.Operations, id)
			}
			if c, _ := g.Request(); c != nil && len(c.Operations) < maxOperations {
				c.Operations = append(c.Operations, id)
			}
		}
	case len(words) == 3 && words[0] == "e":
		// Rows may be closed at any time: the operation that ends is not always the innermost.
		for i := len(g.Operations) - 1; i >= 0; i-- {
			if g.Operations[i] == operationOf(words[1]) {
				g.Operations = slices.Delete(g.Operations, i, i+1)
				return
			}
		}
	}
}

func operationOf(word string) goroutines.Operation {
	n, err := strconv.Atoi(word)
	if err != nil || n <= 0 || n >= maxOperation {
		return 0
	}
	return goroutines.Operation(n)
}
