package diagnose

import "github.com/redline-go/redline/diagnose/callstack"

// Garbage returns the part of the target's CPU that the collector spends because
// of what a domain allocates, 0 to 1. The collector runs as often as the heap
// grows by its target, so its work is booked in proportion to bytes allocated.
// It is 0 without an allocation profile.
func (p *Pass) Garbage(domains callstack.Role) float64 {
	use, err := p.Use()
	if err != nil {
		return 0
	}
	allocs, err := p.Profile("allocs", "alloc_space")
	if err != nil || allocs.Total == 0 {
		return 0
	}
	var bytes float64
	for _, s := range allocs.Samples {
		if p.Stacks.Domain(s.Stack).Has(domains) {
			bytes += float64(s.Value)
		}
	}
	return use.With(callstack.GCWork|callstack.GCAssist) * bytes / float64(allocs.Total)
}
