package anatomy

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/record/breakdown"
)

// Bounds of what the logs of operations may say.
const (
	maxOperation  = 1 << 16 // an operation's number
	maxNested     = 8       // operations of one goroutine at a time
	maxOperations = 1 << 12 // of one request that are counted
	maxSpent      = 1 << 10 // operations and states of one request
)

// operationID is the number of an operation; 0 is none.
type operationID int32

// operation takes a log of the probe's hooks: "b KIND ID STACK" where an operation
// begins on a goroutine, "e ID STACK" where it ends. What a trace says is not trusted:
// another form is left out.
func (t *tracker) operation(ev trace.Event, message string) {
	g := t.goroutines.byID[ev.Goroutine()]
	if g == nil || len(message) > 32 {
		return
	}
	state := g.state
	if g.assist {
		state = assist
	}
	g.account(ev.Time(), state)
	words := strings.Fields(message)
	switch {
	case len(words) == 4 && words[0] == "b":
		if id := operationOf(words[2]); id != 0 {
			if len(g.operations) < maxNested {
				g.operations = append(g.operations, id)
			}
			if c, _ := g.request(); c != nil && len(c.operations) < maxOperations {
				c.operations = append(c.operations, id)
			}
		}
	case len(words) == 3 && words[0] == "e":
		// Rows are closed when they are: what ends is not always the innermost.
		for i := len(g.operations) - 1; i >= 0; i-- {
			if g.operations[i] == operationOf(words[1]) {
				g.operations = slices.Delete(g.operations, i, i+1)
				return
			}
		}
	}
}

func operationOf(word string) operationID {
	n, err := strconv.Atoi(word)
	if err != nil || n <= 0 || n >= maxOperation {
		return 0
	}
	return operationID(n)
}

// doingFor returns the innermost operation that a goroutine is within.
func (g *goroutine) doingFor() operationID {
	if n := len(g.operations); n > 0 {
		return g.operations[n-1]
	}
	return 0
}

// spent is time of a request within an operation, in one state.
type spent struct {
	operation operationID
	state     stateID
	took      time.Duration
}

// account gives the goroutine's time up to t to the operation that it is within and to
// the request that it serves or helps with.
func (g *goroutine) account(t trace.Time, state stateID) {
	from := max(g.since, g.accounted)
	g.accounted = t
	op := g.doingFor()
	if op == 0 || t <= from {
		return
	}
	c, _ := g.request()
	if c == nil {
		return
	}
	took := t.Sub(from)
	for i := len(c.spent) - 1; i >= 0; i-- {
		if s := &c.spent[i]; s.operation == op && s.state == state {
			s.took += took
			return
		}
	}
	if len(c.spent) < maxSpent {
		c.spent = append(c.spent, spent{op, state, took})
	}
}

// perRequest sums up how often requests began an operation, and how long they were
// within it.
type perRequest struct {
	calls, most, requests    int64
	running, queued, waiting time.Duration
}

// countOperations adds the operations of one whole request.
func (a *collector) countOperations(c *conn) {
	if len(c.operations)+len(c.spent) == 0 {
		return
	}
	for _, s := range c.spent {
		p := a.operations[s.operation]
		switch s.state {
		case running, assist:
			p.running += s.took
		case runnable, stopped:
			p.queued += s.took
		default:
			p.waiting += s.took
		}
		a.operations[s.operation] = p
	}
	own := map[operationID]int64{}
	for _, id := range c.operations {
		own[id]++
	}
	for id, n := range own {
		p := a.operations[id]
		p.calls, p.most, p.requests = p.calls+n, max(p.most, n), p.requests+1
		a.operations[id] = p
	}
}

// perRequests returns the counts per request, the largest first.
func (a *collector) perRequests() []breakdown.OperationsPerRequest {
	var list []breakdown.OperationsPerRequest
	for _, id := range slices.Sorted(maps.Keys(a.operations)) {
		p, n := a.operations[id], time.Duration(len(a.requests))
		list = append(list, breakdown.OperationsPerRequest{
			Operation: int(id), Mean: float64(p.calls) / float64(n), Max: p.most, Requests: p.requests,
			RunningNS: int64(p.running / n), QueuedNS: int64(p.queued / n), WaitingNS: int64(p.waiting / n),
		})
	}
	slices.SortStableFunc(list, func(x, y breakdown.OperationsPerRequest) int { return cmp.Compare(y.Mean, x.Mean) })
	return list
}
