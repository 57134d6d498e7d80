package anatomy

import (
	"sort"
	"strings"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/record/code"
)

// Ran is a stack of a CPU profile with its weight.
type Ran struct {
	Stack []code.Frame // innermost first
	Value int64
}

// Bounds of the CPU samples that are kept to say what a goroutine ran while a
// request waited for it: of one goroutine, and the distinct ones of all chains.
const (
	maxRan        = 256
	maxChainStack = 1 << 16
)

// chainStack counts samples: what the last goroutine of a chain ran.
type chainStack struct {
	chain chainID
	stack stackID
}

// ran keeps the last samples of a goroutine.
func (g *goroutine) ranAt(s sample) {
	if len(g.ran) == maxRan {
		g.ran = append(g.ran[:0], g.ran[maxRan/2:]...)
	}
	g.ran = append(g.ran, s)
}

// sampled counts what a goroutine ran between from and to, at the end of a chain.
func (f *follower) sampled(g *goroutine, from, to trace.Time, chain chainID) {
	first := sort.Search(len(g.ran), func(i int) bool { return g.ran[i].at >= from })
	for _, s := range g.ran[first:] {
		if s.at >= to {
			return
		}
		key := chainStack{chain, s.stack}
		if _, ok := f.chains.ran[key]; ok || len(f.chains.ran) < maxChainStack {
			f.chains.ran[key]++
		}
	}
}

// weighed is a stack with its weight.
type weighed struct {
	frames []code.Frame
	weight int64
}

// assisting reports whether a sample hit a goroutine that assisted the collector.
func assisting(frames []code.Frame) bool {
	for _, f := range frames {
		if strings.HasPrefix(f.Function, "runtime.gcAssist") {
			return true
		}
	}
	return false
}

// step is one function on the way from where a goroutine began to what it ran.
type step struct {
	frame code.Frame
	own   bool
}

// maxSteps bounds the functions that one sample is reported by: the outermost and the
// innermost ones.
const maxSteps = 12

// steps reduces a stack to the target's own functions, outermost first, and the
// function of another module that the innermost calls. A closure belongs to the
// function it lies in where that one is on the stack: what sort.Slice compares by
// is part of the sort. Stacks without own code are named by where they began.
func (o ownership) steps(frames []code.Frame) []step {
	var list []step
	called := code.Frame{}
	last := func() string { return list[len(list)-1].frame.Function }
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i]
		switch {
		case !o.owns(f) || below(f.Function) || !strings.Contains(f.Function, "."): // assembly has no package
			if called.Function == "" && len(list) > 0 {
				called = f
			}
		case len(list) > 0 && (f.Function == last() || strings.HasPrefix(f.Function, last()+".")):
			if called.Function == "" {
				list[len(list)-1].frame.Line = f.Line // the closure's own
			}
		case within(list, f.Function): // a recursion
		default:
			list, called = append(list, step{f, true}), code.Frame{}
		}
	}
	switch {
	case len(list) == 0 && len(frames) > 0:
		list = append(list, step{frame: frames[len(frames)-1]})
	case called.Function != "":
		list = append(list, step{frame: called})
	}
	if n := len(list); n > maxSteps {
		list = append(list[:maxSteps/2:maxSteps/2], list[n-maxSteps/2:]...)
	}
	return list
}

func within(list []step, function string) bool {
	for _, s := range list {
		if s.frame.Function == function {
			return true
		}
	}
	return false
}
