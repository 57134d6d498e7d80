package anatomy

import "golang.org/x/exp/trace"

// phase is how far a connection's goroutine is in serving.
type phase uint8

const (
	phaseUnknown phase = iota // ran already when the trace began
	phaseNew                  // accepted, or free for the next; no request read yet
	phaseIdle                 // reads, or waits for, a request's first bytes
	phaseActive               // serves a request
	phaseEnded                // response flushed, not reading yet
	phaseGone                 // hijacked, HTTP/2, or not a server's goroutine at all
)

// segment is a stretch of one state. Segments of a conn are contiguous.
type segment struct {
	from, to     trace.Time
	stack, waker stackID
	chain        chainID     // what it waited for, 0 when that is not known
	operation    operationID // that a wait lies within
	state        stateID
	more         bool // goes on with the wait of the segment before it
}

// timerWaker is the waker of a wait that a timer ended.
const timerWaker stackID = -1

// maxSegments bounds one request; a longer one is counted as cut.
const maxSegments = 1 << 20

// conn follows the requests of one goroutine, or of one that may turn out to
// serve them: most often a connection's.
//
// Subtle: a request's begin is known only after the fact. The first bytes are
// read in phaseIdle, and whether a request follows them is known at the first
// event below the handler; so segments are kept from the last instant at which
// the bytes can have arrived (base) and dropped when the goroutine has to wait
// for them after all.
type conn struct {
	server server
	phase  phase

	base       trace.Time // where the last request, or what came before, ended
	based      bool       // whether base is known
	begin      trace.Time
	begun      bool       // begin is set
	cut        bool       // the current request began before the trace
	flushed    trace.Time // end of the last step in finishRequest
	readers    int        // background readers started in the current request
	spawned    int        // other goroutines it started
	serial     int        // of the current request
	overlong   bool
	operations []operationID // begun in the request
	servedBy   []*serving    // goroutines that request servedIn waited for
	servedIn   int
	spent      []spent // its time within operations
	segments   []segment
	mark       mark
	samples    []sample
}

// push appends a segment, but what lies before base.
func (c *conn) push(s segment) {
	if c.based && s.from < c.base {
		if s.to <= c.base {
			return
		}
		s.from, s.more = c.base, false
	}
	if len(c.segments) >= maxSegments {
		c.overlong = true
		return
	}
	c.segments = append(c.segments, s)
}

// restart forgets all before t: a request that follows can have begun then at
// the earliest.
func (c *conn) restart(t trace.Time) {
	c.segments = c.segments[:0]
	c.base, c.based, c.overlong = t, true, false
	c.samples = c.samples[:0]
}

// woken is called when the goroutine becomes ready at t after it waited with a
// stack of the given class; the wait's segment is already closed. A channel that
// was closed brings no call.
func (c *conn) woken(waited class, closed bool, t trace.Time) {
	switch {
	case c.phase == phaseUnknown:
		// It may have waited for a request's first bytes; what it does next decides.
		c.restart(t)
	case c.begun:
		// The rest of a header that came in pieces.
	case c.phase == phaseIdle && (waited == classIdle || waited == classRead):
		c.restart(t)
		c.begin, c.begun = t, true
	case c.phase == phaseNew:
		c.restart(t)
		if c.server == serverGRPC && !closed {
			c.activate(true) // the call is what woke the worker
		}
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
	case classStream:
		if c.phase == phaseUnknown {
			c.activate(false)
		}
		return 0, false
	case classBody:
		c.activate(c.phase != phaseUnknown)
		c.flushed = 0 // that was no more than "100 Continue"
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
	c.flushed, c.readers, c.spawned, c.mark = 0, 0, 0, mark{}
	c.operations, c.spent = c.operations[:0], c.spent[:0]
	c.serial++
}

// leaves reports whether a class is seen only while no request is served.
func (k class) leaves() bool {
	return k == classIdle || k == classRead || k == classEnd || k == classOutside || k == classAccept
}

// leave handles the classes that do not occur while a request is served.
func (c *conn) leave(k class, t trace.Time) (end trace.Time, ended bool) {
	was := c.phase
	switch {
	case was == phaseGone:
		return 0, false
	case k == classIdle || k == classRead:
		c.phase = phaseIdle
	case k == classAccept:
		c.phase, c.begun = phaseNew, false
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

// take removes the segments and samples before end, which are the request's, and
// prepares for the next one, which begins at end at the earliest. The caller has
// closed the current segment.
func (c *conn) take(end trace.Time) ([]segment, []sample) {
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
	n = 0
	for n < len(c.samples) && c.samples[n].at < end {
		n++
	}
	samples := c.samples[:n:n]
	c.samples = c.samples[n:]
	c.base, c.based = end, true
	c.begun, c.cut, c.overlong = false, false, false
	return own, samples
}
