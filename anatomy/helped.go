package anatomy

import (
	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/goroutines"
)

// helped counts a goroutine at its end if it worked for only one request: that request
// started it, itself or through a helper, and is still in progress. A goroutine that
// outlives its request may work for later ones, such as a connection's reader.
func (t *tracker) helped(g *goroutines.Goroutine) {
	if g.Started == 0 || g.Entry == 0 {
		return
	}
	if c, _ := g.Request(); c != nil {
		t.all.AddHelper(t.stacks.Called(g.Entry), g.Started)
	}
}

// left counts a goroutine as the trace ends if the request that started it ended before.
func (t *tracker) left(g *goroutines.Goroutine) {
	if g.Dead || g.Started == 0 || g.Entry == 0 {
		return
	}
	if c, _ := g.Request(); c == nil {
		t.all.AddLeft(t.stacks.Called(g.Entry), g.Started)
	}
}

// woken counts the end of a wait of a goroutine that serves no request, and returns who ended it.
func (t *tracker) woken(g *goroutines.Goroutine, from trace.GoState, e goroutines.Ended) goroutines.Ended {
	if from != trace.GoWaiting {
		return e
	}
	if counts, request := t.goroutines.Woken(g, g.State, e); counts && g.Entry != 0 {
		t.all.AddWoken(t.stacks.Called(g.Entry), request)
	}
	return e
}
