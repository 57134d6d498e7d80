package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/stacks"
)

// Flame is the CPU of two runs by call stack: a tree of functions, callers above their callees.
type Flame struct {
	Runs [2]string
	Root *Frame
	// Each is the weight of one sample of either profile, ns per request.
	Each [2]float64
}

// Frame is a function under its callers. Costs are CPU per request in ns,
// with its callees; that of the root is all.
type Frame struct {
	Function string
	Cost     [2]float64
	Callees  []*Frame // the dearer in either run first

	at map[string]*Frame
}

// Bounds of the tree: deeper stacks are cut, and frames below the least share of
// both runs are too narrow to be seen.
const (
	deepestFrame = 200
	leastFrame   = 0.0005
)

// Profiles puts the CPU profiles of two runs into one tree. A run without
// one, or without requests to divide by, is an error.
func Profiles(a, b *record.Record) (*Flame, error) {
	out := &Flame{Runs: [2]string{a.Dir, b.Dir}, Root: &Frame{Function: "all"}}
	for side, r := range []*record.Record{a, b} {
		profile, err := stacks.CPU(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w (hint: profiles come with --build, or --pprof)", r.Dir, err)
		}
		cpu, _ := series.Sum(cpuWindows(r))
		requests, _ := series.Sum(served(r))
		if !(cpu > 0 && requests > 0) || profile.Total <= 0 || profile.Count <= 0 {
			return nil, fmt.Errorf("%s: without its CPU time and requests its profile cannot be compared per request", r.Dir)
		}
		whole := cpu / requests
		out.Each[side] = whole / float64(profile.Count)
		for _, s := range profile.Samples {
			out.Root.add(side, s.Stack, whole*float64(s.Value)/float64(profile.Total))
		}
	}
	out.Root.prune([2]float64{leastFrame * out.Root.Cost[0], leastFrame * out.Root.Cost[1]})
	return out, nil
}

// add counts a stack, innermost first, with its cost.
func (f *Frame) add(side int, stack []code.Frame, cost float64) {
	f.Cost[side] += cost
	for i := len(stack) - 1; i >= max(0, len(stack)-deepestFrame); i-- {
		name := stack[i].Function
		next := f.at[name]
		if next == nil {
			if f.at == nil {
				f.at = map[string]*Frame{}
			}
			next = &Frame{Function: name}
			f.at[name] = next
		}
		f = next
		f.Cost[side] += cost
	}
}

// prune orders the callees and leaves out those too small to show in either run.
func (f *Frame) prune(least [2]float64) {
	for _, callee := range f.at {
		if callee.Cost[0] < least[0] && callee.Cost[1] < least[1] {
			continue
		}
		callee.prune(least)
		f.Callees = append(f.Callees, callee)
	}
	f.at = nil
	slices.SortFunc(f.Callees, func(a, b *Frame) int {
		return cmp.Or(cmp.Compare(max(b.Cost[0], b.Cost[1]), max(a.Cost[0], a.Cost[1])), cmp.Compare(a.Function, b.Function))
	})
}

// difference returns by how much a frame's cost differs, as a part of the larger
// one: +1 is new in the second run, -1 is gone from it; 0 is no more than sampling
// alone makes.
func (f *Flame) difference(of *Frame) float64 {
	a, b := of.Cost[0], of.Cost[1]
	if of != f.Root && sampling(a, b, f.Each) { // the root is counted, not sampled
		return 0
	}
	return (b - a) / max(a, b)
}
