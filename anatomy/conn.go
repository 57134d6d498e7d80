package anatomy

import "golang.org/x/exp/trace"

// phase is how far a connection's goroutine is in serving.
type phase uint8

const (
	phaseUnknown phase = iota // ran already when the trace began
	phaseNew                  // accepted, no request read yet
	phaseIdle                 // reads, or waits for, a request's first bytes
	phaseActive               // serves a request
	phaseEnded                // response flushed, not reading yet
	phaseGone                 // hijacked, HTTP/2, or not a connection at all
)

// segment is a stretch of one state. Segments of a conn are contiguous.
type segment struct {
	from, to     trace.Time
	stack, waker stackID
	state        stateID
}

// timerWaker is the waker of a wait that a timer ended.
const timerWaker stackID = -1

// maxSegments bounds one request; a longer one is counted as cut.
const maxSegments = 1 << 20

// conn follows one connection's goroutine, or one that may turn out to be.
//
// Subtle: a request's begin is known only after the fact. The first bytes are
// read in phaseIdle, and whether a request follows them is known at the first
// event below the handler; so segments are kept from the last instant at which
// the bytes can have arrived (base) and dropped when the goroutine has to wait
// for them after all.
type conn struct {
	id    trace.GoID
	phase phase

	state  stateID
	since  trace.Time
	stack  stackID // of the current state, 0 when it has none
	assist bool    // inside a mark assist
	stops  bool    // stops the world itself

	base     trace.Time // where the last request, or what came before, ended
	based    bool       // whether base is known
	begin    trace.Time
	begun    bool       // begin is set
	cut      bool       // the current request began before the trace
	flushed  trace.Time // end of the last step in finishRequest
	readers  int        // background readers started in the current request
	spawned  int        // other goroutines it started
	overlong bool
	segments []segment
}

// stay closes the current segment at t and goes on in the same state.
func (c *conn) stay(t trace.Time, waker stackID, world *world) {
	if t <= c.since {
		return
	}
	state := c.state
	switch {
	case c.stops && state == running:
		state = stopped
	case c.assist:
		state = assist
	}
	seg := segment{from: c.since, to: t, state: state}
	if state.sited() {
		seg.stack, seg.waker = c.stack, waker
	}
	c.since = t
	if state != runnable {
		c.push(seg)
		return
	}
	world.split(seg, c.push)
}

func (c *conn) push(s segment) {
	if len(c.segments) >= maxSegments {
		c.overlong = true
		return
	}
	c.segments = append(c.segments, s)
}

// enter closes the current segment at t and begins one in a new state.
func (c *conn) enter(s stateID, stack, waker stackID, t trace.Time, world *world) {
	c.stay(t, waker, world)
	c.state, c.stack, c.since = s, stack, t
}

// restart forgets all before t: a request that follows can have begun then at
// the earliest.
func (c *conn) restart(t trace.Time) {
	c.segments = c.segments[:0]
	c.base, c.based, c.since, c.overlong = t, true, t, false
}

// woken is called when the goroutine becomes ready at t after it waited with a
// stack of the given class; the wait's segment is already closed.
func (c *conn) woken(waited class, t trace.Time) {
	switch {
	case c.phase == phaseUnknown:
		// It may have waited for a request's first bytes; what it does next tells.
		c.restart(t)
	case c.begun:
		// The rest of a header that came in pieces.
	case c.phase == phaseIdle && (waited == classIdle || waited == classRead):
		c.restart(t)
		c.begin, c.begun = t, true
	case c.phase == phaseNew:
		c.restart(t)
	}
}

// see moves the phase on for an event of the goroutine itself at t, whose stack
// has the given class. It returns true when a request ended, at end; the caller
// takes it and, unless the class is one that leaves a request, calls see again.
func (c *conn) see(k class, t trace.Time) (end trace.Time, ended bool) {
	switch k {
	case classNone, classDeep:
		return 0, false
	case classForeign:
		if c.phase == phaseUnknown {
			c.phase = phaseGone
		}
		return 0, false
	case classHTTP2:
		c.phase = phaseGone
		return 0, false
	case classBegin, classHandler:
		if c.phase == phaseActive && c.flushed > 0 {
			// The response was flushed: this is the next request, whose bytes
			// some buffer held, so that nothing else showed the end.
			c.phase = phaseEnded
			return c.flushed, true
		}
		c.activate(c.phase != phaseUnknown || k == classBegin)
	case classFinish:
		if c.phase == phaseEnded {
			return 0, false // drains the body after the end
		}
		c.activate(c.phase != phaseUnknown)
		c.flushed = t
	case classHijack:
		c.phase = phaseGone
	}
	if k.leaves() {
		return c.leave(k, t)
	}
	return 0, false
}

// activate begins a request, unless one is being served: at its first bytes'
// arrival, or, when the goroutine did not wait for them, at base.
func (c *conn) activate(known bool) {
	if c.phase == phaseActive || c.phase == phaseGone {
		return
	}
	if !c.begun {
		c.begin, c.begun = c.base, true
	}
	c.cut = !known || !c.based
	c.phase = phaseActive
	c.flushed, c.readers, c.spawned = 0, 0, 0
}

// leaves reports whether a class is seen only while no request is served.
func (k class) leaves() bool {
	return k == classIdle || k == classRead || k == classEnd || k == classOutside
}

// leave handles the classes that do not occur while a request is served.
func (c *conn) leave(k class, t trace.Time) (end trace.Time, ended bool) {
	was := c.phase
	switch {
	case was == phaseGone:
		return 0, false
	case k == classIdle || k == classRead:
		c.phase = phaseIdle
	case k == classEnd:
		c.phase = phaseEnded
	case was == phaseActive:
		c.phase = phaseEnded
	case was == phaseNew:
		c.restart(t) // the handshake
	}
	if was == phaseUnknown && k == classEnd {
		c.restart(t)
		c.cut = true
		return t, true // of a request that began before the trace
	}
	if was != phaseActive {
		return 0, false
	}
	if end = t; k != classEnd && c.flushed > 0 {
		end = c.flushed
	}
	return end, true
}

// take removes the segments before end, which are the request's, and prepares
// for the next one, which begins at end at the earliest. The caller has closed
// the current segment.
func (c *conn) take(end trace.Time) []segment {
	n := 0
	for n < len(c.segments) && c.segments[n].from < end {
		n++
	}
	own, rest := c.segments[:n:n], append([]segment(nil), c.segments[n:]...)
	if n > 0 && own[n-1].to > end {
		after := own[n-1]
		after.from, own[n-1].to = end, end
		rest = append([]segment{after}, rest...)
	}
	c.segments = rest
	c.base, c.based = end, true
	c.begun, c.cut, c.overlong = false, false, false
	return own
}
