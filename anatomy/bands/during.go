package bands

import (
	"cmp"
	"slices"
	"time"

	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/timebase"
)

// maxDuring bounds the number of spans into which the bands are divided: more traces are
// combined into groups of adjacent ones.
const maxDuring = 24

// NextTrace begins another trace, which covers span.
func (a *Requests) NextTrace(span timebase.Span) { a.traces = append(a.traces, span) }

// during divides the bands by the traces that they come from; nil if there is only one. kept are the
// sums from which the parts of the mean of all come, in the order of the parts.
func (a *Requests) during(all []request, kept []*sum) []breakdown.During {
	if len(a.traces) < 2 || len(all) == 0 {
		return nil
	}
	where := indexed(kept)
	each := (len(a.traces) + maxDuring - 1) / maxDuring
	groups := make([][]request, (len(a.traces)+each-1)/each)
	for _, r := range all { // the shortest first, and so they stay
		groups[int(r.trace)/each] = append(groups[int(r.trace)/each], r)
	}
	out := make([]breakdown.During, len(groups))
	for i, group := range groups {
		d := &out[i]
		d.Span = a.traces[i*each]
		d.To = a.traces[min((i+1)*each, len(a.traces))-1].To
		d.Requests = len(group)
		middle, tail := split(group)
		d.All, d.MeanNS = a.pieces(group, where)
		d.Median, d.MedianNS = a.pieces(middle, where)
		d.Tail, d.TailNS = a.pieces(tail, where)
	}
	return out
}

// split returns the median band of requests and their tail; they are sorted, the shortest first.
func split(all []request) (middle, tail []request) {
	n := len(all)
	return all[n*2/5 : max(n*3/5, min(n, n*2/5+1))], all[min(n*99/100, max(n-1, 0)):]
}

// index finds the parts of a list: by key, and by state for those that were merged.
type index struct {
	byKey  map[partKey]int
	merged [len(interned.States)]int
}

func indexed(kept []*sum) index {
	p := index{byKey: make(map[partKey]int, len(kept))}
	for i, s := range kept {
		if s.merged {
			p.merged[s.state] = i
		} else {
			p.byKey[s.partKey] = i
		}
	}
	return p
}

// pieces returns the mean request of a band in parts of the list, the largest first, and its mean duration.
func (a *Requests) pieces(requests []request, where index) ([]breakdown.Piece, time.Duration) {
	type added struct {
		took  time.Duration
		times int64
	}
	sums := map[int]added{}
	var total time.Duration
	for _, r := range requests {
		total += r.took
		for _, p := range a.parts[r.first:r.last] {
			at, ok := where.byKey[p.key]
			if !ok {
				at = where.merged[p.key.state]
			}
			s := sums[at]
			sums[at] = added{s.took + p.took, s.times + int64(p.times)}
		}
	}
	n := max(1, len(requests))
	out := make([]breakdown.Piece, 0, len(sums))
	for at, s := range sums {
		out = append(out, breakdown.Piece{Part: at, NS: int64(s.took) / int64(n), Times: float64(s.times) / float64(n)})
	}
	slices.SortFunc(out, func(x, y breakdown.Piece) int { return cmp.Or(cmp.Compare(y.NS, x.NS), cmp.Compare(x.Part, y.Part)) })
	return out, total / time.Duration(n)
}
