package usage

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// Calls maps lines of the service's code to the part of their calls that a change would
// save, 0 to 1.
type Calls map[code.Frame]float64

// spared returns the part of a stack's time that removing the calls saves. The call
// nearest to the root decides, because what it calls is saved with it.
func (c Calls) spared(stack []code.Frame) float64 {
	for i := len(stack) - 1; i >= 0; i-- {
		if part, ok := c[code.Frame{Function: stack[i].Function, File: stack[i].File, Line: stack[i].Line}]; ok {
			return part
		}
	}
	return 0
}

// Spared returns the part of the service's CPU, 0 to 1, that is saved when calls are not
// made: everything below them (a mapper that builds the statement as well as the driver
// that sends it), and the collection of what they allocate. It is 0 without a CPU profile.
func (p *Service) Spared(calls Calls) float64 {
	if len(calls) == 0 {
		return 0
	}
	return p.without(calls.spared)
}

// SparedIn is Spared, restricted to stacks with any of the roles.
func (p *Service) SparedIn(calls Calls, roles callstack.Role) float64 {
	return p.without(func(stack []code.Frame) float64 {
		if !p.Stacks.Roles(stack).Has(roles) {
			return 0
		}
		return calls.spared(stack)
	})
}

// SparedAround is Spared with all that the functions around the lines do with the database, restricted to stacks with any
// of the roles, or to none if roles is 0: a function runs a statement at one line and reads its rows at others.
func (p *Service) SparedAround(calls Calls, roles callstack.Role) float64 {
	around := map[string]float64{}
	for place, part := range calls {
		around[place.Function] = max(around[place.Function], part)
	}
	return p.without(func(stack []code.Frame) float64 {
		on := p.Stacks.Roles(stack)
		if roles != 0 && !on.Has(roles) {
			return 0
		}
		part := calls.spared(stack)
		if part == 0 && on.Has(callstack.DBClient) {
			for _, f := range stack {
				part = max(part, around[f.Function])
			}
		}
		return part
	})
}

// SparedBelow returns the part of the service's CPU, 0 to 1, that is saved when a function of the service does not call
// others, however far below: all that these do, and the collection of what they allocate. It is 0 without a CPU
// profile.
func (p *Service) SparedBelow(caller string, functions ...string) float64 {
	return p.without(p.below(caller, functions))
}

// Called returns the function that a place calls for most of a domain's work, with its package's path; "" without any.
func (u *Table) Called(domains callstack.Role, place code.Frame) string {
	parts := map[string]float64{}
	for _, s := range u.list {
		at := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == place.Function && f.Line == place.Line })
		if at > 0 && s.Domain.Has(domains) {
			parts[s.Stack[at-1].Function] += float64(s.Value)
		}
	}
	return measured.Heaviest(parts, cmp.Compare[string])
}

// below returns the function that gives 1 for stacks on which a function of the service calls others, however
// far below, and 0 for the rest.
func (p *Service) below(caller string, functions []string) func(stack []code.Frame) float64 {
	return func(stack []code.Frame) float64 {
		at := slices.IndexFunc(stack, func(f code.Frame) bool {
			return p.Stacks.User(f) && callstack.Enclosing(f.Function) == callstack.Enclosing(caller)
		})
		if at < 0 || !slices.ContainsFunc(stack[:at], func(f code.Frame) bool { return slices.Contains(functions, f.Function) }) {
			return 0
		}
		return 1
	}
}

// Walk returns the function of the service through which a function of it is reached by recursion, such as one that counts what is
// below a folder, and the part of the service's CPU, 0 to 1, below its second and later activations: what not descending
// saves. The outermost of functions that call each other is named. ok is false if less than half of the function's time comes so.
func (p *Service) Walk(function string) (walker string, share float64, ok bool) {
	use, err := p.Use()
	if err != nil {
		return "", 0, false
	}
	all, again := 0.0, map[string]float64{}
	for _, s := range use.list {
		if enclosed(s.Stack, function) < 0 {
			continue
		}
		all += float64(s.Value)
		if g := p.descends(s.Stack); g != "" {
			again[g] += float64(s.Value)
		}
	}
	walker = measured.Heaviest(again, cmp.Compare[string])
	if walker == "" || again[walker] < 0.5*all {
		return "", 0, false
	}
	return walker, p.without(func(stack []code.Frame) float64 {
		if p.descends(stack) == walker {
			return 1
		}
		return 0
	}), true
}

// descends returns the function of the service nearest to the root that is on a stack twice; "" without one. A closure and
// the function around it are two.
func (p *Service) descends(stack []code.Frame) string {
	for i := len(stack) - 1; i > 0; i-- {
		f := stack[i]
		if p.Stacks.User(f) && slices.ContainsFunc(stack[:i], func(g code.Frame) bool { return g.Function == f.Function }) {
			return f.Function
		}
	}
	return ""
}

