package bands

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/record/breakdown"
)

// TestNamesDivideTheBands: each request of a mix has its own bands, unmarked and unknown requests are in none, and
// of many names those with the most time are kept.
func TestNamesDivideTheBands(t *testing.T) {
	var names []string
	for i := range 30 {
		names = append(names, string(rune('A'+i)))
	}
	a := New(site.NewOwnership(), Options{MaxParts: 20, Names: names})
	add := func(request int, state interned.State, took time.Duration) {
		end := trace.Time(took)
		segments := []goroutines.Segment{{To: end, State: state}, {From: end, To: end + 1000, State: interned.Runnable}}
		a.Add(1, &goroutines.Conn{Mark: goroutines.Mark{ID: "7", Request: request}}, segments, nil, &goroutines.Clock{})
	}
	for i := range 30 {
		for n := range 10 {
			add(i+1, interned.Running, time.Duration(i+1)*time.Millisecond+time.Duration(n))
		}
	}
	add(0, interned.Running, time.Second)  // not marked
	add(31, interned.Running, time.Second) // of no mix that is known
	out := a.Anatomy()
	if len(out.Named) != maxNamed || out.Named[0].Name != names[29] || out.Named[23].Name != names[6] {
		t.Fatalf("%d names, the first %+v", len(out.Named), out.Named)
	}
	n := out.Named[0]
	if n.Requests != 10 || n.MeanNS != 30*time.Millisecond+1004 || n.TailNS != 30*time.Millisecond+1009 {
		t.Errorf("%d requests, mean %v, tail %v", n.Requests, n.MeanNS, n.TailNS)
	}
	want := []breakdown.Piece{{Part: n.Tail[0].Part, NS: 30_000_009, Times: 1}, {Part: n.Tail[1].Part, NS: 1000, Times: 1}}
	if !slices.Equal(n.Tail, want) ||
		out.All[n.Tail[0].Part].State != breakdown.StateRunning {
		t.Errorf("tail %+v", n.Tail)
	}
}
