package anatomy

import (
	"strings"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/bands"
	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/server"
)

// The trace reader's names of the ranges that hold requests up.
const (
	rangeAssist = "GC mark assist"
	rangeSTW    = "stop-the-world"
)

// tracker follows the goroutines through the events of one trace and hands their
// requests to the bands.
type tracker struct {
	all        *bands.Requests
	stacks     *interned.Stacks
	world      goroutines.World
	clock      *goroutines.Clock
	goroutines *goroutines.Set
	follower   *goroutines.Follower
	tasks      map[trace.TaskID]task
	first      trace.Time
	last       trace.Time
	alive      alive
}

func newTracker(all *bands.Requests, clock *goroutines.Clock) *tracker {
	all.Stacks.NextTrace()
	t := &tracker{all: all, stacks: all.Stacks, clock: clock, goroutines: goroutines.NewSet(), tasks: map[trace.TaskID]task{}}
	t.follower = &goroutines.Follower{Goroutines: t.goroutines, Stacks: all.Stacks, Chains: all.Chains, World: &t.world}
	return t
}

// event takes the next event. Events are in order.
func (t *tracker) event(ev trace.Event) {
	now := ev.Time()
	if t.first == 0 {
		t.first, t.goroutines.First = now, now
	}
	t.last = now
	switch ev.Kind() {
	case trace.EventSync:
		t.clock.Add(ev.Sync().ClockSnapshot)
		t.stacks.NextGeneration()
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
func (t *tracker) observe(ev trace.Event) *goroutines.Goroutine {
	g := t.goroutines.ByID[ev.Goroutine()]
	if g == nil {
		return nil
	}
	wrapped := t.stacks.Wraps(g.Entry)
	if g.Conn == nil && g.Entry != 0 && !wrapped {
		return g
	}
	h := ev.Stack()
	if h == trace.NoStack {
		return g
	}
	info := t.stacks.Info(t.stacks.Intern(h))
	if wrapped {
		g.Entry = t.stacks.Unwrap(g.Entry, info)
	}
	if g.Conn != nil || g.Entry == 0 {
		t.see(g, info, ev.Time())
	}
	return g
}

// see takes a stack of the goroutine itself.
func (t *tracker) see(g *goroutines.Goroutine, info *interned.Info, now trace.Time) {
	if g.Entry == 0 {
		g.Entry = info.Entry
	}
	c := g.Conn
	if c == nil {
		if info.Server == server.None || g.Served {
			return
		}
		c = &goroutines.Conn{Phase: goroutines.PhaseUnknown} // a server started in the user's goroutine
		if g.Born != 0 {
			c.Phase, c.Base, c.Based = goroutines.PhaseNew, g.Born, true
		}
		g.Conn = c
	}
	if c.Server == server.None {
		c.Server = info.Server
	}
	k, was := info.Class, c.Phase
	if end, ended := c.See(k, now); ended {
		switch {
		case c.Server != server.HTTP:
		case k == server.ClassEnd:
			t.all.Markers.Aborts++
		default:
			t.all.Markers.Flushes++
		}
		t.finish(g, end, now)
		if !k.Leaves() {
			c.See(k, now)
		}
	}
	if c.Phase != goroutines.PhaseGone {
		return
	}
	if was == goroutines.PhaseActive && k == server.ClassHijack {
		t.all.Hijacked++
	}
	g.Conn, g.Served = nil, true
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
		g := t.goroutines.Add(id, now)
		g.State, g.Stack = interned.GoState(to), t.stacks.Intern(st.Stack)
		g.Conn = &goroutines.Conn{Phase: goroutines.PhaseUnknown}
		if to == trace.GoWaiting {
			g.State = interned.StoodState(t.stacks.Info(g.Stack))
		}
		t.see(g, t.stacks.Info(g.Stack), now)
		return
	}
	g := actor
	if g == nil || g.ID != id {
		if g = t.goroutines.ByID[id]; g == nil {
			return
		}
	}
	left := t.stacks.Info(g.Stack).Class
	switch to {
	case trace.GoNotExist:
		t.destroyed(g, now)
		return
	case from: // a status at the start of a generation
		if c := g.Conn; c != nil && c.Phase == goroutines.PhaseUnknown {
			t.see(g, t.stacks.Info(t.stacks.Intern(st.Stack)), now)
		}
		return
	case trace.GoWaiting:
		stack := t.stacks.Intern(st.Stack)
		info := t.stacks.Info(stack)
		g.Enter(interned.WaitState(st.Reason, info), stack, goroutines.Ended{}, now, t.follower)
		t.adopt(g, info, now)
	case trace.GoRunnable:
		e := t.woken(g, from, t.waker(g, ev))
		g.Enter(interned.Runnable, 0, e, now, t.follower)
		if c := g.Conn; c != nil && from == trace.GoWaiting {
			by := t.stacks.Info(max(e.Stack, 0))
			if c.Phase == goroutines.PhaseUnknown && ev.Goroutine() != trace.NoGoroutine {
				if by = t.stacks.Info(t.stacks.Intern(ev.Stack())); by.Hands {
					c.Server, c.Phase = server.GRPC, goroutines.PhaseNew
				}
			}
			c.Woken(left, by.Closes, now)
		}
	default:
		stack := t.stacks.Intern(st.Stack)
		g.Enter(interned.GoState(to), stack, goroutines.Ended{}, now, t.follower)
		t.adopt(g, t.stacks.Info(stack), now)
	}
	if c := g.Conn; c != nil && left == server.ClassFinish && c.Phase == goroutines.PhaseActive {
		c.Flushed = now
	}
}

// adopt notices a server in a goroutine that did not begin as a server's.
func (t *tracker) adopt(g *goroutines.Goroutine, info *interned.Info, now trace.Time) {
	if g.Conn == nil && info.Server != server.None && !g.Served {
		t.see(g, info, now)
	}
}

// waker is what made a goroutine ready: a goroutine and its stack, a timer, or
// nothing that the trace knows.
func (t *tracker) waker(g *goroutines.Goroutine, ev trace.Event) goroutines.Ended {
	switch by := ev.Goroutine(); {
	case g.State == interned.Sleeping:
		return goroutines.Ended{Stack: goroutines.TimerWaker}
	case g.State == interned.Stopped && by != trace.NoGoroutine && by != g.ID && ev.Stack() != trace.NoStack:
		return goroutines.Ended{Stopped: t.stacks.Stop("", t.stacks.Intern(ev.Stack()))}
	case !g.State.Followed():
		return goroutines.Ended{}
	case by != trace.NoGoroutine && by != g.ID:
		return goroutines.Ended{Stack: t.stacks.Intern(ev.Stack()), By: by}
	case g.State == interned.Channel || g.State == interned.Selecting:
		return goroutines.Ended{Stack: goroutines.TimerWaker}
	}
	return goroutines.Ended{}
}

func (t *tracker) created(by *goroutines.Goroutine, ev trace.Event, st trace.StateTransition) {
	now, id := ev.Time(), st.Resource.Goroutine()
	start := t.stacks.Info(t.stacks.Intern(st.Stack))
	g := t.goroutines.Add(id, now)
	g.State, g.Entry, g.Born = interned.Runnable, start.Entry, now
	entry := t.stacks.Names[start.Entry]
	var request *goroutines.Conn
	if by != nil {
		g.Creator = by.ID
		request, g.Serial = by.Request()
		g.Within = request
	}
	switch s, single := server.OfEntry(entry); {
	case s == server.None:
	case s == server.GRPC && request != nil && single:
		// A call over net/http: the stream's goroutine is the request.
		g.Served = true
	default:
		g.Conn, g.Within = &goroutines.Conn{Server: s, Phase: goroutines.PhaseNew, Base: now, Based: true}, nil
		if single {
			g.Conn.Activate(true)
		}
	}
	switch {
	case request == nil || g.Conn != nil:
	case entry == server.BackgroundRead:
		if by.Conn == request {
			request.Readers++
			t.all.Markers.Readers++
		}
	default:
		g.Started = t.stacks.Intern(ev.Stack())
		if by.Conn == request {
			request.Spawned++
		}
	}
}

func (t *tracker) destroyed(g *goroutines.Goroutine, now trace.Time) {
	if c := g.Conn; c != nil && c.Phase == goroutines.PhaseActive {
		end := now
		if c.Flushed > 0 {
			end = c.Flushed
		}
		if c.Server == server.HTTP {
			t.all.Markers.Flushes++
		}
		t.finish(g, end, now)
	} else {
		g.Stay(now, goroutines.Ended{}, t.follower)
		t.helped(g)
	}
	t.goroutines.Bury(g)
}

// finish hands a request over that ended at end, which is not after now.
func (t *tracker) finish(g *goroutines.Goroutine, end, now trace.Time) {
	g.Stay(now, goroutines.Ended{}, t.follower)
	c := g.Conn
	whole := !c.Cut && !c.Overlong && end > c.Begin
	begin, partial := c.Begin, c.Cut && !c.Overlong
	segments, samples := c.Take(end)
	g.Operations = g.Operations[:0] // rows that another goroutine closes, or nobody
	switch {
	case !whole || len(segments) == 0 || segments[0].From != begin:
		t.all.CutOff(c.Server)
		if partial {
			t.all.AddPartial(segments, samples)
		}
	case c.Readers > 1:
		t.all.Merged++
		t.all.MergedInto += c.Readers
	default:
		t.all.Add(g.ID, c, segments, samples, t.clock)
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
	var calls interned.Stack
	if isSTW && on {
		calls = t.stacks.Stop(reasonOf(r.Name), t.stacks.Intern(ev.Stack()))
		t.world.Begin(now, calls)
	} else if isSTW {
		t.world.End(now)
	}
	g := t.goroutines.ByID[id]
	if g == nil {
		return
	}
	g.Stay(now, goroutines.Ended{}, t.follower)
	if isSTW {
		g.Stops, g.Calls = on, calls
	} else {
		g.Assist = on
	}
}

// reasonOf returns why the world is stopped: "stop-the-world (read mem stats)" is "read mem stats".
func reasonOf(name string) string {
	return strings.Trim(strings.TrimPrefix(name, rangeSTW), " ()")
}

// close ends the trace: requests still being served are cut. A connection that became
// readable but was not read does not count: its client may have closed it.
func (t *tracker) close() {
	by := t.workers()
	for _, g := range t.goroutines.Sorted() {
		if c := g.Conn; c != nil && c.Phase == goroutines.PhaseActive {
			t.cutAtEnd(g, by[g.ID])
		}
		t.left(g)
	}
	t.all.AddServing(t.goroutines.Served, t.last)
	t.all.Traced += t.last.Sub(t.first)
}
