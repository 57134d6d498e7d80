package measured

import (
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
