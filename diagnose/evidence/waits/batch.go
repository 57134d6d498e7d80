package waits

import (
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/breakdown"
)

// This file recognises goroutines that gather what requests hand them, until a timer fires, to work on it together.

const (
	// mostTimed is the part of a wait's time that must end because of a timer for requests to wait for that.
	mostTimed = 0.5
	// leastWork is the part of a wait in which a goroutine must work before it ends the wait for requests to wait for that work:
	// a twentieth is what a comparison can show. To announce that something is new takes less.
	leastWork = 0.05
)

// gathers reports whether at the end of a chain a goroutine that a timer sets off waits for more requests, which have not come yet: those
// that wait already do not need them. It returns the link at which it waits.
func (d *divider) gathers(part breakdown.Part, c breakdown.Chain) (at int, ok bool) {
	if !(part.Timed >= mostTimed) {
		return 0, false
	}
	at = len(c.Links) - 1
	for at >= 0 && d.awaitsRequests(c.Links[at]) {
		at--
	}
	if at < 0 || at == len(c.Links)-1 {
		return 0, false
	}
	l := c.Links[at]
	return at, !l.Request && (l.State == breakdown.StateChannel || l.State == breakdown.StateSelect)
}

// awaitsRequests reports whether a link is a server's goroutine that waits for its client outside any handler.
func (d *divider) awaitsRequests(l breakdown.Link) bool {
	serves := l.Request || d.p.Stacks.Role(l.Goroutine).Has(callstack.Server|callstack.ServerIO)
	return serves && (l.State == breakdown.StateNetwork || l.State == breakdown.StateSelect) && d.p.Stacks.Innermost(l.Stack) < 0
}

// handsIn reports whether requests hand something to the goroutine that wakes all of them at once, rather than wait for what it announces:
// requests wake it, or it works for them before it does. A poll that its own timer ends at times is none.
func (d *divider) handsIn(part breakdown.Part) bool {
	var followed, works int64
	for _, c := range part.Behind {
		followed += c.NS
		switch d.p.Stacks.Root(c) {
		case callstack.SleepWait, callstack.EventWait, callstack.OtherWait, callstack.Queued, callstack.ClientWait:
		default:
			works += c.NS
		}
	}
	if !callstack.Broadcasts(part.Waker) || float64(followed) < (1-mostOpen)*float64(part.NS) {
		return false
	}
	entry := measured.Entry(part.Waker)
	woken := slices.ContainsFunc(d.p.Anatomy.Woken, func(w breakdown.Woken) bool {
		return w.Entry == entry && w.Requests > 0 && 2*w.Requests >= w.Count
	})
	return woken || float64(works) >= leastWork*float64(part.NS)
}

// mostOpen is the part of a wait's time that may not be followed, such as what its own timer ends.
const mostOpen = 0.1
