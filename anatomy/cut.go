package anatomy

import (
	"strings"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/server"
)

// workers returns the goroutine that works for each request that waits as the trace ends, by the
// goroutine that waits: middleware such as net/http.TimeoutHandler runs the handler on a goroutine
// of its own. If a request started exactly one within the trace, it is that one.
//
// Subtle: no event says who started a goroutine that ran before the trace began, but it began in a
// closure of the function that waits for it. If as many of those are left as requests wait there,
// each request has one, and which has which makes no difference to a sum.
func (t *tracker) workers() map[trace.GoID]trace.GoID {
	by := map[trace.GoID]trace.GoID{}
	started := map[*goroutines.Conn][]*goroutines.Goroutine{} // by request
	older := map[interned.Name][]*goroutines.Goroutine{}      // by the function that they began in
	sorted := t.goroutines.Sorted()
	for _, g := range sorted {
		switch name := t.stacks.Names[g.Entry]; {
		case g.Dead || name == "" || name == server.BackgroundRead || g.Conn != nil && g.Conn.Server != server.None:
		case g.Born == 0:
			older[g.Entry] = append(older[g.Entry], g)
		default:
			if c, _ := g.Request(); c != nil {
				started[c] = append(started[c], g)
			}
		}
	}
	waiting := map[string][]*goroutines.Goroutine{} // by the function that waits
	for _, g := range sorted {
		switch c := g.Conn; {
		case c == nil || c.Phase != goroutines.PhaseActive || !g.State.Followed():
		case len(started[c]) == 1 && started[c][0].Creator == g.ID:
			by[g.ID] = started[c][0].ID
		case len(started[c]) == 0:
			in := t.stacks.Info(g.Stack).WaitsIn()
			waiting[in] = append(waiting[in], g)
		}
	}
	for in, requests := range waiting {
		var working []*goroutines.Goroutine
		for entry, list := range older {
			if in == "" || !strings.HasPrefix(t.stacks.Names[entry], in+".") || len(list) != len(requests) {
				continue
			}
			if working != nil { // two closures of the function: it is unknown which one works
				working = nil
				break
			}
			working = list
		}
		for i, g := range working {
			by[requests[i].ID] = g.ID
		}
	}
	return by
}

// cutAtEnd ends the request that a goroutine still serves as the trace ends.
//
// Subtle: the wait that it is in has no end, so what ends it is not known. It is taken to be
// worker, the goroutine that works for the request, if there is one; else the goroutine that ended
// all waits of requests in the same function, if that was only one; else the time counts as its
// state at its stack.
func (t *tracker) cutAtEnd(g *goroutines.Goroutine, worker trace.GoID) {
	c := g.Conn
	e := goroutines.Ended{By: worker}
	if w := t.stacks.Info(g.Stack).Waits; worker == 0 && g.State.Followed() && w.Trace == t.stacks.Trace && !w.Several && w.By != g.ID {
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
