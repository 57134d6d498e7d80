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

// tracker follows the connections' goroutines through the events of one trace
// and hands their requests to the collector.
type tracker struct {
	all    *collector
	stacks *stacks
	world  world
	clock  *traceClock
	conns  map[trace.GoID]*conn
	first  trace.Time
	last   trace.Time
}

func newTracker(all *collector, clock *traceClock) *tracker {
	all.stacks.nextTrace()
	return &tracker{all: all, stacks: all.stacks, clock: clock, conns: map[trace.GoID]*conn{}}
}

// event takes the next event. Events are in order.
func (t *tracker) event(ev trace.Event) {
	now := ev.Time()
	if t.first == 0 {
		t.first = now
	}
	t.last = now
	switch ev.Kind() {
	case trace.EventSync:
		t.clock.add(ev.Sync().ClockSnapshot)
	case trace.EventStateTransition:
		if st := ev.StateTransition(); st.Resource.Kind == trace.ResourceGoroutine {
			t.transition(ev, st)
		}
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		t.ranges(ev)
	case trace.EventRegionBegin, trace.EventRegionEnd, trace.EventLog:
		t.observe(ev)
	}
}

// observe lets the acting goroutine's own stack tell its phase.
func (t *tracker) observe(ev trace.Event) *conn {
	c := t.conns[ev.Goroutine()]
	if c == nil {
		return nil
	}
	if h := ev.Stack(); h != trace.NoStack {
		t.see(c, t.stacks.info(t.stacks.intern(h)).class, ev.Time())
	}
	return c
}

func (t *tracker) see(c *conn, k class, now trace.Time) {
	was := c.phase
	if end, ended := c.see(k, now); ended {
		if k == classEnd {
			t.all.markers.Aborts++
		} else {
			t.all.markers.Flushes++
		}
		t.finish(c, end, now)
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
	delete(t.conns, c.id)
}

func (t *tracker) transition(ev trace.Event, st trace.StateTransition) {
	now, id := ev.Time(), st.Resource.Goroutine()
	from, to := st.Goroutine()
	actor := t.observe(ev)
	switch {
	case from == trace.GoNotExist:
		t.created(actor, id, st, now)
		return
	case from == trace.GoUndetermined:
		c := &conn{id: id, state: goState(to), stack: t.stacks.intern(st.Stack), since: now}
		t.conns[id] = c
		t.see(c, t.stacks.info(c.stack).class, now)
		return
	}
	c := t.conns[id]
	if c == nil {
		return
	}
	left := t.stacks.info(c.stack).class
	switch to {
	case trace.GoNotExist:
		t.destroyed(c, now)
		return
	case from: // a status at the start of a generation
		if c.phase == phaseUnknown {
			t.see(c, t.stacks.info(t.stacks.intern(st.Stack)).class, now)
		}
		return
	case trace.GoWaiting:
		stack := t.stacks.intern(st.Stack)
		c.enter(waitState(st.Reason, t.stacks.info(stack)), stack, 0, now, &t.world)
	case trace.GoRunnable:
		c.enter(runnable, 0, t.waker(c, ev), now, &t.world)
		if from == trace.GoWaiting {
			c.woken(left, now)
		}
	default:
		c.enter(goState(to), t.stacks.intern(st.Stack), 0, now, &t.world)
	}
	if left == classFinish && c.phase == phaseActive {
		c.flushed = now
	}
}

// waker tells who made a goroutine ready: the stack of the goroutine that did,
// a timer, or 0.
func (t *tracker) waker(c *conn, ev trace.Event) stackID {
	switch c.state {
	case lock, syncing, channel, selecting:
		if ev.Goroutine() != trace.NoGoroutine {
			return t.stacks.intern(ev.Stack())
		}
		if c.state == channel || c.state == selecting {
			return timerWaker
		}
	case sleeping:
		return timerWaker
	}
	return 0
}

func (t *tracker) created(by *conn, id trace.GoID, st trace.StateTransition, now trace.Time) {
	start := t.stacks.info(t.stacks.intern(st.Stack))
	if start.serve {
		t.conns[id] = &conn{id: id, phase: phaseNew, state: runnable, since: now, base: now, based: true}
	}
	if by == nil || by.phase != phaseActive {
		return
	}
	if !start.reader {
		by.spawned++
		return
	}
	by.readers++
	t.all.markers.Readers++
}

func (t *tracker) destroyed(c *conn, now trace.Time) {
	if c.phase == phaseActive {
		end := now
		if c.flushed > 0 {
			end = c.flushed
		}
		t.all.markers.Flushes++
		t.finish(c, end, now)
	}
	delete(t.conns, c.id)
}

// finish hands a request over that ended at end, which is not after now.
func (t *tracker) finish(c *conn, end, now trace.Time) {
	c.stay(now, 0, &t.world)
	whole := !c.cut && !c.overlong && end > c.begin
	begin := c.begin
	segments := c.take(end)
	switch {
	case !whole || len(segments) == 0 || segments[0].from != begin:
		t.all.cut++
	case c.readers > 1:
		t.all.merged++
		t.all.mergedInto += c.readers
	default:
		t.all.add(c, segments, t.clock)
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
	c := t.conns[id]
	if c == nil {
		return
	}
	c.stay(now, 0, &t.world)
	if isSTW {
		c.stops = on
	} else {
		c.assist = on
	}
}

// close ends the trace: what is still being served is cut. A connection that
// became readable and was not read yet does not count: its client may have
// closed it.
func (t *tracker) close() {
	for _, c := range t.conns {
		if c.phase == phaseActive {
			t.all.cut++
		}
	}
	t.all.traced += t.last.Sub(t.first)
}
