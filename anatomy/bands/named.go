package bands

import (
	"cmp"
	"slices"
	"time"

	"github.com/redline-go/redline/record/breakdown"
)

// Bounds on what is reported by request of the mix.
const (
	maxNamed  = 24
	maxPieces = 30 // of each band
)

// named divides the bands by the requests of the mix, as far as they are marked; nil if none is. kept are the sums from
// which the parts of the mean of all come, in the order of the parts.
func (a *Requests) named(all []request, kept []*sum) []breakdown.Named {
	groups := make([][]request, len(a.options.Names)+1)
	for _, r := range all { // the shortest first, and so they stay
		groups[r.name] = append(groups[r.name], r)
	}
	where := indexed(kept)
	var out []breakdown.Named
	for i, group := range groups[1:] {
		if len(group) == 0 {
			continue
		}
		n := breakdown.Named{Name: a.options.Names[i], Requests: len(group)}
		middle, tail := split(group)
		n.All, n.MeanNS = a.pieces(group, where)
		n.Median, n.MedianNS = a.pieces(middle, where)
		n.Tail, n.TailNS = a.pieces(tail, where)
		for _, band := range []*[]breakdown.Piece{&n.All, &n.Median, &n.Tail} {
			*band = slices.Clip((*band)[:min(len(*band), maxPieces)])
		}
		out = append(out, n)
	}
	total := func(n breakdown.Named) time.Duration { return n.MeanNS * time.Duration(n.Requests) }
	slices.SortStableFunc(out, func(x, y breakdown.Named) int { return cmp.Compare(total(y), total(x)) })
	return out[:min(len(out), maxNamed)]
}
