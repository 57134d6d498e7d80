package measured

import (
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
)

// adopt attributes samples of goroutines that a dependency starts for one call, and waits for in that call, to the caller:
// a library that scales an image on all CPUs uses goroutines of its own, with none of the user's functions on their
// stacks. The traces show that it waits: a request waits in the function around the closure in which such a
// goroutine begins. If several ways lead there, only what they have in common is added.
func (p *Run) adopt(prof *Profile) {
	if p.Anatomy == nil {
		return
	}
	started := map[string][]int{}   // samples, by the function that started their goroutine
	outside := map[string][]outer{} // by the same
	for i, s := range prof.Samples {
		if len(s.Stack) == 0 || s.Cut || p.Stacks.Innermost(s.Stack) >= 0 {
			continue
		}
		entry := s.Stack[len(s.Stack)-1].Function
		if starter := callstack.Enclosing(entry); starter != entry && callstack.Dependency(entry) {
			started[starter], outside[starter] = append(started[starter], i), nil
		}
	}
	if len(started) == 0 {
		return
	}
	at := map[string]code.Frame{}
	add := func(stack []code.Frame, ns float64) {
		gather(outside, stack, ns)
		for _, f := range stack {
			if _, asked := outside[f.Function]; asked {
				at[f.Function] = f
			}
		}
	}
	for _, part := range p.Anatomy.All {
		add(part.Stack, float64(part.NS))
		for _, c := range part.Behind {
			for _, l := range c.Links {
				add(l.Stack, float64(c.NS))
			}
		}
	}
	for starter, samples := range started {
		way, _ := common(outside[starter])
		if p.Stacks.Innermost(way) < 0 {
			continue
		}
		for _, i := range samples {
			s := &prof.Samples[i]
			s.Stack = slices.Concat(s.Stack, []code.Frame{at[starter]}, way)
		}
	}
}
