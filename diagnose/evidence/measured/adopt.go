package measured

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
)

// adopt attributes samples of goroutines that a dependency starts for one call, and waits for in that call, to the caller:
// a library that scales an image on all CPUs uses goroutines of its own, and so does a driver that steps through rows
// while it watches a context, with none of the user's functions on their stacks. The traces show that it waits: a request
// waits in the function around the closure in which such a goroutine begins. If several ways lead there, each gets a part
// in proportion to the time that requests wait on it.
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
	var adopted []Sample
	for starter, samples := range started {
		ways := p.waysTo(outside[starter])
		if len(ways) == 0 {
			continue
		}
		for _, i := range samples {
			s := &prof.Samples[i]
			for j, part := range split(*s, ways) {
				part.Stack = slices.Concat(s.Stack, []code.Frame{at[starter]}, ways[j].frames)
				adopted = append(adopted, part)
			}
			s.Value, s.Count = 0, 0
		}
	}
	if adopted == nil {
		return
	}
	slices.SortFunc(adopted, func(a, b Sample) int { return slices.CompareFunc(a.Stack, b.Stack, CompareFrames) })
	prof.Samples = append(slices.DeleteFunc(prof.Samples, func(s Sample) bool { return s.Value == 0 && s.Count == 0 }), adopted...)
}

// maxWays bounds the ways to a function that samples are split over; the rest count as what they have in common.
const maxWays = 32

// waysTo returns the ways to a function, innermost frame first, with the part of the time that requests wait on each. Ways
// without a function of the user's do not count: none if they take most of the time.
func (p *Run) waysTo(all []outer) (ways []outer) {
	total, own := 0.0, 0.0
	index := map[string]int{}
	for _, o := range all {
		total += o.value
		way := slices.Clone(o.frames)
		slices.Reverse(way)
		if p.Stacks.Innermost(way) < 0 {
			continue
		}
		own += o.value
		key := fmt.Sprint(way)
		i, known := index[key]
		if !known {
			i, index[key] = len(ways), len(ways)
			ways = append(ways, outer{frames: way})
		}
		ways[i].value += o.value
	}
	if own < oneWay*total {
		return nil
	}
	slices.SortFunc(ways, func(a, b outer) int {
		return cmp.Or(cmp.Compare(b.value, a.value), slices.CompareFunc(a.frames, b.frames, CompareFrames))
	})
	if len(ways) > maxWays {
		rest, _ := common(all)
		ways = append(ways[:maxWays-1], outer{frames: rest})
		left := own
		for _, w := range ways[:maxWays-1] {
			left -= w.value
		}
		ways[maxWays-1].value = left
	}
	for i := range ways {
		ways[i].value /= own
	}
	return ways
}

// split divides a sample's value and count in proportion to the ways' parts, without a remainder.
func split(s Sample, ways []outer) []Sample {
	parts := make([]Sample, len(ways))
	var value, count int64
	upTo := 0.0
	for i, w := range ways {
		if upTo += w.value; i == len(ways)-1 {
			upTo = 1
		}
		parts[i] = s
		parts[i].Value, parts[i].Count = int64(math.Round(upTo*float64(s.Value)))-value, int64(math.Round(upTo*float64(s.Count)))-count
		value, count = value+parts[i].Value, count+parts[i].Count
	}
	return parts
}
