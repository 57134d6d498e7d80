package goroutines

import (
	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/server"
)

// Phase is the state of a connection's goroutine.
type Phase uint8

// The phases, in order.
const (
	PhaseUnknown Phase = iota // it ran before the trace began
	PhaseNew                  // accepted, or free for the next; no request read yet
	PhaseIdle                 // reads, or waits for, a request's first bytes
	PhaseActive               // serves a request
	PhaseEnded                // response flushed, not reading yet
	PhaseGone                 // closed, hijacked, HTTP/2, or not a server's goroutine
)

// Segment is a stretch of one state. Segments of a conn are contiguous.
type Segment struct {
	From, To     trace.Time
	Stack, Waker interned.Stack
	Chain        ChainID   // what it waited for; 0 if unknown
	Operation    Operation // that a wait lies within
	State        interned.State
	Begun        uint8 // the first link of the chain whose stretch this piece opens; MaxLinks for none
	More         bool  // continues the wait of the previous segment
	Timed        bool  // a timer set off the goroutine that ended the wait
}

// TimerWaker is the waker of a wait that a timer ended.
const TimerWaker interned.Stack = -1

// maxSegments bounds one request; a longer one is counted as cut.
const maxSegments = 1 << 20

// Conn follows the requests of one goroutine, or of one that may turn out to
// serve them: most often a connection's.
//
// Subtle: the start of a request is known only afterwards. The first bytes are read in
// PhaseIdle, and the first event below the handler shows whether a request follows; so
// segments are kept from the last instant at which the bytes can have arrived (Base), and
// dropped if the goroutine has to wait for them after all.
type Conn struct {
	Server server.Kind
	Phase  Phase

	Base       trace.Time // end of the last request, or of what came before
	Based      bool       // whether Base is known
	Begin      trace.Time
	begun      bool       // begin is set
	Cut        bool       // the current request began before the trace
	Flushed    trace.Time // end of the last step in finishRequest
	Readers    int        // background readers started in the current request
	Spawned    int        // other goroutines it started
	Serial     int        // of the current request
	Overlong   bool
	Operations []Operation // begun in the request
	servedBy   []*Serving  // goroutines for which request servedIn waited
	servedIn   int
	Spent      []Spent // its time within operations
	segments   []Segment
	Mark       Mark
	Samples    []CPUSample
}

// Mark holds a request's data from the probe's tasks.
type Mark struct {
	ID      string
	Request int // index in the mix, from 1; 0 if the id has none
	Tasks   int
	Open    int
	Ended   trace.Time // when the last task that was open ended
}

// push appends the part of a segment that is not before Base.
func (c *Conn) push(s Segment) {
	if c.Based && s.From < c.Base {
		if s.To <= c.Base {
			return
		}
		s.From, s.More = c.Base, false
	}
	if len(c.segments) >= maxSegments {
		c.Overlong = true
		return
	}
	c.segments = append(c.segments, s)
}

// restart forgets everything before t: the next request cannot have begun earlier.
func (c *Conn) restart(t trace.Time) {
	c.segments = c.segments[:0]
	c.Base, c.Based, c.Overlong = t, true, false
	c.Samples = c.Samples[:0]
}

// Woken is called when the goroutine becomes ready at t after it waited with a stack of the
// given class; the wait's segment is already closed. A closed channel causes no call.
func (c *Conn) Woken(waited server.Class, closed bool, t trace.Time) {
	switch {
	case c.Phase == PhaseUnknown:
		// It may have waited for a request's first bytes; what it does next decides.
		c.restart(t)
	case c.begun:
		// The rest of a header that came in pieces.
	case c.Phase == PhaseIdle && (waited == server.ClassIdle || waited == server.ClassRead):
		c.restart(t)
		c.Begin, c.begun = t, true
	case c.Phase == PhaseNew:
		c.restart(t)
		if c.Server == server.GRPC && !closed {
			c.Activate(true) // the call is what woke the worker
		}
	}
}

