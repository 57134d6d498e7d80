package wait

import (
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/record/code"
)

// mostHelpers is how many helpers, one around the other, are looked through.
const mostHelpers = 3

// section returns the function that holds a lock through helpers, such as lock and unlock of transfer.sh: one only takes
// it, the other only releases it, and the same function calls both. Whatever runs in between belongs to that function. Helpers
// may have helpers: LedisDB locks a batch through a locker's Lock.
// all are the waits for locks. ok is false where a function takes and releases the lock itself.
func section(p *diagnose.Pass, s waits.Site, all []waits.Site) (at code.Frame, ok bool) {
	takers := usersOf(p, s.Part.Stack)
	prof, err := p.Profile("mutex", "delay")
	if len(takers) < 2 || err != nil {
		return at, false
	}
	owner, charged, within := callstack.Owner(takers[0].Function), int64(0), make([]int64, len(takers))
	for _, sample := range prof.Samples {
		releasers := usersOf(p, sample.Stack)
		if len(releasers) < 2 || callstack.Owner(releasers[0].Function) != owner {
			continue
		}
		name := callstack.Unwrapped(releasers[0].Function)
		if name == takers[0].Function {
			return at, false
		}
		charged += sample.Value
		waits := slices.ContainsFunc(all, func(w waits.Site) bool { return w.Place.Function == name })
		if i := meet(takers, releasers); !waits && i > 0 {
			within[i] += sample.Value
		}
	}
	for i, part := range within {
		if charged > 0 && 2*part > charged {
			return takers[i], true
		}
	}
	return at, false
}

// meet returns the index of the innermost function on the first of two stacks that called helpers on both; 0 if none did.
func meet(takers, releasers []code.Frame) int {
	for i := 1; i < len(takers) && i <= mostHelpers; i++ {
		for j := 1; j < len(releasers) && j <= mostHelpers; j++ {
			if callstack.Unwrapped(takers[i].Function) == callstack.Unwrapped(releasers[j].Function) {
				return i
			}
		}
	}
	return 0
}

// usersOf returns the service's functions on a stack, innermost first, each once where it and its closures follow one another. A
// middleware that calls the next handler does not hold what that takes.
func usersOf(p *diagnose.Pass, stack []code.Frame) (list []code.Frame) {
	for _, f := range p.Stacks.Handler(stack) {
		if p.Stacks.User(f) && (len(list) == 0 ||
			callstack.Unwrapped(f.Function) != callstack.Unwrapped(list[len(list)-1].Function)) {
			list = append(list, f)
		}
	}
	return list
}
