package anatomy

import (
	"strings"

	"golang.org/x/exp/trace"
)

// Names of the ranges that hold requests up, as the trace reader gives them.
const (
	rangeAssist = "GC mark assist"
	rangeSTW    = "stop-the-world"
)

// tracker follows the goroutines through the events of one trace and hands their
// requests to the collector.
type tracker struct {
	all        *collector
	stacks     *stacks
	world      world
	clock      *traceClock
	goroutines *goroutines
	follower   *follower
	tasks      map[trace.TaskID]task
	first      trace.Time
	last       trace.Time
	alive      alive
}

func newTracker(all *collector, clock *traceClock) *tracker {
	all.stacks.nextTrace()
	t := &tracker{all: all, stacks: all.stacks, clock: clock, goroutines: newGoroutines(), tasks: map[trace.TaskID]task{}}
	t.follower = &follower{goroutines: t.goroutines, stacks: all.stacks, chains: all.chains, world: &t.world}
	return t
}

// event takes the next event. Events are in order.
func (t *tracker) event(ev trace.Event) {
	now := ev.Time()
	if t.first == 0 {
		t.first, t.goroutines.first = now, now
	}
	t.last = now
	switch ev.Kind() {
	case trace.EventSync:
		t.clock.add(ev.Sync().ClockSnapshot)
		t.stacks.nextGeneration()
	case trace.EventStateTransition:
		switch st := ev.StateTransition(); st.Resource.Kind {
		case trace.ResourceGoroutine:
			t.transition(ev, st)
		case trace.ResourceProc:
			if from, _ := st.Proc(); from == trace.ProcUndetermined {
				t.alive.processors++
			}
		}
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		t.ranges(ev)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		t.observe(ev)
	case trace.EventTaskBegin, trace.EventTaskEnd, trace.EventLog:
		switch ev.Kind() {
		case trace.EventTaskBegin:
			t.alive.tasks++
		case trace.EventTaskEnd:
			t.alive.tasks--
		}
		t.observe(ev)
		t.marker(ev)
	case trace.EventStackSample:
		t.sample(ev)
	}
}

// observe takes the acting goroutine's phase from its own stack.
func (t *tracker) observe(ev trace.Event) *goroutine {
	g := t.goroutines.byID[ev.Goroutine()]
	if g == nil || g.conn == nil && g.entry != 0 {
		return g
	}
	if h := ev.Stack(); h != trace.NoStack {
		t.see(g, t.stacks.info(t.stacks.intern(h)), ev.Time())
	}
	return g
}

// see takes a stack of the goroutine itself.
func (t *tracker) see(g *goroutine, info *stackInfo, now trace.Time) {
	if g.entry == 0 {
		g.entry = info.entry
	}
	c := g.conn
	if c == nil {
		if info.server == serverNone || g.served {
			return
		}
		c = &conn{phase: phaseUnknown} // a server started in a goroutine of the user's
		if g.born != 0 {
			c.phase, c.base, c.based = phaseNew, g.born, true
		}
		g.conn = c
	}
	if c.server == serverNone {
		c.server = info.server
	}
	k, was := info.class, c.phase
	if end, ended := c.see(k, now); ended {
		switch {
		case c.server != serverHTTP:
		case k == classEnd:
			t.all.markers.Aborts++
		default:
			t.all.markers.Flushes++
		}
		t.finish(g, end, now)
		if !k.leaves() {
			c.see(k, now)
		}
	}
	if c.phase != phaseGone {
		return
	}
	if was == phaseActive && k == classHijack {
		t.all.hijacked++
	}
	g.conn, g.served = nil, true
}

func (t *tracker) transition(ev trace.Event, st trace.StateTransition) {
	now, id := ev.Time(), st.Resource.Goroutine()
	from, to := st.Goroutine()
	actor := t.observe(ev)
	switch from {
	case trace.GoNotExist:
		t.created(actor, ev, st)
		return
	case trace.GoUndetermined:
		g := t.goroutines.add(id, now)
		g.state, g.stack = goState(to), t.stacks.intern(st.Stack)
		g.conn = &conn{phase: phaseUnknown}
		if to == trace.GoWaiting {
			g.state = stoodState(t.stacks.info(g.stack))
		}
		t.see(g, t.stacks.info(g.stack), now)
		return
	}
	g := actor
	if g == nil || g.id != id {
		if g = t.goroutines.byID[id]; g == nil {
			return
		}
	}
	left := t.stacks.info(g.stack).class
	switch to {
	case trace.GoNotExist:
		t.destroyed(g, now)
		return
	case from: // a status at the start of a generation
		if c := g.conn; c != nil && c.phase == phaseUnknown {
			t.see(g, t.stacks.info(t.stacks.intern(st.Stack)), now)
		}
		return
	case trace.GoWaiting:
		stack := t.stacks.intern(st.Stack)
		info := t.stacks.info(stack)
		g.enter(waitState(st.Reason, info), stack, ended{}, now, t.follower)
		t.adopt(g, info, now)
	case trace.GoRunnable:
		e := t.waker(g, ev)
		g.enter(runnable, 0, e, now, t.follower)
		if c := g.conn; c != nil && from == trace.GoWaiting {
			by := t.stacks.info(max(e.stack, 0))
			if c.phase == phaseUnknown && ev.Goroutine() != trace.NoGoroutine {
				if by = t.stacks.info(t.stacks.intern(ev.Stack())); by.hands {
					c.server, c.phase = serverGRPC, phaseNew
				}
			}
			c.woken(left, by.closes, now)
		}
	default:
		stack := t.stacks.intern(st.Stack)
		g.enter(goState(to), stack, ended{}, now, t.follower)
		t.adopt(g, t.stacks.info(stack), now)
	}
	if c := g.conn; c != nil && left == classFinish && c.phase == phaseActive {
		c.flushed = now
	}
}

