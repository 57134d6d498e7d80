package goroutines

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/server"
	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/record/timebase"
)

func TestSplitByStops(t *testing.T) {
	w := World{stops: []worldStop{{stop: stop{10, 20}}, {stop: stop{30, 40}}, {stop: stop{50, 60}}}, open: true, since: 90}
	tests := []struct {
		name     string
		from, to trace.Time
		want     []Segment
	}{
		{"before all", 1, 9, []Segment{{From: 1, To: 9, State: interned.Runnable}}},
		{"between", 20, 30, []Segment{{From: 20, To: 30, State: interned.Runnable}}},
		{"within", 32, 38, []Segment{{From: 32, To: 38, State: interned.Stopped}}},
		{"across two", 15, 35, []Segment{{From: 15, To: 20, State: interned.Stopped}, {From: 20, To: 30, State: interned.Runnable}, {From: 30, To: 35, State: interned.Stopped}}},
		{"into the open one", 85, 95, []Segment{{From: 85, To: 90, State: interned.Runnable}, {From: 90, To: 95, State: interned.Stopped}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []Segment
			w.split(Segment{From: test.from, To: test.to, State: interned.Runnable}, func(s Segment) { got = append(got, s) })
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestAssistsAndOwnStops(t *testing.T) {
	g := &Goroutine{State: interned.Running, Conn: &Conn{}}
	f := &Follower{Goroutines: NewSet(), World: &World{}}
	g.Stay(10, Ended{}, f)
	g.Assist = true
	g.Enter(interned.Runnable, 0, Ended{}, 20, f) // preempted while it assists
	g.Enter(interned.Running, 0, Ended{}, 30, f)
	g.Stay(40, Ended{}, f)
	g.Assist, g.Stops = false, true
	g.Stay(50, Ended{}, f)
	var got []interned.State
	for _, s := range g.Conn.segments {
		got = append(got, s.State)
	}
	if want := []interned.State{interned.Running, interned.Assist, interned.Assist, interned.Assist,
		interned.Stopped}; !slices.Equal(got, want) {
		t.Errorf("states %v, want %v", got, want)
	}
}

// TestCalledStops: what the program's own calls take is apart from the collector's stops and assists, whoever called.
func TestCalledStops(t *testing.T) {
	const call, other = interned.Stack(7), interned.Stack(8)
	w := &World{}
	f := &Follower{Goroutines: NewSet(), World: w}
	g := &Goroutine{State: interned.Running, Conn: &Conn{}}
	g.Stops, g.Calls = true, call
	g.Stay(10, Ended{}, f) // its own call
	g.Stops = false
	g.Enter(interned.Runnable, 0, Ended{}, 20, f)
	w.Begin(25, other)
	w.End(30)
	w.Begin(30, 0)
	w.End(35)
	g.Assist = true // preempted while it assists: what the collector stops is the assist's, another's call is not
	g.Enter(interned.Stopped, 0, Ended{}, 40, f)
	g.Assist = false
	g.Enter(interned.Stopped, 0, Ended{Stopped: other}, 50, f)
	g.Enter(interned.StoppedByCall, call, Ended{}, 60, f)
	g.Stay(70, Ended{}, f)
	want := []Segment{{From: 0, To: 10, State: interned.StoppedByCall, Stack: call}, {From: 10, To: 20, State: interned.Running},
		{From: 20, To: 25, State: interned.Assist}, {From: 25, To: 30, State: interned.StoppedByCall, Stack: other},
		{From: 30, To: 40, State: interned.Assist}, {From: 40, To: 50, State: interned.StoppedByCall, Stack: other},
		{From: 50, To: 60, State: interned.Stopped}, {From: 60, To: 70, State: interned.StoppedByCall, Stack: call}}
	if !slices.Equal(g.Conn.segments, want) {
		t.Errorf("got  %v\nwant %v", g.Conn.segments, want)
	}
}

// TestFollowsIntoCalledStops: a wait for a goroutine that could not run, because the world was stopped, was for who stopped it.
func TestFollowsIntoCalledStops(t *testing.T) {
	all, stacks := NewSet(), interned.New(site.NewOwnership("shop"))
	call := stacks.Stop("read mem stats", 0)
	f := &Follower{Goroutines: all, Stacks: stacks, Chains: NewChains(), World: &World{}}
	worker := all.Add(2, 0)
	worker.State = interned.Runnable
	f.World.Begin(10, call)
	f.World.End(20)
	f.World.Begin(30, 0) // the collector: as before, part of the wait for a CPU
	f.World.End(40)
	f.World.Begin(90, call)
	worker.Enter(interned.Running, 0, Ended{}, 50, f)
	worker.Enter(interned.Runnable, 0, Ended{}, 80, f)
	g := all.Add(1, 5)
	g.State = interned.Channel
	g.Conn = &Conn{Server: server.HTTP, Phase: PhaseActive}
	g.Stay(95, Ended{By: 2}, f)
	type piece struct {
		from  trace.Time
		state interned.State
		site  string
	}
	var got []piece
	for _, s := range g.Conn.segments {
		l := f.Chains.Links[s.Chain]
		got = append(got, piece{s.From, l.State, stacks.Names[l.Site]})
	}
	const at = "runtime.ReadMemStats"
	if want := []piece{{5, interned.Runnable, ""}, {10, interned.StoppedByCall, at}, {20, interned.Runnable, ""},
		{50, interned.Running, ""}, {80, interned.Runnable, ""}, {90, interned.StoppedByCall, at}}; !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestTurnsToStopTheWorld: a goroutine that requests wait for works while it has the world stopped, and queues for its turn.
func TestTurnsToStopTheWorld(t *testing.T) {
	f := &Follower{Goroutines: NewSet(), World: &World{}}
	g := &Goroutine{State: interned.StoppedByCall, Stack: 7, serving: &Serving{}}
	g.Enter(interned.Running, 0, Ended{}, 10, f)
	g.Stops, g.Calls = true, 7
	g.Stay(15, Ended{}, f)
	if s := g.serving; s.OnCPU != 5 || s.Queued != 10 {
		t.Errorf("%d ns on a CPU and %d queued, want 5 and 10", s.OnCPU, s.Queued)
	}
}

func TestTakeSplitsAtTheEnd(t *testing.T) {
	c := &Conn{Begin: 0, segments: []Segment{{From: 0, To: 10}, {From: 10, To: 20}, {From: 20, To: 30}}}
	own, _ := c.Take(15)
	if want := []Segment{{From: 0, To: 10}, {From: 10, To: 15}}; !slices.Equal(own, want) {
		t.Errorf("took %v, want %v", own, want)
	}
	if want := []Segment{{From: 15, To: 20}, {From: 20, To: 30}}; !slices.Equal(c.segments, want) {
		t.Errorf("left %v, want %v", c.segments, want)
	}
	if c.Base != 15 || !c.Based {
		t.Errorf("base is %v", c.Base)
	}
}

// TestClockReadTwice interrupts the runtime between the two readings of one clock, which moves
// nothing.
func TestClockReadTwice(t *testing.T) {
	c := Clock{Run: timebase.Clock{EpochMonotonic: 1000}}
	c.Add(&trace.ClockSnapshot{Trace: 4992, Mono: 5001})
	c.Add(&trace.ClockSnapshot{Trace: 1e9 + 30_000, Mono: 1e9})
	for at, want := range map[trace.Time]time.Duration{4992: 3992, 1e9: 1e9 - 1000, 2e9: 2e9 - 1000} {
		if got := c.At(at); got != want {
			t.Errorf("trace time %d is %d, want %d", at, got, want)
		}
	}
	if want := []time.Duration{64}; !slices.Equal(c.Errors, want) {
		t.Errorf("disagreements %v, want %v", c.Errors, want)
	}
}

// TestClock places instants by the snapshots around them, where the trace has a clock of its own.
func TestClock(t *testing.T) {
	c := Clock{Run: timebase.Clock{EpochMonotonic: 1000}}
	c.Add(&trace.ClockSnapshot{Trace: 100, Mono: 5100})
	c.Add(nil)
	c.Add(&trace.ClockSnapshot{Trace: 200, Mono: 5310})
	c.Add(&trace.ClockSnapshot{Trace: 200, Mono: 5310})
	for at, want := range map[trace.Time]time.Duration{50: 4050, 150: 4150, 250: 4360} {
		if got := c.At(at); got != want {
			t.Errorf("trace time %d is %d, want %d", at, got, want)
		}
	}
	if want := []time.Duration{110}; !slices.Equal(c.Errors, want) {
		t.Errorf("disagreements %v, want %v", c.Errors, want)
	}
}
