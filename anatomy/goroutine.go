package anatomy

import "golang.org/x/exp/trace"

// goroutine follows one goroutine: what it does now, what it did last, and the
// requests it serves.
type goroutine struct {
	id    trace.GoID
	entry nameID // the function it began in; 0 while unknown
	dead  bool

	state  stateID
	since  trace.Time
	stack  stackID // of the current state, 0 when it has none
	assist bool    // inside a mark assist
	stops  bool    // stops the world itself

	born    trace.Time // 0 when it ran before the trace did
	creator trace.GoID
	started stackID // the go statement, where a request or its helper ran it; else 0
	past    history

	operations []operationID // that it is within, innermost last
	accounted  trace.Time    // up to when its time is given to operations

	conn   *conn // nil unless it serves requests, or may turn out to
	served bool  // conn was given up: what its stacks show later is no request
	within *conn // the request that it was started in, itself or by its creator
	serial int   // of that request on within

	serving *serving // nil unless requests wait for it
	ran     []sample // its last CPU samples
}

// ended is how a wait ended: by whom, and with which stack.
type ended struct {
	stack stackID
	by    trace.GoID // 0 when no goroutine did
}

// stay closes the current segment at t and goes on in the same state.
func (g *goroutine) stay(t trace.Time, e ended, f *follower) {
	if t <= g.since {
		return
	}
	state := g.state
	switch {
	case g.stops && state == running:
		state = stopped
	case g.assist:
		state = assist
	}
	g.account(t, state)
	seg := segment{from: g.since, to: t, state: state}
	if state.sited() {
		seg.stack, seg.waker, seg.operation = g.stack, e.stack, g.doingFor()
	}
	if c := g.conn; c != nil {
		switch {
		case state == runnable:
			f.world.split(seg, c.push)
		case c.phase == phaseActive && state.followed() && e.by != 0:
			f.stacks.info(seg.stack).waits.ended(e.by, f.stacks.trace)
			f.divide(g, seg, e.by, c.push)
		default:
			c.push(seg)
		}
	}
	if !state.followed() {
		e.by = 0
	} else if e.by != 0 {
		f.goroutines.waited(g, e.by, g.since, t)
	}
	if g.serving != nil {
		g.serving.did(state, g.since, t)
		if e.by != 0 && f.goroutines.delegates(e.by) {
			g.serving.work(g.since, t)
		}
	}
	g.past.add(past{from: g.since, by: e.by, stack: seg.stack, state: state}, f.goroutines)
	g.since = t
}

// enter closes the current segment at t and begins one in a new state.
func (g *goroutine) enter(s stateID, stack stackID, e ended, t trace.Time, f *follower) {
	g.stay(t, e, f)
	g.state, g.stack, g.since = s, stack, t
}

// request returns the request that the goroutine serves or helps with.
func (g *goroutine) request() (*conn, int) {
	if c := g.conn; c != nil && c.phase == phaseActive {
		return c, c.serial
	}
	if c := g.within; c != nil && c.phase == phaseActive && c.serial == g.serial {
		return c, c.serial
	}
	return nil, 0
}

// maxDead is the number of goroutines that are remembered after their end, in
// case that another was waiting for what they did.
const maxDead = 4096

// goroutines are those alive and the last ones that ended.
type goroutines struct {
	byID   map[trace.GoID]*goroutine
	dead   [maxDead]*goroutine // a ring
	oldest int
	spare  [][]past // rings of the forgotten, to be used again
	room   int      // entries that histories may still grow by, all together

	first  trace.Time // of the trace
	served []*serving // those that requests wait for
}

func newGoroutines() *goroutines {
	return &goroutines{byID: map[trace.GoID]*goroutine{}, room: maxPastAll}
}

func (all *goroutines) add(id trace.GoID, now trace.Time) *goroutine {
	g := &goroutine{id: id, since: now}
	if n := len(all.spare); n > 0 {
		g.past.ring, all.spare = all.spare[n-1], all.spare[:n-1]
	}
	all.byID[id] = g
	return g
}

// bury ends a goroutine and forgets the one that ended maxDead before it.
func (all *goroutines) bury(g *goroutine) {
	g.dead, g.conn, g.within = true, nil, nil
	if old := all.dead[all.oldest]; old != nil {
		if all.byID[old.id] == old {
			delete(all.byID, old.id)
		}
		if len(old.past.ring) > 0 {
			all.spare = append(all.spare, old.past.ring)
		}
	}
	all.dead[all.oldest] = g
	all.oldest = (all.oldest + 1) % maxDead
}
