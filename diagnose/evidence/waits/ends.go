package waits

import (
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// Ends returns one site of a kind for each place at which chains behind waits end, in the order in which they are found: what
// requests wait for through goroutines or through each other. Those that work for the request alone are left out, because the
// ends of their chains are sites of the table. place returns where a chain ends, and false for chains that do not count. A site's
// Part is that of the first wait.
func (p *Requests) Ends(kind callstack.Wait, place func(breakdown.Chain) (code.Frame, bool)) (sites []Site) {
	at := map[code.Frame]int{}
	add := func(parts []breakdown.Part, sum func(*Site, breakdown.Chain, breakdown.Part)) {
		for _, part := range parts {
			var named func(breakdown.Chain) bool
			for _, chain := range part.Behind {
				end, ok := place(chain)
				if !ok {
					continue
				}
				if named == nil {
					named = p.Waits().by.named(part)
				}
				if named(chain) {
					continue
				}
				i, known := at[end]
				if !known {
					i = len(sites)
					at[end] = i
					sites = append(sites, Site{Wait: kind, Place: end, User: p.Stacks.User(end), Part: part})
				}
				sum(&sites[i], chain, part)
			}
		}
	}
	add(p.Anatomy.All, func(s *Site, c breakdown.Chain, part breakdown.Part) {
		s.NS += float64(c.NS)
		s.Times += part.Times * float64(c.NS) / float64(max(1, part.NS))
	})
	add(p.Anatomy.Tail, func(s *Site, c breakdown.Chain, _ breakdown.Part) { s.TailNS += float64(c.NS) })
	add(p.Anatomy.Median, func(s *Site, c breakdown.Chain, _ breakdown.Part) { s.TailNS -= float64(c.NS) })
	for i := range sites {
		s := &sites[i]
		s.Share = min(1, s.NS/p.Waits().MeanNS())
		if gap := p.Waits().GapNS(); gap > 0 {
			s.Tail = max(0, min(1, s.TailNS/gap))
		}
	}
	return sites
}

// Last returns the stack at the end of a chain; none of an empty one.
func Last(c breakdown.Chain) []code.Frame {
	if len(c.Links) == 0 {
		return nil
	}
	return c.Links[len(c.Links)-1].Stack
}
