package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/breakdown"
)

// Flight finds requests that wait for another request's computation.
//
// A closed channel wakes all goroutines that wait for it, a semaphore only one:
// that distinguishes a shared result from a slot. If the request in flight waits
// for something, that is the root cause, so the followers' waits are attributed to
// it and not counted as calls of their own.
var Flight = diagnose.Analyzer{
	Name:  "flight",
	Stage: diagnose.Wait,
	Doc: "Sums waits for a computation that another request does for all, at least 20 % of request time or half of the tail's " +
		"extra time: inside a single-flight group, and if a request that went through the same function wakes all waiters at " +
		"once (a closed channel, a WaitGroup). If the computing request waits for something outside, that is the root " +
		"cause.",
	Causes: []diagnose.Cause{flightCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	Run: func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		var found []diagnose.Finding
		for _, s := range waits.ByOwner(followers(p)) {
			v, ok := waitgain.Decide(p, s, waitgain.Serial)
			if !ok {
				continue
			}
			f := v.Finding(p, "singleflight-convoy", s)
			ahead := inFlight(p, s)
			meanwhile(p, &f, ahead, "the one in flight")
			f.Title = fmt.Sprintf("%s for another request's computation at %s", v.Requests(), diagnose.At(s.Place))
			f.Remedy = fmt.Sprintf("Use finer keys at %s, or return the stale value while one request renews it.", diagnose.At(s.Place))
			p.Queue(f, ahead)
			found = append(found, f)
		}
		return found, nil
	},
}

// inFlight returns a site with what the requests in flight do while others wait for them at its owner's places, whatever their
// followers' waits are attributed to.
func inFlight(p *diagnose.Pass, s waits.Site) waits.Site {
	s.Part = breakdown.Part{State: s.Part.State, Stack: s.Part.Stack}
	for _, part := range p.Anatomy.All {
		at, _ := p.Stacks.Place(part.Stack)
		if callstack.Owner(at.Function) != callstack.Owner(s.Place.Function) {
			continue
		}
		if p.Stacks.Wait(part) == callstack.FlightWait || p.Ender(part).By == waits.ByShared {
			s.Part.NS += part.NS
			s.Part.Behind = append(s.Part.Behind, part.Behind...)
		}
	}
	return s
}

// followers returns all waits for a computation in flight at the places where the
// followers wait, including those that are otherwise attributed to what the request
// in flight waits for.
func followers(p *diagnose.Pass) []waits.Site {
	w := p.Waits()
	sites := append([]waits.Site{}, w.Sites(callstack.FlightWait)...)
	for _, kind := range w.Kinds() {
		for _, s := range w.Sites(kind) {
			if s.Via == callstack.FlightWait {
				s.Place = s.From
				sites = append(sites, s)
			}
		}
	}
	return sites
}
