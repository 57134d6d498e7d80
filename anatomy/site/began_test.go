package site

import (
	"testing"

	"github.com/redline-go/redline/record/code"
)

func TestBegan(t *testing.T) {
	for _, c := range []struct {
		stack []string // innermost first
		want  string   // "" is unknown
	}{
		{[]string{"runtime.gopark", "main.worker", "main.main.func1"}, "main.main.func1"},
		{[]string{"runtime.gopark", "main.(*index).rebuild", "sync.(*WaitGroup).Go.func1"}, "main.(*index).rebuild"},
		{[]string{"net.(*conn).Read", "main.ask", "main.all.func1", "golang.org/x/sync/errgroup.(*Group).Go.func1"}, "main.all.func1"},
		{[]string{"main.tick", "github.com/sourcegraph/conc/panics.(*Catcher).Try", "github.com/sourcegraph/conc.(*WaitGroup).Go.func1"},
			"main.tick"},
		// The function that was handed over has returned.
		{[]string{"sync.(*WaitGroup).Add", "sync.(*WaitGroup).Done", "sync.(*WaitGroup).Go.func1"}, ""},
		{[]string{"golang.org/x/sync/errgroup.(*Group).Go.func1"}, ""},
		{[]string{"runtime.gcBgMarkWorker"}, "runtime.gcBgMarkWorker"},
		{nil, ""},
	} {
		var frames []code.Frame
		for _, f := range c.stack {
			frames = append(frames, code.Frame{Function: f})
		}
		if f, ok := Began(frames); ok != (c.want != "") || ok && f.Function != c.want {
			t.Errorf("%v began in %q, %v", c.stack, f.Function, ok)
		}
	}
}
