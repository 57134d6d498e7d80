package usage

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// ownFunction is one of the service's functions as compiled: functions inlined into
// it belong to it.
type ownFunction struct {
	name  string
	self  float64 // of the target's CPU, without the user's functions that it calls
	all   float64 // with them
	lines map[code.Frame]float64
	works map[callstack.Role]float64
	// bodies are the source functions in it: itself and those inlined. selfLines
	// and atomicLines hold the CPU of self by line.
	bodies                 map[string]*body
	selfLines, atomicLines map[int]float64
	// callers and callees are the user's functions next to it, by CPU.
	callers, callees map[string]float64
	entry            float64 // the part of all in which no function of the user's called it
	again            float64 // the part of all in which it is on the stack more than once
}

// body is a source function inside a compiled one.
type body struct {
	cpu   float64
	depth float64 // of inlining, weighted by cpu
	lines map[code.Frame]float64
}

// own attributes the CPU that belongs to no domain to the user's functions.
// Allocating and starting goroutines is left out, because other analyzers report
// it. Memory that a map allocates as it grows belongs to the map.
func (u *Table) own() map[string]*ownFunction {
	all := map[string]*ownFunction{}
	at := func(name string) *ownFunction {
		f := all[name]
		if f == nil {
			f = &ownFunction{name: name, lines: map[code.Frame]float64{}, works: map[callstack.Role]float64{},
				callers: map[string]float64{}, callees: map[string]float64{},
				bodies: map[string]*body{}, selfLines: map[int]float64{}, atomicLines: map[int]float64{}}
			all[name] = f
		}
		return f
	}
	for _, s := range u.list {
		innermost := u.index.Innermost(s.Stack)
		if s.Domain != 0 || innermost < 0 {
			continue
		}
		work := u.index.Work(s.Stack[:innermost])
		if work == 0 && (s.Roles.Has(callstack.Allocate|callstack.Spawn) || u.index.Roles(s.Stack[:innermost]).Has(callstack.ServerIO)) {
			continue // nor is the sending of the answer part of an algorithm
		}
		value := float64(s.Value) / u.total
		chain := u.chain(s.Sample, innermost)
		for i, frame := range chain {
			f := at(frame.Function)
			if i == 0 {
				f.self += value
				f.works[work] += value
				f.selfLines[frame.Line] += value
				if work == callstack.Atomic {
					f.atomicLines[frame.Line] += value
				}
				f.embody(u.inlined(s.Sample, innermost), value)
			}
			if slices.ContainsFunc(chain[:i], func(g code.Frame) bool { return g.Function == frame.Function }) {
				continue // counted at its innermost call
			}
			f.all += value
			f.lines[frame] += value
			if i > 0 {
				f.callees[chain[i-1].Function] += value
			}
			switch {
			case i+1 == len(chain):
				f.entry += value
			default:
				f.callers[chain[i+1].Function] += value
			}
			if slices.ContainsFunc(chain[i+1:], func(g code.Frame) bool { return g.Function == frame.Function }) {
				f.again += value
			}
		}
	}
	return all
}

// chain returns the user's functions on a stack, innermost first, without those
// inlined into another of them.
func (u *Table) chain(s measured.Sample, innermost int) []code.Frame {
	var chain []code.Frame
	for i := innermost; i < len(s.Stack); i++ {
		if u.index.User(s.Stack[i]) && !u.within(s, i) {
			chain = append(chain, s.Stack[i])
		}
	}
	return chain
}

// within reports whether a frame was inlined, directly or through a library's
// function, into another of the user's.
func (u *Table) within(s measured.Sample, i int) bool {
	for ; i < len(s.Inlined) && s.Inlined[i] && i+1 < len(s.Stack); i++ {
		if u.index.User(s.Stack[i+1]) {
			return true
		}
	}
	return false
}

// inlined returns the user's source frames in the innermost compiled function,
// innermost first.
func (u *Table) inlined(s measured.Sample, innermost int) []code.Frame {
	var frames []code.Frame
	for i := innermost; i < len(s.Stack); i++ {
		if u.index.User(s.Stack[i]) {
			frames = append(frames, s.Stack[i])
			if !u.within(s, i) {
				break
			}
		}
	}
	return frames
}

// embody attributes a sample's CPU to each of its source functions.
func (f *ownFunction) embody(frames []code.Frame, value float64) {
	for i, frame := range frames {
		b := f.bodies[frame.Function]
		if b == nil {
			b = &body{lines: map[code.Frame]float64{}}
			f.bodies[frame.Function] = b
		}
		if slices.ContainsFunc(frames[:i], func(g code.Frame) bool { return g.Function == frame.Function }) {
			continue
		}
		b.cpu += value
		b.depth += value * float64(len(frames)-1-i)
		b.lines[frame] += value
	}
}

// source returns the lines of the source function in which the function's own CPU
// is spent: the innermost one that holds most of it. An engineer does not look for
// a helper that is inlined in two places, but for the loop around it.
func (f *ownFunction) source() map[code.Frame]float64 {
	lines, deepest := f.lines, -1.0
	if f.self < loop*f.all {
		return lines // it passes its work on
	}
	for _, b := range f.bodies {
		if depth := b.depth / b.cpu; b.cpu >= leads*f.self && depth > deepest {
			lines, deepest = b.lines, depth
		}
	}
	return lines
}