// Within returns the part of the service's CPU, 0 to 1, of all that a function does and calls, and of collecting what it
// allocates. It is 0 without a CPU profile.
func (p *Service) Within(function string) float64 {
	return p.without(func(stack []code.Frame) float64 {
		if enclosed(stack, function) < 0 {
			return 0
		}
		return 1
	})
}

// Copied returns the part of the service's CPU, 0 to 1, that one of its functions spends on
// copies that it makes itself, not in functions that it calls, and that the collector
// spends on them. It is 0 without a CPU profile.
func (p *Service) Copied(function string) float64 {
	return p.without(func(stack []code.Frame) float64 {
		at := p.Stacks.Innermost(stack)
		if at < 0 || stack[at].Function != function || p.Stacks.Domain(stack) != 0 ||
			!p.Stacks.Roles(stack[:at]).Has(callstack.Allocate|callstack.Copy) {
			return 0
		}
		return 1
	})
}

// Reading returns the part of the service's CPU, 0 to 1, that a function spends on the rows of its statements: in the
// database's client below it, in what it and its helpers do with the rows themselves, and in collecting what they
// allocate. A helper is a function that calls the client for it, such as one that scans a row. It is 0 without a CPU profile.
func (p *Service) Reading(function string) (cpu float64, helpers []string) {
	use, err := p.Use()
	if err != nil {
		return 0, nil
	}
	for _, s := range use.list {
		at := enclosed(s.Stack, function)
		if at < 0 || !p.Stacks.Roles(s.Stack[:at]).Has(callstack.DBClient) {
			continue
		}
		for i, f := range s.Stack[:at] {
			name := callstack.Enclosing(f.Function)
			if p.Stacks.User(f) && !slices.Contains(helpers, name) && p.Stacks.Roles(s.Stack[:i]).Has(callstack.DBClient) {
				helpers = append(helpers, name)
			}
		}
	}
	return p.without(func(stack []code.Frame) float64 {
		at := enclosed(stack, function)
		if at < 0 {
			return 0
		}
		if p.Stacks.Roles(stack[:at]).Has(callstack.DBClient) {
			return 1
		}
		i := p.Stacks.Innermost(stack)
		if i >= 0 && p.Stacks.Domain(stack) == 0 && (i == at || slices.Contains(helpers, callstack.Enclosing(stack[i].Function))) {
			return 1
		}
		return 0
	}), helpers
}

// enclosed returns the index of the innermost frame of a function, or of a closure in it; -1 without one.
func enclosed(stack []code.Frame, function string) int {
	return slices.IndexFunc(stack, func(f code.Frame) bool { return callstack.Enclosing(f.Function) == function })
}

// without returns the part of the service's CPU, 0 to 1, that is saved if spared gives
// the part of each stack, 0 to 1, that goes away. It includes collecting what those
// stacks allocate.
func (p *Service) without(spared func(stack []code.Frame) float64) float64 {
	use, err := p.Use()
	if err != nil || use.total == 0 {
		return 0
	}
	cpu := 0.0
	for _, s := range use.list {
		cpu += float64(s.Value) * spared(s.Stack)
	}
	_, collected := p.allocates(spared)
	return min(1, cpu/use.total+collected)
}

// Deepest returns the innermost function of the user's or of a library below which more than
// least of the service's CPU runs, at its hottest line and with its share. It must be called
// by a handler or by the function that a goroutine begins in. These are only the way in, so
// ok is false where the work divides among what they call.
func (u *Table) Deepest(least float64) (at code.Frame, share float64, ok bool) {
	var all measured.Inclusive
	for _, s := range u.list {
		inner := u.index.Handler(s.Stack)
		if len(inner) == 0 {
			continue
		}
		entry := callstack.Enclosing(inner[len(inner)-1].Function)
		all.Add(inner, float64(s.Value)/u.total, func(name string, f code.Frame) bool {
			return name != entry && (u.index.User(f) || !code.Probe(f) && u.library(f.Function) && !u.index.Role(f.Function).Has(ways))
		})
	}
	return all.Deepest(least)
}

// ways are the roles of library functions that only lead to a handler.
const ways = callstack.Server | callstack.Hop | callstack.Router

