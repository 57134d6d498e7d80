package goroutines

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/record/timebase"
)

func TestSplitByStops(t *testing.T) {
	w := World{stops: []stop{{10, 20}, {30, 40}, {50, 60}}, open: true, since: 90}
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

// TestClock places instants by the snapshots around them.
func TestClock(t *testing.T) {
	c := Clock{Run: timebase.Clock{EpochMonotonic: 1000}}
	c.Add(&trace.ClockSnapshot{Trace: 100, Mono: 5100})
	c.Add(nil)
	c.Add(&trace.ClockSnapshot{Trace: 200, Mono: 5210})
	c.Add(&trace.ClockSnapshot{Trace: 200, Mono: 5210})
	for at, want := range map[trace.Time]time.Duration{50: 4050, 150: 4150, 250: 4260} {
		if got := c.At(at); got != want {
			t.Errorf("trace time %d is %d, want %d", at, got, want)
		}
	}
	if want := []time.Duration{10}; !slices.Equal(c.Errors, want) {
		t.Errorf("disagreements %v, want %v", c.Errors, want)
	}
}