// work returns the work that takes more than half of the function's own CPU.
// Samples of an atomic operation land mostly on the instruction after it, which is
// the loop's: so a few samples in the operation, and nearly all on the lines around
// it, count as atomics too.
func (f *ownFunction) work() callstack.Role {
	for work, part := range f.works {
		if work != 0 && part > 0.5*f.self {
			return work
		}
	}
	for line, part := range f.atomicLines {
		around := f.selfLines[line-1] + f.selfLines[line] + f.selfLines[line+1]
		if part >= atomicTrace*f.self && around >= atomicAround*f.self {
			return callstack.Atomic
		}
	}
	return 0
}

const (
	// atomicTrace and atomicAround are parts of a function's own CPU. The
	// profiler's signal comes a few instructions late (skid), so in lane-meters,
	// whose loop only adds to an atomic word, 4 % of the samples are in the
	// operation and 98 % on it and the line before.
	atomicTrace  = 0.02
	atomicAround = 0.8
)

// Own returns the service's own functions by the CPU that they, and the runtime on
// their behalf, use outside of any domain; hottest first, each at its hottest line.
// An inlined function is part of the one that contains it, which is then named
// after the source function that most of it comes from.
func (u *Table) Own() []Hot {
	var list []Hot
	for _, f := range u.own() {
		if f.self > 0 {
			list = append(list, f.hot(f.self))
		}
	}
	sortHot(list)
	return list
}

// hot returns the function as a place with a share of CPU.
func (f *ownFunction) hot(share float64) Hot {
	return Hot{Place: measured.Heaviest(f.source(), measured.CompareFrames), User: true, Share: share, Work: f.work()}
}

// LeastHot is the least share of CPU in one function of the service itself at which it is reported.
// Where cost is spread (crew-roster, letter-press) the hottest has below 10 %.
const LeastHot = 0.25

// Algorithm is a function of the service with what it calls to do its work.
type Algorithm struct {
	Hot
	// Self is the part of CPU in the function itself and in those inlined into it.
	Self float64
	// Sure is whether the share is one piece of work (the function's own, a loop
	// around a helper, or a recursion), rather than just all that the service does.
	Sure bool
}

const (
	// loop is the part of a function's CPU that must be its own for its main callee
	// to be a helper: below it the function only passes the work on.
	loop = 0.2
	// leads is the part of a function's CPU that must be in one callee for the
	// callee to be the place.
	leads = 0.75
	// recursive is the part of a function's CPU in which it must be on the stack
	// more than once to count as a recursion.
	recursive = 0.3
	// mostSteps bounds how far calls are followed: functions may call each other in turn.
	mostSteps = 32
)

// Hottest returns the piece of the service's own work that uses most CPU, if that
// is at least the share least: the hottest function with the loop around it, or, if
// no single function has that much, one below which a recursion or a family of
// small functions has. ok is false if there is none.
func (u *Table) Hottest(least float64) (a Algorithm, ok bool) {
	all := u.own()
	list := make([]*ownFunction, 0, len(all))
	for _, f := range all {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *ownFunction) int {
		return cmp.Or(cmp.Compare(b.self, a.self), cmp.Compare(a.name, b.name))
	})
	if len(list) > 0 && list[0].self >= least {
		f, share := list[0], list[0].self
		work := f.work()
		if f.self >= loop*f.all {
			share = f.all // its callees are its helpers
		}
		for range mostSteps {
			caller := all[measured.Heaviest(f.callers, cmp.Compare[string])]
			if caller == nil || caller == f || caller.again > 0 || caller.self < loop*caller.all || caller.callees[f.name] < leads*f.all {
				break
			}
			f, share = caller, caller.all
		}
		a = Algorithm{Hot: f.hot(share), Self: f.self, Sure: true}
		a.Work = work
		return a, true
	}
	slices.SortFunc(list, func(a, b *ownFunction) int {
		return cmp.Or(cmp.Compare(b.all, a.all), cmp.Compare(a.name, b.name))
	})
	for _, f := range list {
		if f.all < 2*least {
			break
		}
		next := all[measured.Heaviest(f.callees, cmp.Compare[string])]
		if f.entry > 0.5*f.all || next != nil && next != f && f.callees[next.name] >= leads*f.all {
			continue
		}
		// What only calls one step after another is no piece of work; the largest step is.
		for range mostSteps {
			if next == nil || next == f || f.again > 0 || f.self >= loop*f.all || next.all < least || f.callees[next.name] < next.all/2 {
				break
			}
			f, next = next, all[measured.Heaviest(next.callees, cmp.Compare[string])]
		}
		return Algorithm{Hot: f.hot(f.all), Self: f.self, Sure: f.again >= recursive*f.all}, true
	}
	return Algorithm{}, false
}

func sortHot(list []Hot) {
	slices.SortFunc(list, func(a, b Hot) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), measured.CompareFrames(a.Place, b.Place))
	})
}
