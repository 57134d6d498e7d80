package downstream

import (
	"maps"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
)

// mostSaved is the part of the calls' time that making them concurrently must save for the queue of a lock that is held meanwhile to be
// their consequence. If less is saved, holding the lock for so long is what remains.
const mostSaved = 0.75

// answers are the kinds of wait for another service's answer.
var answers = []callstack.Wait{callstack.HTTPWait, callstack.HTTPOpen, callstack.RPCWait, callstack.NetworkWait, callstack.OwnServer}

// queued returns the part of request time, 0 to 1, in which requests queue for a lock whose holder waits for one of the calls: it becomes
// shorter as the calls do, because what is done under a lock is worth its queue, too.
func (s sequence) queued(p *diagnose.Pass) (share float64) {
	for _, part := range s.locked(p) {
		share += part
	}
	return min(1, share)
}

// locks returns the functions that wait for such a lock.
func (s sequence) locks(p *diagnose.Pass) []string { return slices.Sorted(maps.Keys(s.locked(p))) }

// locked returns the parts of request time in such queues, by the function that waits.
func (s sequence) locked(p *diagnose.Pass) map[string]float64 {
	callers := map[string]bool{}
	for _, c := range s.calls {
		callers[callstack.Enclosing(c.chain[0].Function)] = true
	}
	parts := map[string]float64{}
	for _, kind := range []callstack.Wait{callstack.LockWait, callstack.ReadLockWait} {
		for _, site := range p.Waits().Sites(kind) {
			for function := range callers {
				if part := p.MeanwhileAt(site, function, answers...); part > 0 {
					parts[site.Place.Function] += site.Share * part
				}
			}
		}
	}
	return parts
}
