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
	// Bytes is the part of all bytes allocated that making it allocates, 0 to 1.
	Bytes float64
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
	if allocs, err := p.Profile("allocs", "alloc_space"); err == nil && allocs.Total > 0 {
		bytes := 0.0
		for _, s := range allocs.Samples {
			if below(s.Stack, most.Place, most.Function) {
				bytes += float64(s.Value)
			}
		}
		most.Bytes = bytes / float64(allocs.Total)
		// Assists run below the call, and are counted there.
		most.Share += use.Share(callstack.GCWork) * p.Collection().Ordinary() * most.Bytes
	}
	return most, true
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
		if makes, compiles := making(name); makes && (compiles || !b.Compiled) && !oneDomain(samples) {
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

const compiler = "compile"

// making reports whether the name of a function says that it makes something, and that it compiles
// it: compileSchema and Compile do. newline makes nothing, and newBufferAndExecute does something else.
func making(function string) (makes, compiles bool) {
	_, name := callstack.Split(callstack.Enclosing(callstack.Elided(function)))
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, m := range makers {
		if len(name) < len(m) || !strings.EqualFold(name[:len(m)], m) {
			continue
		}
		rest := name[len(m):]
		if word := rest == "" || rest[0] < 'a' || rest[0] > 'z'; word && !joined(rest) {
			return true, m == compiler
		}
	}
	return false, false
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
