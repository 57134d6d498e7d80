package usage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// Built is something that a dependency makes below one function of the service.
type Built struct {
	Place    code.Frame // the line with most of it
	Lines    int        // the number of lines of Place's function that have some of it
	Function string     // the maker: "example.com/schema.(*Compiler).Compile"
	// Call is the dependency's function that Place calls, "example.com/schema.Validate"; empty where
	// the service's own code makes it.
	Call string
	// Share is the part of the service's CPU that making it takes, with collecting what that
	// allocates; Part is its part of the CPU of the calls, or without a dependency of the function;
	// both 0 to 1.
	Share, Part float64
	// Compiled reports that it is compiled, which implies use more than once. Something parsed or
	// built may belong to the request.
	Compiled bool
	// Shared reports that it is made below a singleflight group, so that requests share it.
	Shared bool
	// Bytes is the part of all bytes allocated that making it allocates, and Collected the part of
	// the service's CPU that goes into collecting them (in Share), 0 to 1.
	Bytes, Collected float64
}

// LeastMade is the share of the service's CPU from which making something is reported.
const LeastMade = 0.25

// mostMade: a function with this part of a call's CPU dominates the call; below it, it is one step
// of several.
const mostMade = 0.5

// Built returns the most costly thing that a dependency makes, where that dominates a call from the
// service. A call is followed into the library while one function has at least half of its CPU, to
// the deepest one whose name says that it compiles, or else makes, something. Keeping what it makes
// saves it at every line of the calling function, so that they count together: a page that is
// searched by a dozen expressions compiles each at another line. Work that is mostly of one domain is
// left to that domain: its remedy is more exact. ok is false if there is none.
func (p *Service) Built() (most Built, ok bool) {
	return p.built((*Table).made)
}

// Compiled is Built, restricted to what is compiled. Compiling need not dominate the call: gopher-lua's DoString parses,
// compiles and runs a script.
func (p *Service) Compiled() (most Built, ok bool) {
	return p.built(func(u *Table, samples []Booked) (Built, bool) {
		if b, ok := u.made(samples); ok && b.Compiled {
			return b, true
		}
		return u.compiled(samples)
	})
}

func (p *Service) built(made func(u *Table, samples []Booked) (Built, bool)) (most Built, ok bool) {
	use, err := p.Use()
	if err != nil || use.total == 0 {
		return Built{}, false
	}
	type call struct{ caller, callee string }
	calls := map[call][]Booked{}
	for _, s := range use.list {
		if i := p.Stacks.Innermost(s.Stack); i > 0 && use.library(s.Stack[i-1].Function) {
			c := call{s.Stack[i].Function, s.Stack[i-1].Function}
			calls[c] = append(calls[c], s)
		}
	}
	for c, samples := range calls {
		b, found := made(use, samples)
		if !found {
			continue
		}
		b.Call = c.callee
		use.locate(&b, c.caller)
		if order := cmp.Or(cmp.Compare(b.Share, most.Share), measured.CompareFrames(most.Place, b.Place),
			cmp.Compare(most.Call, b.Call)); order > 0 || !ok {
			most, ok = b, true
		}
	}
	if !ok {
		return Built{}, false
	}
	most.Bytes, most.Collected = p.allocates(most.spared)
	most.Share += most.Collected
	return most, true
}

// locate sums what making something takes below a function of the service, by whatever call, and
// finds the line with most of it.
func (u *Table) locate(b *Built, caller string) {
	b.Place.Function = caller
	lines := map[code.Frame]float64{}
	b.Share = u.Part(func(s Booked) bool {
		if b.spared(s.Stack) == 0 {
			return false
		}
		lines[s.Stack[slices.IndexFunc(s.Stack, b.calls)]] += float64(s.Value)
		return true
	})
	b.Place, b.Lines = measured.Heaviest(lines, measured.CompareFrames), len(lines)
}

// calls reports whether a frame is of the service's function below which it is made.
func (b Built) calls(f code.Frame) bool { return f.Function == b.Place.Function }

// spared returns 1 for a stack in which the function makes it, else 0.
func (b Built) spared(stack []code.Frame) float64 {
	i := slices.IndexFunc(stack, b.calls)
	if i >= 0 && slices.ContainsFunc(stack[:i], func(f code.Frame) bool { return f.Function == b.Function }) {
		return 1
	}
	return 0
}

// allocates returns the part of all allocated bytes that is saved if spared gives the part of each
// stack that goes away, and the part of the service's CPU that the runtime's own goroutines spend on
// collecting those bytes (see Garbage); all 0 to 1. Assists run below the stacks and are counted
// there.
func (p *Service) allocates(spared func([]code.Frame) float64) (bytes, collected float64) {
	allocs, err := p.Profile("allocs", "alloc_space")
	use, errUse := p.Use()
	if err != nil || errUse != nil || allocs.Total == 0 {
		return 0, 0
	}
	for _, s := range allocs.Samples {
		bytes += float64(s.Value) * spared(s.Stack)
	}
	bytes /= float64(allocs.Total)
	return bytes, use.Share(callstack.GCWork) * p.Collection().Ordinary() * bytes
}

