package waits

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
)

// ByOwner groups sites by the type or function they belong to: the waits at Get and
// at Set of a cache are waits for one thing. Each group is led by its largest site
// and carries the group's sums; largest group first.
func ByOwner(sites []Site) []Site {
	groups := map[string]*Site{}
	var names []string
	sites = slices.Clone(sites) // they may be of several kinds
	slices.SortStableFunc(sites, func(a, b Site) int { return cmp.Compare(b.NS, a.NS) })
	for _, s := range sites {
		owner := callstack.Owner(s.Place.Function)
		g := groups[owner]
		if g == nil {
			lead := s
			groups[owner] = &lead
			names = append(names, owner)
			continue
		}
		g.NS, g.Times, g.TailNS = g.NS+s.NS, g.Times+s.Times, g.TailNS+s.TailNS
		g.Share, g.Tail = min(1, g.Share+s.Share), min(1, g.Tail+s.Tail)
	}
	list := make([]Site, 0, len(names))
	for _, name := range names {
		list = append(list, *groups[name])
	}
	slices.SortStableFunc(list, func(a, b Site) int { return cmp.Compare(b.NS, a.NS) })
	return list
}
