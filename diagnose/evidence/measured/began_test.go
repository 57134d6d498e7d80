package measured_test

import (
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/evidence/measured"
)

// TestBegan: goroutines of a helper that runs a function passed to it are identified by that function; a pool's,
// and a loop of steps, by where they began.
func TestBegan(t *testing.T) {
	const helper = "shop/node.(*Node).start.func1@start.go:9"
	lead := []string{"runtime.gopark", "shop/node.(*Node).lead@lead.go:40", helper}
	apply := []string{"runtime.gopark", "shop/node.(*Node).apply@apply.go:20", helper}
	idle := []string{"runtime.gopark", "runtime.chanrecv1", helper}
	for _, c := range []struct {
		name string
		b    *Builder
		want string
	}{
		{"handed", Healthy().Left(1, 1, lead...).Left(1, 1, apply...), "shop/node.(*Node).lead"},
		{"one function alone", Healthy().Left(1, 1, lead...), "shop/node.(*Node).start.func1"},
		{"a worker waits by itself", Healthy().Left(1, 1, lead...).Left(1, 1, apply...).Left(0, 1, idle...), "shop/node.(*Node).start.func1"},
		{"a worker that waited between dumps", Healthy().Left(1, 1, lead...).Left(1, 1, apply...).Blocked(1, idle...),
			"shop/node.(*Node).start.func1"},
		{"a loop that runs between its steps", Healthy().Left(1, 1, lead...).Left(1, 1, apply...).Background(1, helper),
			"shop/node.(*Node).start.func1"},
		{"one step after another", Healthy().Left(1, 0, lead...).Left(0, 1, apply...), "shop/node.(*Node).start.func1"},
	} {
		if got := measured.New(c.b.Open(t)).Began(Stack(lead...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	p := measured.New(Healthy().Left(1, 1, lead...).Left(3, 3, apply...).Open(t))
	if n := p.Alive("shop/node.(*Node).apply"); len(n) != 2 || n[0] != 3 || n[1] != 3 {
		t.Errorf("alive: %v, want 3 and 3", n)
	}
	generic := []string{"runtime.chanrecv1", "shop/pool.(*Pool[go.shape.struct { ID []uint8 }]).work@pool.go:9"}
	if n := measured.New(Healthy().Left(4, 4, generic...).Open(t)).Alive("shop/pool.(*Pool[...]).work"); len(n) != 2 || n[0] != 4 {
		t.Errorf("alive by the name that traces have: %v, want 4 and 4", n)
	}
	group := Stack("shop/node.(*Node).lead@lead.go:40", "golang.org/x/sync/errgroup.(*Group).Go.func1")
	if got := p.Began(group); got != "shop/node.(*Node).lead" {
		t.Errorf("below errgroup: %s", got)
	}
}
