package memory

import (
	"cmp"
	"fmt"

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
// allocated below it: no buffer of the caller's spares those. in is the function that allocates most of
// them; "" where they are spread. call is "" otherwise.
func within(p *diagnose.Pass, allocs *measured.Profile, s site) (call, in string) {
	calls, makers := map[string]float64{}, map[string]map[string]float64{}
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
			makers[f] = map[string]float64{}
		}
		makers[f][allocator(a.Stack[:i])] += float64(a.Value)
	}
	if call = measured.Heaviest(calls, cmp.Compare[string]); calls[call] < mostSpread*s.bytes {
		return "", ""
	}
	if in = measured.Heaviest(makers[call], cmp.Compare[string]); makers[call][in] < mostSpread*calls[call] {
		in = ""
	}
	return call, in
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
	f.Remedy = fmt.Sprintf("At %s call %s less often, hand it less, or keep what it returns for the same input.", at, name)
}
