package downstream

import (
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
)

// mostSaved is the part of the calls' time that making them concurrently must save for the queue of a lock that is held meanwhile to be
// their consequence. If less is saved, holding the lock for so long is what remains.
const mostSaved = 0.75

// answers are the kinds of wait for another service's response.
var answers = []callstack.Wait{callstack.HTTPWait, callstack.HTTPOpen, callstack.RPCWait, callstack.NetworkWait, callstack.OwnServer}

// queued returns the part of request time, 0 to 1, in which requests queue for a lock whose holder waits for one of the calls, and the
// functions that wait for it. The queue becomes shorter as the calls do, because what is done under a lock is worth its queue, too.
func (s sequence) queued(p *diagnose.Pass) (share float64, behind []string) {
	var callers []string
	for _, c := range s.calls {
		if name := callstack.Enclosing(c.chain[0].Function); !slices.Contains(callers, name) {
			callers = append(callers, name)
		}
	}
	for _, kind := range []callstack.Wait{callstack.LockWait, callstack.ReadLockWait} {
		for _, site := range p.Waits().Sites(kind) {
			part := 0.0
			for _, function := range callers {
				part += p.MeanwhileAt(site, function, answers...)
			}
			if part > 0 {
				share, behind = share+site.Share*part, append(behind, site.Place.Function)
			}
		}
	}
	return min(1, share), behind
}
