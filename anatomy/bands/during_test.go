package bands

import (
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/record/timebase"
)

// TestTracesDivideTheBands: what the requests of each trace did adds up to what all of them did, part by part,
// even where a list merges the small ones; a trace without requests has no parts.
func TestTracesDivideTheBands(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a := New(site.NewOwnership(), Options{MaxParts: 20})
	a.Stacks.NextTrace()
	for i := range 60 {
		a.Stacks.Intern(trace.MakeStack([]trace.StackFrame{{Func: "main.f", File: "f.go", Line: uint64(i + 1)}}))
	}
	counts := []int{300, 0, 700}
	for i, n := range counts {
		at := time.Duration(i) * 10 * time.Second
		a.NextTrace(timebase.Span{From: at, To: at + time.Second})
		for range n {
			var segments []goroutines.Segment
			at := trace.Time(0)
			for range 1 + r.IntN(10) {
				next := at + trace.Time((i+1)*(1+r.IntN(100000)))
				s := goroutines.Segment{From: at, To: next, State: interned.State(r.IntN(len(interned.States)))}
				if s.State.Sited() {
					s.Stack = interned.Stack(1 + r.IntN(60))
				}
				segments, at = append(segments, s), next
			}
			a.Add(1, &goroutines.Conn{}, segments, nil, &goroutines.Clock{})
		}
	}
	out := a.Anatomy()
	if len(out.During) != 3 {
		t.Fatalf("%d spans, want one per trace", len(out.During))
	}
	byPart := make([]int64, len(out.All))
	for i, d := range out.During {
		if d.Requests != counts[i] || d.From != time.Duration(i)*10*time.Second {
			t.Errorf("span %d: %d requests from %v", i, d.Requests, d.From)
		}
		if counts[i] == 0 {
			if len(d.All)+len(d.Tail) > 0 || d.MeanNS != 0 {
				t.Errorf("a trace without requests: %+v", d)
			}
			continue
		}
		var sum int64
		for k, p := range d.All {
			sum += p.NS
			byPart[p.Part] += p.NS * int64(d.Requests)
			if k > 0 && p.NS > d.All[k-1].NS {
				t.Errorf("span %d: not sorted at %d", i, k)
			}
		}
		if missing := int64(d.MeanNS) - sum; missing < 0 || missing > int64(len(d.All)) {
			t.Errorf("span %d: pieces add up to %d of %d", i, sum, d.MeanNS)
		}
		if !(d.MedianNS < d.TailNS) {
			t.Errorf("span %d: median %v, tail %v", i, d.MedianNS, d.TailNS)
		}
	}
	for i, ns := range byPart {
		if off := ns/1000 - out.All[i].NS; off < -3 || off > 3 {
			t.Errorf("part %d (%s at %s): %d in the traces, %d in all", i, out.All[i].State, out.All[i].Site, ns/1000, out.All[i].NS)
		}
	}
	if ratio := float64(out.During[2].MeanNS) / float64(out.During[0].MeanNS); ratio < 2.7 || ratio > 3.3 {
		t.Errorf("the third trace's requests take %.2f times the first's, want 3", ratio)
	}
}
