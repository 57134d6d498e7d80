package usage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// Built is what a dependency makes below one line of the service.
type Built struct {
	Place    code.Frame
	Function string // that makes it: "example.com/schema.(*Compiler).Compile"
	// Share is the part of the service's CPU that making it takes, collecting what that allocates
	// included, and Part the part of what the line spends, 0 to 1.
	Share, Part float64
	// Compiled reports that it is compiled, which is done for use more than once. What is parsed or
	// built may be the request's own.
	Compiled bool
	// Shared reports that it is made below a singleflight group, so that requests share it.
	Shared bool
	// Bytes is the part of all bytes allocated that making it allocates, and Collected the part of
	// the service's CPU that goes into collecting them (in Share), 0 to 1.
	Bytes, Collected float64
}

// LeastMade is the share of the service's CPU from which making something is reported.
const LeastMade = 0.25

// mostMade is the part of a line's CPU below which a function is one step of the call: from half on
// it dominates it.
const mostMade = 0.5

// Built returns what a dependency makes at a cost, where that is most of what a line of the
// service's spends, at the line where it costs most. The call is followed into the library while one
// function has at least half of it, to the deepest whose name says that it compiles, or else makes,
// something. What one domain has most of is left to that domain: its remedy is more exact. ok is
// false without any.
func (p *Service) Built() (most Built, ok bool) {
	use, err := p.Use()
	if err != nil || use.total == 0 {
		return Built{}, false
	}
	lines := map[code.Frame][]Booked{}
	for _, s := range use.list {
		if i := p.Stacks.Innermost(s.Stack); i > 0 && use.library(s.Stack[i-1].Function) {
			lines[s.Stack[i]] = append(lines[s.Stack[i]], s)
		}
	}
	for place, samples := range lines {
		b, found := use.made(place, samples)
		if !found {
			continue
		}
		if c := cmp.Compare(b.Share, most.Share); c > 0 || c == 0 && measured.CompareFrames(place, most.Place) < 0 {
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

// spared returns 1 for a stack below the call that makes it, else 0.
func (b Built) spared(stack []code.Frame) float64 {
	if below(stack, b.Place, b.Function) {
		return 1
	}
	return 0
}

// allocates returns the part of all bytes that goes with stacks of which a part of 0 to 1 is spared,
// and the part of the service's CPU that collects those bytes on goroutines of the runtime's own, 0 to
// 1 (see Garbage). Assists run below the stacks, and are counted there.
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

// made returns the deepest function below a line that makes something and has most of what the line
// spends.
func (u *Table) made(place code.Frame, samples []Booked) (b Built, ok bool) {
	total := 0.0
	for _, s := range samples {
		total += float64(s.Value)
	}
	for depth := 1; ; depth++ {
		called := map[string]float64{}
		for _, s := range samples {
			if i := slices.Index(s.Stack, place); i >= depth {
				called[s.Stack[i-depth].Function] += float64(s.Value)
			}
		}
		name := measured.Heaviest(called, cmp.Compare[string])
		if called[name] < mostMade*total || !u.library(name) || u.index.Role(name) != 0 {
			return b, ok
		}
		samples = slices.DeleteFunc(slices.Clone(samples), func(s Booked) bool {
			i := slices.Index(s.Stack, place)
			return i < depth || s.Stack[i-depth].Function != name
		})
		if makes, compiles := Making(name); makes && (compiles || !b.Compiled) && !oneDomain(samples) {
			b = Built{Place: place, Function: name, Share: called[name] / u.total, Part: called[name] / total, Compiled: compiles}
			ok = true
		}
	}
}

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

// makers are how the names of functions begin that make something of their input.
var makers = []string{compiler, "build", "new", "parse"}

// compiler is the word for what is made for use more than once, and validator the word for what may
// be found once for an input that does not change.
const compiler, validator = "compile", "validate"

// Making reports whether the name of a function says that it makes something, and that it compiles
// it: compileSchema, Compile and MustCompile do. newline makes nothing, and newBufferAndExecute does
// something else.
func Making(function string) (makes, compiles bool) {
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

// bare returns a function's name without its package, receiver and closures.
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

// below reports whether a stack is of a function below a place.
func below(stack []code.Frame, place code.Frame, function string) bool {
	i := slices.Index(stack, place)
	return i >= 0 && slices.ContainsFunc(stack[:i], func(f code.Frame) bool { return f.Function == function })
}
