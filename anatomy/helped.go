package anatomy

import (
	"github.com/redline-go/redline/anatomy/goroutines"
)

// helped counts a goroutine at its end, where it worked for one request alone: that
// request started it, itself or by a helper, and is still under way. What outlives its
// request may work for later ones, as a connection's reader does.
func (t *tracker) helped(g *goroutines.Goroutine) {
	if g.Started == 0 || g.Entry == 0 {
		return
	}
	if c, _ := g.Request(); c != nil {
		t.all.AddHelper(g.Entry, g.Started)
	}
}
