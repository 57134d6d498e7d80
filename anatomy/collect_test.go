package anatomy

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/timebase"
)

func TestSplitByStops(t *testing.T) {
	w := world{stops: []stop{{10, 20}, {30, 40}, {50, 60}}, open: true, since: 90}
	tests := []struct {
		name     string
		from, to trace.Time
		want     []segment
	}{
		{"before all", 1, 9, []segment{{from: 1, to: 9, state: runnable}}},
		{"between", 20, 30, []segment{{from: 20, to: 30, state: runnable}}},
		{"within", 32, 38, []segment{{from: 32, to: 38, state: stopped}}},
		{"across two", 15, 35, []segment{{from: 15, to: 20, state: stopped}, {from: 20, to: 30, state: runnable}, {from: 30, to: 35, state: stopped}}},
		{"into the open one", 85, 95, []segment{{from: 85, to: 90, state: runnable}, {from: 90, to: 95, state: stopped}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []segment
			w.split(segment{from: test.from, to: test.to, state: runnable}, func(s segment) { got = append(got, s) })
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestAssistsAndOwnStops(t *testing.T) {
	g := &goroutine{state: running, conn: &conn{}}
	f := &follower{goroutines: newGoroutines(), world: &world{}}
	g.stay(10, ended{}, f)
	g.assist = true
	g.enter(runnable, 0, ended{}, 20, f) // preempted while it assists
	g.enter(running, 0, ended{}, 30, f)
	g.stay(40, ended{}, f)
	g.assist, g.stops = false, true
	g.stay(50, ended{}, f)
	var got []stateID
	for _, s := range g.conn.segments {
		got = append(got, s.state)
	}
	if want := []stateID{running, assist, assist, assist, stopped}; !slices.Equal(got, want) {
		t.Errorf("states %v, want %v", got, want)
	}
}

func TestTakeSplitsAtTheEnd(t *testing.T) {
	c := &conn{begin: 0, segments: []segment{{from: 0, to: 10}, {from: 10, to: 20}, {from: 20, to: 30}}}
	own, _ := c.take(15)
	if want := []segment{{from: 0, to: 10}, {from: 10, to: 15}}; !slices.Equal(own, want) {
		t.Errorf("took %v, want %v", own, want)
	}
	if want := []segment{{from: 15, to: 20}, {from: 20, to: 30}}; !slices.Equal(c.segments, want) {
		t.Errorf("left %v, want %v", c.segments, want)
	}
	if c.base != 15 || !c.based {
		t.Errorf("base is %v", c.base)
	}
}

// TestBandsAddUp fills a collector at random, with more sites than a list may
// hold, and asserts exact sums.
func TestBandsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a := newCollector(Options{MaxParts: 20, MaxSlowest: 3}.withDefaults())
	for i := range 300 {
		a.stacks.all = append(a.stacks.all, stackInfo{site: "site", waits: &ender{}, frames: []code.Frame{{Function: "f", Line: i}}})
	}
	var want time.Duration
	for range 1003 {
		var segments []segment
		at := trace.Time(r.IntN(1000))
		for range 1 + r.IntN(40) {
			next := at + trace.Time(1+r.IntN(100000))
			s := segment{from: at, to: next, state: stateID(r.IntN(len(states)))}
			if s.state.sited() {
				s.stack = stackID(1 + r.IntN(300))
			}
			segments = append(segments, s)
			at = next
		}
		want += at.Sub(segments[0].from)
		a.add(1, &conn{}, segments, nil, &traceClock{})
	}
	out := a.anatomy()
	if out.MeanNS != want/1003 {
		t.Errorf("mean %v, want %v", out.MeanNS, want/1003)
	}
	for name, band := range map[string][]breakdown.Part{"all": out.All, "median": out.Median, "tail": out.Tail} {
		var sum int64
		share := 0.0
		others := 0
		for i, p := range band {
			sum, share = sum+p.NS, share+p.Share
			if p.Site == OtherSites {
				others++
			}
			if i > 0 && p.NS > band[i-1].NS {
				t.Errorf("%s: not sorted at %d", name, i)
			}
		}
		mean := map[string]time.Duration{"all": out.MeanNS, "median": out.MedianNS, "tail": out.TailNS}[name]
		if sum != int64(mean) || share < 0.999999 || share > 1.000001 {
			t.Errorf("%s: parts add up to %d of %d, shares to %v", name, sum, mean, share)
		}
		if len(band) > 20+len(states) || others == 0 {
			t.Errorf("%s: %d parts, %d of other sites", name, len(band), others)
		}
	}
	if len(out.Slowest) != 3 || out.Slowest[0].Len() < out.Slowest[1].Len() || out.Slowest[0].Len() < out.P99NS {
		t.Errorf("slowest: %d timelines, p99 %v", len(out.Slowest), out.P99NS)
	}
	if out.MedianNS > out.TailNS || out.P50NS > out.P99NS {
		t.Errorf("median %v above tail %v, or p50 %v above p99 %v", out.MedianNS, out.TailNS, out.P50NS, out.P99NS)
	}
}

func TestShortenKeepsTheTime(t *testing.T) {
	line := breakdown.Timeline{}
	for i := range 5000 {
		s := breakdown.Segment{State: breakdown.StateRunning, From: line.To, NS: 100}
		if i%1000 == 0 {
			s = breakdown.Segment{State: breakdown.StateSleep, Site: "nap", From: line.To, NS: 100000}
		}
		line.Segments = append(line.Segments, s)
		line.To += time.Duration(s.NS)
	}
	short := shorten(line)
	if len(short) > maxTimeline+5 {
		t.Errorf("%d segments are left of %d", len(short), len(line.Segments))
	}
	at, naps := time.Duration(0), 0
	for _, s := range short {
		if s.From != at {
			t.Fatalf("segment at %v follows an end at %v", s.From, at)
		}
		at += time.Duration(s.NS)
		if s.Site == "nap" {
			naps++
		}
	}
	if at != line.To || naps != 5 {
		t.Errorf("the rest ends at %v of %v, with %d of 5 long segments", at, line.To, naps)
	}
}

// TestClock places instants by the snapshots around them.
func TestClock(t *testing.T) {
	c := traceClock{run: timebase.Clock{EpochMonotonic: 1000}}
	c.add(&trace.ClockSnapshot{Trace: 100, Mono: 5100})
	c.add(nil)
	c.add(&trace.ClockSnapshot{Trace: 200, Mono: 5210})
	c.add(&trace.ClockSnapshot{Trace: 200, Mono: 5210})
	for at, want := range map[trace.Time]time.Duration{50: 4050, 150: 4150, 250: 4260} {
		if got := c.at(at); got != want {
			t.Errorf("trace time %d is %d, want %d", at, got, want)
		}
	}
	if got, want := alignment(c.errors), (timebase.Align{P50: 10, P99: 10}); got != want {
		t.Errorf("disagreement %v, want %v", got, want)
	}
}
