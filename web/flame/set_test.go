package flame

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/stacks"
)

// unpack reads a graph back: each stack, outermost first, with its values.
func unpack(s *Set, g Graph) map[string][]int64 {
	out := map[string][]int64{}
	next, path := g.First, []string{}
	for i := range g.Up {
		frame := next - g.Frame[i]
		if g.Frame[i] == 0 {
			next++
		}
		path = path[:len(path)-g.Up[i]]
		path = append(path, fmt.Sprintf("%s:%d", s.Strings[s.Functions[2*s.Frames[2*frame]]], s.Frames[2*frame+1]))
		values := []int64{}
		for _, c := range g.Columns {
			values = append(values, c.Self[i])
		}
		if slices.ContainsFunc(values, func(v int64) bool { return v != 0 }) {
			out[strings.Join(path, ";")] = values
		}
	}
	return out
}

func stack(outermostFirst ...string) []code.Frame {
	var frames []code.Frame
	for i, name := range slices.Backward(outermostFirst) {
		frames = append(frames, code.Frame{Function: name, Line: i})
	}
	return frames
}

func TestStacksComeBack(t *testing.T) {
	var s Set
	var one, two tree
	one.addProfile(&stacks.Profile{Samples: []stacks.Sample{
		{
			Stack: stack("a", "b", "c"),
			Value: 5,
		}, {Stack: stack("a", "b"), Value: 3}, {Stack: stack("a", "d"), Value: 100}, {Stack: stack("e"), Value: 1},
	}}, 0)
	one.add(stack("a", "b", "c"), 1, 7)
	s.put(Graph{ID: "one", Columns: make([]Column, 2)}, &one)
	two.add(stack("x", "b", "c"), 0, 2)
	two.add(stack("a", "d"), 0, 4)
	s.put(Graph{ID: "two", Columns: make([]Column, 1)}, &two)
	for i, want := range []map[string][]int64{
		{"a:0;b:1;c:2": {5, 7}, "a:0;b:1": {3, 0}, "a:0;d:1": {100, 0}, "e:0": {1, 0}},
		{"x:0;b:1;c:2": {2}, "a:0;d:1": {4}},
	} {
		if got := unpack(&s, s.Graphs[i]); !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("graph %d: %v, want %v", i, got, want)
		}
	}
	if n := len(s.Frames) / 2; n != 6 {
		t.Errorf("%d frames, want those of both graphs once", n)
	}
}

// TestFullGraphSaysSo: frames without room count at their caller, under a name that says so.
func TestFullGraphSaysSo(t *testing.T) {
	g := tree{size: maxNodes - 1}
	g.add(stack("a", "b", "c"), 0, 1)
	g.add(stack("a", "d"), 0, 2)
	var s Set
	s.put(Graph{Columns: make([]Column, 1)}, &g)
	if got := unpack(&s, s.Graphs[0]); got["a:0;"+leftOut+":0"][0] != 3 {
		t.Errorf("%v", got)
	}
}

// TestAnatomySumsToTheRequest: states, stacks and what they wait for divide the request.
func TestAnatomySumsToTheRequest(t *testing.T) {
	a := &breakdown.Anatomy{All: []breakdown.Part{
		{State: breakdown.StateNetwork, NS: 70, Stack: stack("serve", "read"),
			Behind: []breakdown.Chain{
				{
					NS: 30,
					Links: []breakdown.Link{
						{Goroutine: "main.one", State: "lock", Site: "x"},
						{Goroutine: "main.two", State: "sleep"},
					},
				},
			}},
		{State: breakdown.StateRunning, NS: 30},
	}, Path: &breakdown.Path{NS: 100, Nodes: []breakdown.PathNode{{Kind: breakdown.PathState, State: "running", NS: 100,
		Nodes: []breakdown.PathNode{{Kind: breakdown.PathWork, Function: "main.f", NS: 60}}}}}}
	var s Set
	s.AddAnatomy(a)
	got := unpack(&s, s.Graphs[0])
	for path, want := range map[string]int64{
		"network:0;serve:0;read:1": 40, "running:0": 30,
		"network:0;serve:0;read:1;waits for main.one (lock at x):0;waits for main.two (sleep):0": 30,
	} {
		if got[path] == nil || got[path][0] != want {
			t.Errorf("%s: %v, want %d", path, got[path], want)
		}
	}
	if path := unpack(&s, s.Graphs[1]); path["running:0"][0] != 40 || path["running:0;main.f:0"][0] != 60 {
		t.Errorf("critical path: %v", path)
	}
}
