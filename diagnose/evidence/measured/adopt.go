package measured

import (
	"regexp"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
)

// closure matches the name of a function literal, or of a wrapper that the compiler makes for a go statement, and the
// function around it.
var closure = regexp.MustCompile(`^(.+?)(?:\.(?:func|gowrap)\d+)(?:[.\-]\w+)*$`)

// adopt gives the samples of goroutines that a dependency starts for one call, and waits for in that call, to who made the
// call: a library that scales an image on all CPUs does it in goroutines of its own, on whose stacks is nobody else. That
// it waits for them is seen in the traces: a wait of a request in the function around the closure that such a
// goroutine begins in. Where several ways lead there, only what they have in common is added.
func (p *Run) adopt(prof *Profile) {
	if p.Anatomy == nil {
		return
	}
	starters := map[string]string{} // of a goroutine, by the function it begins in
	outside := map[string][]outer{} // by starter
	for _, s := range prof.Samples {
		if len(s.Stack) == 0 || s.Cut || p.Stacks.Innermost(s.Stack) >= 0 {
			continue
		}
		entry := s.Stack[len(s.Stack)-1].Function
		if m := closure.FindStringSubmatch(entry); m != nil && callstack.Dependency(entry) {
			starters[entry], outside[m[1]] = m[1], nil
		}
	}
	if len(starters) == 0 {
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
	ways := map[string][]code.Frame{}
	for starter, all := range outside {
		if way, _ := common(all); p.Stacks.Innermost(way) >= 0 {
			ways[starter] = slices.Concat([]code.Frame{at[starter]}, way)
		}
	}
	for i := range prof.Samples {
		s := &prof.Samples[i]
		if s.Cut || len(s.Stack) == 0 || p.Stacks.Innermost(s.Stack) >= 0 {
			continue
		}
		if way := ways[starters[s.Stack[len(s.Stack)-1].Function]]; len(way) > 0 {
			s.Stack = slices.Concat(s.Stack, way)
		}
	}
}