// adopt notices a server in a goroutine that did not begin as a server's.
func (t *tracker) adopt(g *goroutine, info *stackInfo, now trace.Time) {
	if g.conn == nil && info.server != serverNone && !g.served {
		t.see(g, info, now)
	}
}

// waker is what made a goroutine ready: a goroutine and its stack, a timer, or
// nothing that the trace knows.
func (t *tracker) waker(g *goroutine, ev trace.Event) ended {
	switch by := ev.Goroutine(); {
	case g.state == sleeping:
		return ended{stack: timerWaker}
	case !g.state.followed():
		return ended{}
	case by != trace.NoGoroutine && by != g.id:
		return ended{t.stacks.intern(ev.Stack()), by}
	case g.state == channel || g.state == selecting:
		return ended{stack: timerWaker}
	}
	return ended{}
}

func (t *tracker) created(by *goroutine, ev trace.Event, st trace.StateTransition) {
	now, id := ev.Time(), st.Resource.Goroutine()
	start := t.stacks.info(t.stacks.intern(st.Stack))
	g := t.goroutines.add(id, now)
	g.state, g.entry, g.born = runnable, start.entry, now
	entry := t.stacks.names[start.entry]
	var request *conn
	if by != nil {
		g.creator = by.id
		request, g.serial = by.request()
		g.within = request
	}
	switch s, single := entryServer(entry); {
	case s == serverNone:
	case s == serverGRPC && request != nil && single:
		// A call over net/http: the stream's goroutine is the request.
		g.served = true
	default:
		g.conn, g.within = &conn{server: s, phase: phaseNew, base: now, based: true}, nil
		if single {
			g.conn.activate(true)
		}
	}
	switch {
	case request == nil || g.conn != nil:
	case entry == backgroundRead:
		if by.conn == request {
			request.readers++
			t.all.markers.Readers++
		}
	default:
		g.started = t.stacks.intern(ev.Stack())
		if by.conn == request {
			request.spawned++
		}
	}
}

func (t *tracker) destroyed(g *goroutine, now trace.Time) {
	if c := g.conn; c != nil && c.phase == phaseActive {
		end := now
		if c.flushed > 0 {
			end = c.flushed
		}
		if c.server == serverHTTP {
			t.all.markers.Flushes++
		}
		t.finish(g, end, now)
	} else {
		g.stay(now, ended{}, t.follower)
		t.helped(g)
	}
	t.goroutines.bury(g)
}

// finish hands a request over that ended at end, which is not after now.
func (t *tracker) finish(g *goroutine, end, now trace.Time) {
	g.stay(now, ended{}, t.follower)
	c := g.conn
	whole := !c.cut && !c.overlong && end > c.begin
	begin, partial := c.begin, c.cut && !c.overlong
	segments, samples := c.take(end)
	g.operations = g.operations[:0] // rows that another goroutine closes, or none does
	switch {
	case !whole || len(segments) == 0 || segments[0].from != begin:
		t.all.cutOff(c.server)
		if partial {
			t.all.addPartial(segments, samples)
		}
	case c.readers > 1:
		t.all.merged++
		t.all.mergedInto += c.readers
	default:
		t.all.add(g.id, c, segments, samples, t.clock)
	}
}

// ranges follows assists and stops of the world.
func (t *tracker) ranges(ev trace.Event) {
	r := ev.Range()
	isSTW := strings.HasPrefix(r.Name, rangeSTW)
	if !isSTW && r.Name != rangeAssist || r.Scope.Kind != trace.ResourceGoroutine {
		return
	}
	on := ev.Kind() != trace.EventRangeEnd
	if ev.Kind() == trace.EventRangeBegin {
		t.observe(ev)
	}
	now, id := ev.Time(), r.Scope.Goroutine()
	if isSTW && on {
		t.world.begin(now)
	} else if isSTW {
		t.world.end(now)
	}
	g := t.goroutines.byID[id]
	if g == nil {
		return
	}
	g.stay(now, ended{}, t.follower)
	if isSTW {
		g.stops = on
	} else {
		g.assist = on
	}
}

// close ends the trace: what is still being served is cut. A connection that
// became readable and was not read yet does not count: its client may have
// closed it.
func (t *tracker) close() {
	for _, g := range t.goroutines.sorted() {
		if c := g.conn; c != nil && c.phase == phaseActive {
			t.cutAtEnd(g)
		}
	}
	t.all.addServing(t.goroutines.served, t.last)
	t.all.traced += t.last.Sub(t.first)
}
