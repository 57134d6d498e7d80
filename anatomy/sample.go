package anatomy

import (
	"cmp"
	"slices"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/record/breakdown"
)

// sample is one sample of the CPU profile, where one was taken at the same time.
type sample struct {
	at    trace.Time
	stack stackID
}

// maxSamples bounds the samples of one request.
const maxSamples = 1 << 14

// sample keeps a CPU sample: of a goroutine that serves requests until it is known
// whether a request held it, of any in case that a request waited for it.
func (t *tracker) sample(ev trace.Event) {
	g := t.goroutines.byID[ev.Goroutine()]
	h := ev.Stack()
	if g == nil || h == trace.NoStack {
		return
	}
	s := sample{ev.Time(), t.stacks.intern(h)}
	if s.stack == 0 {
		return
	}
	g.ranAt(s)
	if g.conn != nil && len(g.conn.samples) < maxSamples {
		g.conn.samples = append(g.conn.samples, s)
	}
}

// maxFunctions bounds the list of a profile.
const maxFunctions = 40

// profile contrasts what the bands' requests ran; nil without a sample.
func (a *collector) profile(all, median, tail []request) *breakdown.CPUProfile {
	if len(a.samples) == 0 {
		return nil
	}
	type place struct{ function, caller string }
	counts := map[place]*[3]int{}
	p := &breakdown.CPUProfile{}
	totals := [3]*int{&p.All, &p.Median, &p.Tail}
	for band, requests := range [][]request{all, median, tail} {
		for _, r := range requests {
			for _, id := range a.samples[r.firstSample:r.lastSample] {
				frames := a.stacks.info(id).frames
				at := place{frames[0].Function, a.stacks.own.caller(frames)}
				if counts[at] == nil {
					counts[at] = &[3]int{}
				}
				counts[at][band]++
				*totals[band]++
			}
		}
	}
	share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
	for at, n := range counts {
		p.Functions = append(p.Functions, breakdown.CPUFunction{Function: at.function, Caller: at.caller,
			All: share(n[0], p.All), Median: share(n[1], p.Median), Tail: share(n[2], p.Tail)})
	}
	slices.SortFunc(p.Functions, func(x, y breakdown.CPUFunction) int {
		return cmp.Or(cmp.Compare(max(y.All, y.Tail), max(x.All, x.Tail)), cmp.Compare(x.Function, y.Function), cmp.Compare(x.Caller, y.Caller))
	})
	p.Functions = p.Functions[:min(len(p.Functions), maxFunctions)]
	return p
}
