package memory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
)

// mostSpread is the part of a place's bytes from which a dependency's call is what allocates there, and
// the part of the call's from which one function below it is.
const mostSpread = 0.5

// within returns the dependency's function that a site calls, where most of the site's bytes are
// allocated below it: no buffer of the caller's spares those. in is the function that makes something
// with most of them, or else that allocates most of them; "" where they are spread. at is the site's line
// that calls it with most bytes. call is "" otherwise.
func within(p *diagnose.Pass, allocs *measured.Profile, s site) (call, in string, at code.Frame) {
	calls, makers, lines := map[string]float64{}, map[string]map[string]float64{}, map[string]map[code.Frame]float64{}
	below := map[string][]measured.Sample{}
	for _, a := range allocs.Samples {
		i := p.Stacks.Innermost(a.Stack)
		if i < 1 || callstack.Enclosing(a.Stack[i].Function) != callstack.Enclosing(s.place.Function) {
			continue
		}
		f := a.Stack[i-1].Function
		if !callstack.Dependency(f) {
			continue
		}
		calls[f] += float64(a.Value)
		if makers[f] == nil {
			makers[f], lines[f] = map[string]float64{}, map[code.Frame]float64{}
		}
		lines[f][a.Stack[i]] += float64(a.Value)
		below[f] = append(below[f], a)
		makers[f][allocator(a.Stack[:i])] += float64(a.Value)
	}
	if call = measured.Heaviest(calls, cmp.Compare[string]); calls[call] < mostSpread*s.bytes {
		return "", "", at
	}
	at = measured.Heaviest(lines[call], measured.CompareFrames)
	if in = maker(below[call], call); in != "" {
		return call, in, at
	}
	if in = measured.Heaviest(makers[call], cmp.Compare[string]); makers[call][in] < mostSpread*calls[call] {
		in = ""
	}
	return call, in, at
}

// maker returns the deepest function below a call that compiles something, or else makes something,
// while one function has most of the call's bytes; "" without any.
func maker(samples []measured.Sample, call string) (name string) {
	total, compiles := 0.0, false
	for _, s := range samples {
		total += float64(s.Value)
	}
	for depth := 0; ; depth++ {
		called := map[string]float64{}
		for _, s := range samples {
			i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == call })
			if i >= depth {
				called[s.Stack[i-depth].Function] += float64(s.Value)
			}
		}
		f := measured.Heaviest(called, cmp.Compare[string])
		if called[f] < mostSpread*total || !callstack.Dependency(f) {
			return name
		}
		if makes, does := usage.Making(f); makes && (does || !compiles) {
			name, compiles = f, does
		}
		samples = slices.DeleteFunc(slices.Clone(samples), func(s measured.Sample) bool {
			i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == call })
			return i < depth || s.Stack[i-depth].Function != f
		})
	}
}

// allocator returns the innermost function of a dependency in a stack: the runtime and the standard
// library allocate for it.
func allocator(stack []code.Frame) string {
	for _, f := range stack {
		if callstack.Dependency(f.Function) {
			return f.Function
		}
	}
	return ""
}

// partOf reports whether a site's allocations are most of what a finding of cpu-hot-function names: something
// that a library compiles there, which costs at least as much.
func partOf(p *diagnose.Pass, lead site, share, cost float64) bool {
	b, ok := p.Built()
	if !ok || !b.Compiled || callstack.Enclosing(b.Place.Function) != callstack.Enclosing(lead.place.Function) ||
		b.Bytes < mostSpread*share || b.Share < max(share*cost, usage.LeastMade) {
		return false
	}
	p.Reject("alloc-hot", "%s allocates %s of all bytes, most of them in %s, which takes %s of the CPU: that is cpu-hot-function",
		diagnose.At(lead.place), diagnose.Percent(share), callstack.Short(b.Function), diagnose.Percent(b.Share))
	return true
}

// inCall words a finding whose bytes are allocated below a dependency's call.
func inCall(f *diagnose.Finding, at, call, in string) {
	name := callstack.Short(call)
	f.Where.Detail = "in " + name
	switch in {
	case "":
		f.Title += ", all over " + name
	case call:
		f.Title += ", in " + name
	default:
		f.Title += ", most of it in " + callstack.Short(in)
		f.Where.Detail = "in " + callstack.Short(in)
	}
	if makes, compiles := usage.Making(in); makes && compiles && in != call {
		f.Remedy = fmt.Sprintf("At %s %s calls %s each time: keep what that makes for the same input, and use a call that takes it.",
			at, name, callstack.Short(in))
		return
	}
	f.Remedy = fmt.Sprintf("At %s call %s less often, hand it less, or keep what it returns for the same input.", at, name)
}