// Handed returns the call of a dependency that has most of the service's CPU, wherever the service calls it, or else the
// service's own function that has it, unless most of that is of one domain. A call is placed at the function that spends most
// on it. A request's fingerprint, taken of each of a thousand records, hashes, sorts, reflects and allocates; each of these is a
// small part, and none of them is what to change. ok is false if there is none.
func (p *Service) Handed() (b Built, ok bool) {
	use, err := p.Use()
	if err != nil || use.total == 0 {
		return Built{}, false
	}
	calls, sums := map[string][]Booked{}, map[string]float64{}
	for _, s := range use.list {
		inner := p.Stacks.Handler(s.Stack)
		if i := p.Stacks.Innermost(inner); i > 0 && use.library(inner[i-1].Function) && p.Stacks.Role(inner[i-1].Function) == 0 {
			name := inner[i-1].Function
			calls[name], sums[name] = append(calls[name], s), sums[name]+float64(s.Value)
		}
	}
	name := measured.Heaviest(sums, cmp.Compare[string])
	if sums[name] < mostMade*use.total || oneDomain(calls[name]) {
		return p.within(use)
	}
	lines, callers := map[code.Frame]float64{}, map[string]float64{}
	for _, s := range calls[name] {
		place := s.Stack[p.Stacks.Innermost(s.Stack)]
		lines[place] += float64(s.Value)
		callers[place.Function] += float64(s.Value)
	}
	b = Built{Lines: len(lines), Function: name, Call: name, Part: 1}
	caller := measured.Heaviest(callers, cmp.Compare[string])
	maps.DeleteFunc(lines, func(f code.Frame, _ float64) bool { return f.Function != caller })
	b.Place = measured.Heaviest(lines, measured.CompareFrames)
	b.Bytes, b.Collected = p.allocates(func(stack []code.Frame) float64 {
		if i := p.Stacks.Innermost(stack); i > 0 && stack[i-1].Function == name {
			return 1
		}
		return 0
	})
	b.Share = sums[name]/use.total + b.Collected
	return b, true
}

// within returns the service's own function that has most of the CPU with all that it calls, the deepest one, unless most of that
// is of one domain, or allocates, or it is the handler. What is of a domain has its own finding: of the rest, one of the functions that
// it calls may do nearly all.
func (p *Service) within(use *Table) (b Built, ok bool) {
	at, _, ok := use.Deepest(mostMade)
	if !ok || !p.Stacks.User(at) {
		return Built{}, false
	}
	if inner := use.rest(at); inner != at && p.Within(callstack.Enclosing(inner.Function)) >= LeastHot {
		at = inner
	}
	var samples []Booked
	name, allocates, handles, sum := callstack.Enclosing(at.Function), 0.0, 0.0, 0.0
	for _, s := range use.list {
		i := enclosed(s.Stack, name)
		if i < 0 {
			continue
		}
		samples, sum = append(samples, s), sum+float64(s.Value)
		if s.Roles.Has(callstack.Allocate | callstack.GCAssist) {
			allocates += float64(s.Value)
		}
		if p.handler(s.Stack[i+1:], name) {
			handles += float64(s.Value)
		}
	}
	if oneDomain(samples) || max(allocates, handles) >= mostMade*sum {
		return Built{}, false
	}
	return Built{Place: at, Lines: 1, Function: name, Call: name, Part: 1, Share: p.Within(name)}, true
}

// rest follows the samples below a function of the service that are of no domain, while nearly all of them go through one function of the
// service that it calls, and returns the line of the last one that has most of them.
func (u *Table) rest(at code.Frame) code.Frame {
	for range mostSteps {
		name, all := callstack.Enclosing(at.Function), 0.0
		functions, lines := map[string]float64{}, map[code.Frame]float64{}
		for _, s := range u.list {
			i := enclosed(s.Stack, name)
			if i < 0 || s.Domain != 0 {
				continue
			}
			all += float64(s.Value)
			for j := i - 1; j >= 0; j-- {
				if f := s.Stack[j]; u.index.User(f) && callstack.Enclosing(f.Function) != name {
					functions[callstack.Enclosing(f.Function)] += float64(s.Value)
					lines[f] += float64(s.Value)
					break
				}
			}
		}
		next := measured.Heaviest(functions, cmp.Compare[string])
		if functions[next] < nearlyAll*all || all == 0 {
			return at
		}
		maps.DeleteFunc(lines, func(f code.Frame, _ float64) bool { return callstack.Enclosing(f.Function) != next })
		at = measured.Heaviest(lines, measured.CompareFrames)
	}
	return at
}

// handler reports whether a function of the service is a handler, by what calls it, innermost first: no function of the service but a
// closure, as middlewares return, or another handler, or, where requests are messages, the one that reads them. What it does is the
// request.
func (p *Service) handler(outside []code.Frame, name string) bool {
	for i, f := range outside {
		if caller := callstack.Enclosing(f.Function); p.Stacks.User(f) && caller != name {
			return caller != f.Function || strings.HasSuffix(caller, ".ServeHTTP") ||
				p.Load().Messages && !slices.ContainsFunc(outside[i+1:], p.Stacks.User)
		}
	}
	return true
}