// See advances the phase for an event of the goroutine at t, whose stack has the given
// class. It returns true if a request ended, at end; the caller then calls Take and, unless
// the class leaves a request, See again.
func (c *Conn) See(k server.Class, t trace.Time) (end trace.Time, ended bool) {
	switch k {
	case server.ClassNone, server.ClassDeep:
		return 0, false
	case server.ClassForeign:
		if c.Phase == PhaseUnknown {
			c.Phase = PhaseGone
		}
		return 0, false
	case server.ClassHTTP2:
		c.Phase = PhaseGone
		return 0, false
	case server.ClassStream:
		if c.Phase == PhaseUnknown {
			c.Activate(false)
		}
		return 0, false
	case server.ClassBody:
		c.Activate(c.Phase != PhaseUnknown)
		c.Flushed = 0 // that was only "100 Continue"
		return 0, false
	case server.ClassBegin, server.ClassHandler:
		if c.Phase == PhaseActive && c.Flushed > 0 {
			// The response was flushed: this is the next request, whose bytes were already
			// buffered, so that nothing else showed the end.
			c.Phase = PhaseEnded
			return c.Flushed, true
		}
		c.Activate(c.Phase != PhaseUnknown || k == server.ClassBegin)
	case server.ClassFinish:
		if c.Phase == PhaseEnded {
			return 0, false // drains the body after the end
		}
		c.Activate(c.Phase != PhaseUnknown)
		c.Flushed = t
	case server.ClassHijack:
		c.Phase = PhaseGone
	}
	if k.Leaves() {
		return c.leave(k, t)
	}
	return 0, false
}

// Activate begins a request, unless one is being served: when its first bytes arrived or,
// if the goroutine did not wait for them, at Base.
func (c *Conn) Activate(known bool) {
	if c.Phase == PhaseActive || c.Phase == PhaseGone {
		return
	}
	if !c.begun {
		c.Begin, c.begun = c.Base, true
	}
	c.Cut = !known || !c.Based
	c.Phase = PhaseActive
	c.Flushed, c.Readers, c.Spawned, c.Mark = 0, 0, 0, Mark{}
	c.Operations, c.Spent = c.Operations[:0], c.Spent[:0]
	c.Serial++
}

// leave handles the classes that do not occur while a request is served.
func (c *Conn) leave(k server.Class, t trace.Time) (end trace.Time, ended bool) {
	was := c.Phase
	switch {
	case was == PhaseGone:
		return 0, false
	case k == server.ClassIdle || k == server.ClassRead:
		c.Phase = PhaseIdle
	case k == server.ClassAccept:
		c.Phase, c.begun = PhaseNew, false
	case k == server.ClassEnd:
		c.Phase = PhaseEnded
	case k == server.ClassClose:
		// After a panic the handler is still below: what is seen there afterwards is the
		// panic's end, not the next request.
		c.Phase = PhaseGone
	case was == PhaseActive:
		c.Phase = PhaseEnded
	case was == PhaseNew:
		c.restart(t) // the handshake
	}
	if was == PhaseUnknown && k == server.ClassEnd {
		c.restart(t)
		c.Cut = true
		return t, true // of a request that began before the trace
	}
	if was != PhaseActive {
		return 0, false
	}
	if end = t; k != server.ClassEnd && c.Flushed > 0 {
		end = c.Flushed
	}
	return end, true
}

// Take removes the request's segments and samples, those before end, and prepares for the
// next request, which begins at end at the earliest. The caller has closed the current
// segment.
func (c *Conn) Take(end trace.Time) ([]Segment, []CPUSample) {
	n := 0
	for n < len(c.segments) && c.segments[n].From < end {
		n++
	}
	own, rest := c.segments[:n:n], append([]Segment(nil), c.segments[n:]...)
	if n > 0 && own[n-1].To > end {
		after := own[n-1]
		after.From, own[n-1].To = end, end
		rest = append([]Segment{after}, rest...)
	}
	c.segments = rest
	n = 0
	for n < len(c.Samples) && c.Samples[n].At < end {
		n++
	}
	samples := c.Samples[:n:n]
	c.Samples = c.Samples[n:]
	c.Base, c.Based = end, true
	c.begun, c.Cut, c.Overlong = false, false, false
	return own, samples
}
