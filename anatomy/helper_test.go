package anatomy_test

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/record/code"
)

// Goroutines that a request starts, and that end before it, are known by the function
// they began in and by who started them; what a connection or the service keeps is none.
func TestHelpers(t *testing.T) {
	a := recorded(t, "fanout")
	if len(a.Helpers) != 1 {
		t.Fatalf("%d kinds of helpers, want that of the group: %+v", len(a.Helpers), a.Helpers)
	}
	h := a.Helpers[0]
	if per := float64(h.Count) / float64(a.Requests); !strings.HasPrefix(h.Entry,
		"golang.org/x/sync/errgroup.(*Group).Go.") || per < 2.9 || per > 3.2 {
		t.Errorf("%.2f per request of %s, want three of the group's", per, h.Entry)
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
