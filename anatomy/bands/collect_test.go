package bands

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/timebase"
	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/site"
)

// TestLoadSaysThatWholeRequestsAreFast adds few cut requests that hold most of the time. They count if the load's mean request says
// that they are its own; otherwise they are streams.
func TestLoadSaysThatWholeRequestsAreFast(t *testing.T) {
	for mean, want := range map[time.Duration]int{0: 0, 3 * time.Millisecond: 0, 60 * time.Millisecond: 5} {
		a := New(site.NewOwnership(), Options{MaxParts: 20, Mean: mean})
		a.Stacks.NextTrace()
		part := func(took time.Duration) []goroutines.Segment {
			return []goroutines.Segment{{To: trace.Time(took), State: interned.State(0)}}
		}
		for range 100 {
			a.Add(1, &goroutines.Conn{}, part(2*time.Millisecond), nil, &goroutines.Clock{})
		}
		for range 5 {
			a.CutOff(1)
			a.AddPartial(part(time.Second), nil)
		}
		out := a.Anatomy()
		if out.Partial != want || want > 0 && out.MeanNS < 45*time.Millisecond {
			t.Errorf("a mean request of %v: %d cut ones count, want %d; their mean is %v", mean, out.Partial, want, out.MeanNS)
		}
	}
}

// TestCoverage: requests that an edge of a trace cuts count in the bands, but say nothing of
// how many were lost between the edges.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		whole, cut, merged int
		want               float64
	}{{8, 0, 2, 0.8}, {5, 40, 20, 0.2}, {0, 3, 17, 0}, {0, 3, 0, 1}} {
		a := New(site.NewOwnership(), Options{MaxParts: 20})
		a.Stacks.NextTrace()
		segments := []goroutines.Segment{{To: trace.Time(time.Millisecond), State: interned.State(0)}}
		for range c.whole {
			a.Add(1, &goroutines.Conn{}, segments, nil, &goroutines.Clock{})
		}
		for range c.cut {
			a.CutOff(1)
			a.AddPartial(segments, nil)
		}
		a.MergedInto = c.merged
		if got := a.Anatomy().Coverage; got != c.want {
			t.Errorf("%d whole, %d cut and %d merged: %v, want %v", c.whole, c.cut, c.merged, got, c.want)
		}
	}
}

// TestBandsAddUp adds random requests, with more sites than a list may hold, and asserts
// exact sums.
func TestBandsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a := New(site.NewOwnership(), Options{MaxParts: 20, MaxSlowest: 3})
	a.Stacks.NextTrace()
	for i := range 300 {
		a.Stacks.Intern(trace.MakeStack([]trace.StackFrame{{Func: "main.f", File: "f.go", Line: uint64(i + 1)}}))
	}
	var want time.Duration
	for range 1003 {
		var segments []goroutines.Segment
		at := trace.Time(r.IntN(1000))
		for range 1 + r.IntN(40) {
			next := at + trace.Time(1+r.IntN(100000))
			s := goroutines.Segment{From: at, To: next, State: interned.State(r.IntN(len(interned.States)))}
			if s.State.Sited() {
				s.Stack = interned.Stack(1 + r.IntN(300))
			}
			segments = append(segments, s)
			at = next
		}
		want += at.Sub(segments[0].From)
		a.Add(1, &goroutines.Conn{}, segments, nil, &goroutines.Clock{})
	}
	out := a.Anatomy()
	running := time.Duration(0)
	for _, p := range out.All {
		if p.State == breakdown.StateRunning {
			running += time.Duration(p.NS)
		}
	}
	if r := out.Ran; r == nil || (r.MeanNS-running).Abs() > 1 || !(0 <= r.P10NS && r.P10NS < r.P50NS && r.P50NS < 2*r.MeanNS) {
		t.Errorf("requests ran %+v, their parts for %v", r, running)
	}
	if out.MeanNS != want/1003 {
		t.Errorf("mean %v, want %v", out.MeanNS, want/1003)
	}
	for name, band := range map[string][]breakdown.Part{"all": out.All, "median": out.Median, "tail": out.Tail} {
		var sum int64
		share := 0.0
		others := 0
		for i, p := range band {
			sum, share = sum+p.NS, share+p.Share
			if p.Site == otherSites {
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
		if len(band) > 20+len(interned.States) || others == 0 {
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

// TestAlignment sums up by how much the clock snapshots of one trace disagree.
func TestAlignment(t *testing.T) {
	if got, want := alignment([]time.Duration{30, 10, 20}), (timebase.Align{P50: 20, P99: 30}); got != want {
		t.Errorf("disagreement %v, want %v", got, want)
	}
}
