package wait

import (
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/record/code"
)

// section returns the function that holds a lock through two helpers, such as lock and unlock of transfer.sh: one of them only
// takes it and the other only releases it, and both are called by the same function. What runs in between is that one's.
// all are the waits for locks. ok is false where a function takes and releases the lock itself.
func section(p *diagnose.Pass, s waits.Site, all []waits.Site) (at code.Frame, ok bool) {
	takes, by, ok := inner(p, s.Part.Stack)
	prof, err := p.Profile("mutex", "delay")
	if !ok || err != nil {
		return at, false
	}
	owner, charged, within := callstack.Owner(takes.Function), int64(0), int64(0)
	for _, sample := range prof.Samples {
		releases, caller, known := inner(p, sample.Stack)
		if !known || callstack.Owner(releases.Function) != owner {
			continue
		}
		name := callstack.Unwrapped(releases.Function)
		if name == takes.Function {
			return at, false
		}
		charged += sample.Value
		waits := slices.ContainsFunc(all, func(w waits.Site) bool { return w.Place.Function == name })
		if !waits && callstack.Unwrapped(caller.Function) == by.Function {
			within += sample.Value
		}
	}
	return by, charged > 0 && 2*within > charged
}

// inner returns the two innermost functions of the service's on a stack.
func inner(p *diagnose.Pass, stack []code.Frame) (first, second code.Frame, ok bool) {
	i := p.Stacks.Innermost(stack)
	if i < 0 {
		return first, second, false
	}
	j := slices.IndexFunc(stack[i+1:], func(f code.Frame) bool {
		return p.Stacks.User(f) && callstack.Unwrapped(f.Function) != callstack.Unwrapped(stack[i].Function)
	})
	if j < 0 {
		return first, second, false
	}
	return stack[i], stack[i+1+j], true
}
