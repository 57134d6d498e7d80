package measured

import (
	"maps"
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// TestAdopt: what a dependency's goroutines run belongs to the call that waits for them; other goroutines
// stay by themselves.
func TestAdopt(t *testing.T) {
	frames := func(names string) (stack []code.Frame) {
		for name := range strings.FieldsSeq(names) {
			stack = append(stack, code.Frame{Function: name})
		}
		return stack
	}
	const parallel, pool = "example.com/imaging.parallel", "example.com/imaging.NewPool"
	wait := breakdown.Part{State: breakdown.StateSync, NS: 100, Stack: frames("sync.(*WaitGroup).Wait " + parallel +
		" example.com/imaging.Resize shop/photo.Thumbnail net/http.(*conn).serve")}
	for _, c := range []struct{ name, stack, want string }{
		{"waited for", "math.Sqrt " + parallel + ".func1", "math.Sqrt " + parallel + ".func1 " + parallel +
			" example.com/imaging.Resize shop/photo.Thumbnail net/http.(*conn).serve"},
		{"a go statement's wrapper", "math.Sqrt " + parallel + ".gowrap2", "math.Sqrt " + parallel + ".gowrap2 " + parallel +
			" example.com/imaging.Resize shop/photo.Thumbnail net/http.(*conn).serve"},
		{"not waited for", "math.Sqrt " + pool + ".func1", "math.Sqrt " + pool + ".func1"},
		{"the user's own", "math.Sqrt shop/photo.scan " + parallel + ".func1", "math.Sqrt shop/photo.scan " + parallel + ".func1"},
		{"no closure", "math.Sqrt " + parallel, "math.Sqrt " + parallel},
	} {
		p := &Run{Anatomy: &breakdown.Anatomy{All: []breakdown.Part{wait}}, Stacks: callstack.NewIndex(callstack.Code{Module: "shop"})}
		prof := &Profile{Samples: []Sample{{Value: 10, Stack: frames(c.stack)}}}
		p.adopt(prof)
		var got []string
		for _, f := range prof.Samples[0].Stack {
			got = append(got, f.Function)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestAdoptSplits: what such goroutines run for several callers is split in proportion to the time that requests wait in each,
// and nothing is lost or gained.
func TestAdoptSplits(t *testing.T) {
	const next = "example.com/sqlite.(*Rows).Next"
	wait := func(ns int64, caller string) breakdown.Part {
		return breakdown.Part{State: breakdown.StateSync, NS: ns, Stack: []code.Frame{{Function: "runtime.selectgo"}, {Function: next},
			{Function: caller}, {Function: "shop/api.Handle"}, {Function: "net/http.(*conn).serve"}}}
	}
	stack := []code.Frame{{Function: "sqlite3_step"}, {Function: next + ".func1"}}
	adopt := func(parts ...breakdown.Part) map[string]int64 {
		p := &Run{Anatomy: &breakdown.Anatomy{All: parts}, Stacks: callstack.NewIndex(callstack.Code{Module: "shop"})}
		prof := &Profile{Samples: []Sample{{Value: 7, Count: 1, Stack: []code.Frame{{Function: "shop/api.Handle"}}},
			{Value: 11, Count: 3, Stack: stack}}}
		p.adopt(prof)
		by := map[string]int64{}
		for _, s := range prof.Samples {
			at := ""
			for _, f := range s.Stack {
				if strings.HasPrefix(f.Function, "shop/db.") || strings.HasPrefix(f.Function, "example.com/other.") {
					at = f.Function
				}
			}
			by[at] += s.Value
			by["count"] += s.Count
		}
		return by
	}
	for _, c := range []struct {
		name  string
		parts []breakdown.Part
		want  map[string]int64
	}{
		{"two callers", []breakdown.Part{wait(60, "shop/db.Times"), wait(20, "shop/db.Stops"), wait(20, "shop/db.Times")},
			map[string]int64{"": 7, "count": 4, "shop/db.Times": 9, "shop/db.Stops": 2}},
		{"one", []breakdown.Part{wait(60, "shop/db.Times")}, map[string]int64{"": 7, "count": 4, "shop/db.Times": 11}},
	} {
		if got := adopt(c.parts...); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	foreign := wait(40, "example.com/other.poll")
	foreign.Stack = foreign.Stack[:3]
	if got, want := adopt(foreign, wait(60, "shop/db.Times")), map[string]int64{"": 18, "count": 4}; !maps.Equal(got, want) {
		t.Errorf("mostly not for the service's functions: %v, want %v", got, want)
	}
}
