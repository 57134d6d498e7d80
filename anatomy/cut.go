package anatomy

import (
	"github.com/redline-go/redline/anatomy/timeline"
)

// cutAtEnd ends the request that a goroutine still serves as the trace ends.
//
// Subtle: the wait that it is in has no end, so what ends it is not known. Where
// one goroutine alone ended all waits of requests in the same function, it is taken for
// the one that is waited for; else the time counts as its state at its stack.
func (t *tracker) cutAtEnd(g *timeline.Goroutine) {
	c := g.Conn
	var e timeline.Ended
	if w := t.stacks.Info(g.Stack).Waits; g.State.Followed() && w.Trace == t.stacks.Trace && !w.Several && w.By != g.ID {
		e.By = w.By
	}
	g.Stay(t.last, e, t.follower)
	overlong := c.Overlong
	begin := c.Begin
	segments, samples := c.Take(t.last)
	t.all.CutOff(c.Server)
	for len(segments) > 0 && segments[0].From < begin {
		segments = segments[1:]
	}
	if !overlong {
		t.all.AddPartial(segments, samples)
	}
}