// made returns the deepest function below a call that makes something and has most of what the call
// spends.
func (u *Table) made(samples []Booked) (b Built, ok bool) {
	total := 0.0
	for _, s := range samples {
		total += float64(s.Value)
	}
	below := func(s Booked, depth int) string {
		if i := u.index.Innermost(s.Stack); i >= depth {
			return s.Stack[i-depth].Function
		}
		return ""
	}
	for depth := 1; ; depth++ {
		called := map[string]float64{}
		for _, s := range samples {
			if name := below(s, depth); name != "" {
				called[name] += float64(s.Value)
			}
		}
		name := measured.Heaviest(called, cmp.Compare[string])
		if called[name] < mostMade*total || !u.library(name) || u.index.Role(name) != 0 {
			return b, ok
		}
		samples = slices.DeleteFunc(slices.Clone(samples), func(s Booked) bool { return below(s, depth) != name })
		makes, compiles := Making(name)
		if makes && (compiles || !b.Compiled && !ofCall(name)) && !oneDomain(samples) {
			b, ok = Built{Function: name, Part: called[name] / total, Compiled: compiles}, true
		}
	}
}

// compiled returns the outermost functions of a dependency below a call that compile something, by the one with most
// of the call's CPU.
func (u *Table) compiled(samples []Booked) (b Built, ok bool) {
	total, by := 0.0, map[string][]Booked{}
	for _, s := range samples {
		total += float64(s.Value)
		for _, f := range slices.Backward(s.Stack[:max(0, u.index.Innermost(s.Stack))]) {
			if _, compiles := Making(f.Function); compiles && u.library(f.Function) && u.index.Role(f.Function) == 0 {
				by[f.Function] = append(by[f.Function], s)
				break
			}
		}
	}
	for name, list := range by {
		part := 0.0
		for _, s := range list {
			part += float64(s.Value) / total
		}
		if order := cmp.Or(cmp.Compare(part, b.Part), cmp.Compare(b.Function, name)); order > 0 && !oneDomain(list) {
			b, ok = Built{Function: name, Part: part, Compiled: true}, true
		}
	}
	if whole, part := u.steps(samples, b.Function); ok && whole != "" {
		b.Function, b.Part = whole, part/total
	}
	return b, ok
}

// steps returns the dependency's function that calls a compiler, if nearly all that it does is to make things: it parses what
// it compiles, and keeping the outcome saves both. sum is its CPU, in the unit of samples.
func (u *Table) steps(samples []Booked, compiler string) (whole string, sum float64) {
	parents := map[string]float64{}
	for _, s := range samples {
		i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == compiler })
		if i >= 0 && i+1 < len(s.Stack) && u.library(s.Stack[i+1].Function) && i+2 < len(s.Stack) && !u.index.User(s.Stack[i+2]) {
			parents[s.Stack[i+1].Function] += float64(s.Value)
		}
	}
	whole = measured.Heaviest(parents, cmp.Compare[string])
	made := 0.0
	for _, s := range samples {
		i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == whole })
		if whole == "" || i < 0 {
			continue
		}
		sum += float64(s.Value)
		if i > 0 {
			if makes, _ := Making(s.Stack[i-1].Function); makes {
				made += float64(s.Value)
			}
		}
	}
	if made < nearlyAll*sum {
		return "", 0
	}
	return whole, sum
}

// Dominates reports whether making it has most of the call's CPU. Otherwise the call has other things to do.
func (b Built) Dominates() bool { return b.Part >= mostMade }

// oneDomain reports whether one domain has most of the samples.
func oneDomain(samples []Booked) bool {
	total, parts := 0.0, map[callstack.Role]float64{}
	for _, s := range samples {
		total += float64(s.Value)
		parts[s.Domain] += float64(s.Value)
	}
	delete(parts, 0)
	for _, part := range parts {
		if part >= mostMade*total {
			return true
		}
	}
	return false
}

// makers are the prefixes of functions that make something from their input.
var makers = []string{compiler, "build", "new", "parse"}

// compiler is the verb for making something that is used more than once; validator is the verb for
// a check whose result holds as long as its input does not change.
const compiler, validator = "compile", "validate"

// Making reports whether the name of a function says that it makes something, and whether it says
// compile: compileSchema, Compile and MustCompile do. newline makes nothing, and newBufferAndExecute
// does something else as well. Nor does a closure of such a function: what it makes may be called later, as a handler is.
func Making(function string) (makes, compiles bool) {
	if closure(function) {
		return false, false
	}
	name := bare(function)
	if rest, must := begins(name, "must"); must {
		name = rest
	}
	for _, m := range makers {
		if rest, is := begins(name, m); is && !joined(rest) {
			return true, m == compiler
		}
	}
	return false, false
}

// closure reports whether a function is one within another.
func closure(function string) bool {
	named := strings.ReplaceAll(callstack.Elided(function), "[...]", "")
	return callstack.Enclosing(named) != named
}

// bare returns a function's name without package, receiver and closure suffixes.
func bare(function string) string {
	_, name := callstack.Split(callstack.Enclosing(callstack.Elided(function)))
	return name[strings.LastIndexByte(name, '.')+1:]
}

// begins reports whether a name begins with a word, in capitals or not, and returns what follows.
func begins(name, word string) (rest string, is bool) {
	if len(name) < len(word) || !strings.EqualFold(name[:len(word)], word) {
		return name, false
	}
	rest = name[len(word):]
	return rest, rest == "" || rest[0] < 'a' || rest[0] > 'z'
}

// joined reports whether a name has "And" as a word.
func joined(name string) bool {
	_, after, ok := strings.Cut(name, "And")
	return ok && (after == "" || after[0] < 'a' || after[0] > 'z')
}
