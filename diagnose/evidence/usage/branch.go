package usage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

const (
	// oneWay: a function below a call with this part of its CPU is its only work. Until the work
	// divides, a library only hands the call on, from entry point to entry point.
	oneWay = 0.8
	// leastBranch is the least part for which a function is named; mostBranches names fit a
	// line.
	leastBranch  = 0.15
	mostBranches = 3
)

// Branch is a library's function and its share of the CPU that the call into the library spends,
// 0 to 1.
type Branch struct {
	Function string
	Share    float64
}

// Branches returns what the libraries that a function calls spend its CPU on, the largest first:
// the functions at which their call divides. An entry point that does everything for its caller
// (graphql.Do parses, validates and executes) does not show which part's result could be kept.
// It returns none where the function or the standard library does the work, and nothing deeper
// than the package that is called: a caller can keep what a library returns at its surface
// (graphql.ValidateDocument), not what its visitor computes. A function that calls several itself has
// them named if they take most of it. Work of a domain is left to that domain.
func (u *Table) Branches(function string) []Branch {
	var below [][]code.Frame // outermost first
	var values []float64
	for _, s := range u.list {
		i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == function })
		if i >= 0 && !s.Domain.Has(callstack.Domains) {
			calls := slices.Clone(s.Stack[:i])
			slices.Reverse(calls)
			below, values = append(below, calls), append(values, float64(s.Value))
		}
	}
	total := 0.0
	for _, v := range values {
		total += v
	}
	last, entered := "", ""
	for depth := 0; total > 0; depth++ {
		called := map[string]float64{}
		for i, calls := range below {
			if len(calls) > depth {
				called[calls[depth].Function] += values[i]
			}
		}
		most := measured.Heaviest(called, cmp.Compare[string])
		pkg, _ := callstack.Split(most)
		if called[most] >= oneWay*total && u.library(most) && (depth == 0 || pkg == entered) {
			below, values = narrowed(below, values, depth, most)
			last, entered = most, pkg
			continue
		}
		list := u.branches(called, total)
		if depth == 0 && sum(list) < mostMade {
			return nil // the function itself divides its work; its lines show how
		}
		if len(list) < 2 && depth > 1 {
			part := 0.0
			for _, v := range values {
				part += v
			}
			return []Branch{{last, part / total}}
		}
		return list
	}
	return nil
}

// Callees are the functions of libraries, and of the standard library, that take a function's CPU.
type Callees struct {
	Branches []Branch
	// Functions are those of them that together have most of it; none if no few have.
	Functions []string
	// Share is the part of the service's CPU that not calling Functions saves, with all that they allocate;
	// Bytes is the part of all bytes allocated that they allocate, both 0 to 1.
	Share, Bytes float64
}

// Callees returns what a function of the service calls at most cost.
func (p *Service) Callees(at code.Frame) (c Callees) {
	use, err := p.Use()
	if err != nil {
		return c
	}
	c.Branches = use.Branches(at.Function)
	if f, part := use.standard(at.Function); f != "" && len(c.Branches) == 0 {
		c.Branches = []Branch{{Function: f, Share: part}}
	}
	part, functions := 0.0, []string(nil)
	for _, b := range c.Branches {
		if part < mostMade { // together they are most of it
			functions, part = append(functions, b.Function), part+b.Share
		}
	}
	if part >= mostMade {
		spared := p.below(at.Function, functions)
		c.Functions, c.Share = functions, p.without(spared)
		c.Bytes, _ = p.allocates(spared)
	}
	return c
}

// standard returns the function of the standard library to which a function of the service gives most of its
// CPU, such as time.LoadLocation, and its part of that, 0 to 1; "" if there is none, or it is a mere helper.
func (u *Table) standard(function string) (called string, part float64) {
	total, parts := 0.0, map[string]float64{}
	for _, s := range u.list {
		i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == function })
		if i < 0 {
			continue
		}
		total += float64(s.Value)
		if i > 0 {
			parts[s.Stack[i-1].Function] += float64(s.Value)
		}
	}
	called = measured.Heaviest(parts, cmp.Compare[string])
	if parts[called] < mostMade*total || u.library(called) || !callstack.Serves(called) || u.index.Role(called) != 0 {
		return "", 0
	}
	return called, parts[called] / total
}

// Inside returns the function of a dependency that takes most of a line's CPU by itself or in the
// standard library on its behalf, and its part of that, 0 to 1. The surface of a library whose entry
// point does everything (goldmark.Convert) adds nothing to the line.
func (u *Table) Inside(at code.Frame) (function string, part float64) {
	total, parts := 0.0, map[string]float64{}
	for _, s := range u.list {
		i := slices.Index(s.Stack, at)
		if i < 0 {
			continue
		}
		total += float64(s.Value)
		if in := slices.IndexFunc(s.Stack[:i], func(f code.Frame) bool { return u.library(f.Function) }); in >= 0 {
			parts[s.Stack[in].Function] += float64(s.Value)
		}
	}
	if len(parts) == 0 {
		return "", 0
	}
	function = measured.Heaviest(parts, cmp.Compare[string])
	return function, parts[function] / total
}

// narrowed keeps the samples that call a function at a depth.
func narrowed(below [][]code.Frame, values []float64, depth int, function string) (kept [][]code.Frame, keptValues []float64) {
	for i, calls := range below {
		if len(calls) > depth && calls[depth].Function == function {
			kept, keptValues = append(kept, calls), append(keptValues, values[i])
		}
	}
	return kept, keptValues
}

// branches returns the library functions among those called, the largest first.
func (u *Table) branches(called map[string]float64, total float64) (list []Branch) {
	for function, value := range called {
		if value >= leastBranch*total && u.library(function) {
			list = append(list, Branch{function, value / total})
		}
	}
	slices.SortFunc(list, func(a, b Branch) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Function, b.Function))
	})
	return list[:min(len(list), mostBranches)]
}

func sum(list []Branch) (share float64) {
	for _, b := range list {
		share += b.Share
	}
	return share
}

// library reports whether a function is of a dependency: neither the service's own nor the
// standard library's, nor the runtime's in assembly, which has no package (aeshashbody).
func (u *Table) library(function string) bool {
	return callstack.Dependency(function) && !u.index.User(code.Frame{Function: function})
}

// via returns the dependency's function that uses a domain on behalf of the place,
// "github.com/casbin/casbin/v2/util.RegexMatch"; empty where the place uses it directly or through the standard library.
func (u *Table) via(stack []code.Frame, place code.Frame, domains callstack.Role) string {
	inside := false
	for _, f := range stack {
		pkg, _ := callstack.Split(f.Function)
		switch inside = inside || u.index.Role(f.Function).Has(domains); {
		case f == place:
			return ""
		case inside && !callstack.Standard(pkg) && !u.index.Role(f.Function).Has(domains):
			return f.Function
		}
	}
	return ""
}
