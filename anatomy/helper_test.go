package anatomy_test

import (
	"testing"

	"github.com/redline-go/redline/record/code"
)

// Goroutines that a request starts, and that end before it, are known by the function
// they began in and by who started them; what a connection or the service keeps is none.
func TestHelpers(t *testing.T) {
	a := recorded(t, "fanout")
	if len(a.Helpers) != 1 {
		t.Fatalf("%d kinds of helpers, want what the group runs: %+v", len(a.Helpers), a.Helpers)
	}
	h := a.Helpers[0]
	if per := float64(h.Count) / float64(a.Requests); h.Entry != "main.fanOut.func1" ||
		per < 2.9 || per > 3.2 {
		t.Errorf("%.2f per request of %s, want three that it handed to the group", per, h.Entry)
	}
	if !onStack(h.Start, "main.fanOut") || !onStack(h.Start, "net/http.(*conn).serve") {
		t.Errorf("started by %v, want fanOut within a request", h.Start)
	}
	for _, name := range []string{"store", "lock"} {
		for _, h := range recorded(t, name).Helpers {
			t.Errorf("%s: %+v is told as a helper of a request", name, h)
		}
	}
}

func onStack(stack []code.Frame, function string) bool {
	for _, f := range stack {
		if f.Function == function {
			return true
		}
	}
	return false
}
