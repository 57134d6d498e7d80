// Package goroutines follows what each goroutine does over a trace: its stretches in one
// state, the requests that it serves, and its past, by which the waits of others are
// divided. It is driven by its caller, and reads no events.
package goroutines

import (
	"cmp"
	"slices"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
)

// Goroutine is the state of one goroutine: what it does, what it did last, and the requests
// that it serves.
type Goroutine struct {
	ID    trace.GoID
	Entry interned.Name // the function it began in; 0 while unknown
	Dead  bool

	State  interned.State
	since  trace.Time
	Stack  interned.Stack // of the current state, 0 when it has none
	Assist bool           // inside a mark assist
	Stops  bool           // stops the world itself
	Calls  interned.Stack // for it, if the program does; 0 if the runtime does

	Born    trace.Time // 0 if it began before the trace
	Creator trace.GoID
	Started interned.Stack // the go statement, where a request or its helper ran it; else 0
	past    history

	Operations []Operation // that it is within, innermost last
	accounted  trace.Time  // up to when its time is given to operations

	Conn   *Conn // nil unless it serves requests, or may turn out to
	Served bool  // Conn was dropped: its later stacks belong to no request
	Within *Conn // the request in which it or its creator was started
	Serial int   // of that request on Within

	fed     bool        // what it does since it was last woken follows from a request
	serving *Serving    // nil unless requests wait for it
	ran     []CPUSample // its last CPU samples
}

// Ended is who ended a wait, and with which stack.
type Ended struct {
	Stack interned.Stack
	By    trace.GoID // 0 if no goroutine did
	// Stopped is the call that had the world stopped until then, if the wait was for it to start and the program
	// called; 0 otherwise.
	Stopped interned.Stack
}

// Stay closes the current segment at t and opens one in the same state.
func (g *Goroutine) Stay(t trace.Time, e Ended, f *Follower) {
	if t <= g.since {
		return
	}
	state, stack := g.doing()
	if e.Stopped != 0 && (state == interned.Stopped || state == interned.Assist) {
		state, stack = interned.StoppedByCall, e.Stopped
	}
	g.Account(t, state)
	seg := Segment{From: g.since, To: t, Stack: stack, State: state}
	if state.Sited() && state != interned.StoppedByCall {
		seg.Waker, seg.Operation = e.Stack, g.doingFor()
	}
	if c := g.Conn; c != nil {
		switch {
		case g.State == interned.Runnable:
			f.World.split(seg, c.push)
		case c.Phase == PhaseActive && state.Followed() && e.By != 0:
			f.Stacks.Info(seg.Stack).Waits.Ended(e.By, f.Stacks.Trace)
			f.divide(g, seg, e.By, c.push)
		default:
			c.push(seg)
		}
	}
	if !state.Followed() {
		e.By = 0
	} else if e.By != 0 {
		f.Goroutines.waited(g, e.By, g.since, t)
	}
	if g.serving != nil {
		g.serving.did(g.works(state), g.Stack, g.since, t)
		if e.By != 0 && f.Goroutines.delegates(e.By) {
			g.serving.work(g.since, t)
		}
	}
	g.past.add(past{from: g.since, by: e.By, stack: stack, state: state}, f.Goroutines)
	g.since = t
}

// Enter closes the current segment at t and opens one in a new state.
func (g *Goroutine) Enter(s interned.State, stack interned.Stack, e Ended, t trace.Time, f *Follower) {
	g.Stay(t, e, f)
	g.State, g.Stack, g.since = s, f.Stacks.Within(stack, int(g.doingFor())), t
}

// doing returns the state of the goroutine's current stretch, and its stack if it has one.
func (g *Goroutine) doing() (interned.State, interned.Stack) {
	switch {
	case g.Stops && g.State == interned.Running && g.Calls != 0:
		return interned.StoppedByCall, g.Calls
	case g.Stops && g.State == interned.Running:
		return interned.Stopped, 0
	case g.Assist:
		return interned.Assist, 0
	case g.State.Sited():
		return g.State, g.Stack
	}
	return g.State, 0
}

// works returns a state as the goroutine's own work counts: while it has the world stopped it runs, and while it waits for
// its turn it is queued.
func (g *Goroutine) works(state interned.State) interned.State {
	switch {
	case state != interned.StoppedByCall:
		return state
	case g.State == interned.Running:
		return interned.Running
	}
	return interned.Runnable
}

// Request returns the request that the goroutine serves or helps with.
func (g *Goroutine) Request() (*Conn, int) {
	if c := g.Conn; c != nil && c.Phase == PhaseActive {
		return c, c.Serial
	}
	if c := g.Within; c != nil && c.Phase == PhaseActive && c.Serial == g.Serial {
		return c, c.Serial
	}
	return nil, 0
}

// maxDead is the number of goroutines that are remembered after their end, in
// case that another was waiting for what they did.
const maxDead = 4096

// Set holds the goroutines that are alive and the last ones that ended.
type Set struct {
	ByID   map[trace.GoID]*Goroutine
	dead   [maxDead]*Goroutine // a ring
	oldest int
	spare  [][]past // rings of forgotten goroutines, for reuse
	room   int      // entries by which all histories together may still grow

	First  trace.Time // of the trace
	Served []*Serving // those that requests wait for
	calls  map[interned.Name]*Calls
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{ByID: map[trace.GoID]*Goroutine{}, room: maxPastAll}
}

// Add begins a goroutine, which did nothing before now.
func (all *Set) Add(id trace.GoID, now trace.Time) *Goroutine {
	g := &Goroutine{ID: id, since: now}
	if n := len(all.spare); n > 0 {
		g.past.ring, all.spare = all.spare[n-1], all.spare[:n-1]
	}
	all.ByID[id] = g
	return g
}

// Bury ends a goroutine and forgets the one that ended maxDead before it.
func (all *Set) Bury(g *Goroutine) {
	g.Dead, g.Conn, g.Within = true, nil, nil
	if old := all.dead[all.oldest]; old != nil {
		if all.ByID[old.ID] == old {
			delete(all.ByID, old.ID)
		}
		if len(old.past.ring) > 0 {
			all.spare = append(all.spare, old.past.ring)
		}
	}
	all.dead[all.oldest] = g
	all.oldest = (all.oldest + 1) % maxDead
}

// Sorted returns all goroutines in the set, sorted by id, so that a replay gives the same
// result.
func (all *Set) Sorted() []*Goroutine {
	list := make([]*Goroutine, 0, len(all.ByID))
	for _, g := range all.ByID {
		list = append(list, g)
	}
	slices.SortFunc(list, func(x, y *Goroutine) int { return cmp.Compare(x.ID, y.ID) })
	return list
}
