package memory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/code"
)

// mostSpread is the part of a place's bytes that one call into a dependency must allocate to be named,
// and the part of the call's bytes that one function below it must.
const mostSpread = 0.5

// call is a dependency's function below which most of a site's bytes are allocated, where no buffer of
// the caller's saves them.
type call struct {
	function string
	// library is the short name of a package, if several of its functions are called and have most of the
	// bytes together; function is then empty.
	library string
	// in is the function below it that makes something with most of the call's bytes, or else allocates
	// most of them; "" if they are spread.
	in string
	// site is the calling line with most bytes, and what the call allocates for the caller in all:
	// calling it less saves no more than that.
	site site
}

// within returns the function that serves a site, or the functions of one package; ok is false
// if there is none with most of the site's bytes.
func within(p *diagnose.Pass, allocs *measured.Profile, s site) (c call, ok bool) {
	functions, packages := map[string]float64{}, map[string]float64{}
	below := map[string][]measured.Sample{} // by package
	for _, a := range allocs.Samples {
		i := p.Stacks.Innermost(a.Stack)
		if i < 1 || p.Stacks.Unit(a.Stack, i) != s.unit {
			continue
		}
		if f := a.Stack[i-1].Function; callstack.Serves(f) && p.Stacks.Role(f)&^callstack.FileIO == 0 || callstack.Dependency(f) {
			pkg, _ := callstack.Split(f)
			functions[f] += float64(a.Value)
			packages[pkg] += float64(a.Value)
			below[pkg] = append(below[pkg], a)
		}
	}
	c.function = measured.Heaviest(functions, cmp.Compare[string])
	pkg, _ := callstack.Split(c.function)
	other := func(a measured.Sample) bool { return a.Stack[p.Stacks.Innermost(a.Stack)-1].Function != c.function }
	if functions[c.function] < mostSpread*s.bytes {
		pkg = measured.Heaviest(packages, cmp.Compare[string])
		c = call{library: callstack.Library(pkg + ".")}
		other = func(measured.Sample) bool { return false }
	}
	if packages[pkg] < mostSpread*s.bytes {
		return call{}, false
	}
	samples := slices.DeleteFunc(below[pkg], other)
	lines, makers := map[code.Frame]float64{}, map[string]float64{}
	for _, a := range samples {
		i := p.Stacks.Innermost(a.Stack)
		lines[a.Stack[i]] += float64(a.Value)
		makers[cmp.Or(allocator(a.Stack[:i]), c.function)] += float64(a.Value)
		c.site.bytes, c.site.objects = c.site.bytes+float64(a.Value), c.site.objects+float64(a.Count)
	}
	c.site.place = measured.Heaviest(lines, measured.CompareFrames)
	if c.library != "" {
		return c, true
	}
	if c.in = maker(samples, c.function); c.in != "" {
		return c, true
	}
	if c.in = measured.Heaviest(makers, cmp.Compare[string]); makers[c.in] < mostSpread*c.site.bytes {
		c.in = ""
	}
	return c, true
}

// maker follows a call while one function has most of its bytes, and returns the deepest one that
// compiles something, or else makes something; "" without any.
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

// partOf reports whether a site's allocations mostly belong to something that a library compiles there, costs
// at least as much, and is reported by cpu-hot-function.
func partOf(p *diagnose.Pass, lead site, by measure, cost float64) bool {
	b, ok := p.Compiled()
	share := by.part(lead)
	if !ok || callstack.Enclosing(b.Place.Function) != callstack.Enclosing(lead.place.Function) ||
		b.Bytes < mostSpread*share || b.Share < share*cost {
		return false
	}
	p.Reject("alloc-hot", "%s allocates %s of all %s, most of them in %s, which takes %s of the CPU: that is cpu-hot-function",
		diagnose.At(lead.place), diagnose.Percent(share), by.of, callstack.Short(b.Function), diagnose.Percent(b.Share))
	return true
}

// calls returns what the hottest function of the service mostly calls: all that it does, garbage included, is
// reported by cpu-hot-function. at is zero without any.
func calls(p *diagnose.Pass) (c usage.Callees, at code.Frame) {
	use, err := p.Use()
	if err != nil {
		return c, at
	}
	hottest, ok := use.Hottest(usage.LeastHot)
	if !ok || hottest.Work != 0 {
		return c, at
	}
	if c = p.Callees(hottest.Place); len(c.Functions) > 0 {
		at = hottest.Place
	}
	return c, at
}

// ofCall reports whether a call's bytes are those of a function that the hottest one mostly calls, which costs more.
func ofCall(p *diagnose.Pass, c call, allocating float64) bool {
	called, at := calls(p)
	if callstack.Enclosing(at.Function) != callstack.Enclosing(c.site.place.Function) || called.Share < allocating ||
		!slices.Contains(called.Functions, c.function) && !slices.Contains(called.Functions, c.in) {
		return false
	}
	p.Reject("alloc-hot", "%s allocates at %s, as part of everything it does there, which is cpu-hot-function",
		callstack.Short(c.function), diagnose.At(c.site.place))
	return true
}

// inCall writes the finding for bytes that are allocated below a dependency's call, if there is one, and returns what is
// gained by calling it less; see calledLess.
func inCall(p *diagnose.Pass, f *diagnose.Finding, c call, allocating float64) (gain laws.Gain, ok bool) {
	name, at := cmp.Or(c.library, callstack.Short(c.function)), diagnose.At(c.site.place)
	if name == "" {
		return gain, false
	}
	f.Where.Detail = "in " + name
	switch c.in {
	case "":
		f.Title += ", all over " + name
	case c.function:
		f.Title += ", in " + name
	default:
		f.Title += ", mostly in " + callstack.Short(c.in)
		f.Where.Detail = "in " + callstack.Short(c.in)
	}
	if makes, compiles := usage.Making(c.in); makes && compiles && c.in != c.function {
		f.Remedy = fmt.Sprintf("At %s, %s calls %s each time: cache its result for the same input, and use a call that accepts it.",
			at, name, callstack.Short(c.in))
	} else {
		f.Remedy = fmt.Sprintf("At %s, call %s less often, pass it less, or cache its result for the same input.", at, name)
	}
	return calledLess(p, f, c, allocating)
}

// calledLess returns what is gained by not calling the function that a finding names, which spares all that it does
// besides allocating; ok is false if it names none, or if that is no more than what allocating takes (of the service's
// CPU, 0 to 1), or more than twice as much: then something else is its main cost, and another finding's to promise.
func calledLess(p *diagnose.Pass, f *diagnose.Finding, c call, allocating float64) (gain laws.Gain, ok bool) {
	if c.in == "" {
		return gain, false
	}
	all := p.SparedBelow(c.site.place.Function, c.in)
	if all <= allocating {
		return gain, false
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, all, diagnose.Ratio,
		"%s takes %s of the service's CPU, including garbage collection of what it allocates", callstack.Short(c.in),
		diagnose.Percent(all)))
	return p.Ran(evidence.Work{Share: all, Function: c.in}), allocating >= mostSpread*all
}
