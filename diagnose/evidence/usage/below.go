package usage

import (
	"cmp"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// Calls maps lines of the service's code to the part of their calls that a change would
// save, 0 to 1.
type Calls map[code.Frame]float64

// spared returns the part of a stack's time that goes with the calls: that of the call
// nearest to the root, because what it calls goes with it.
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

// SparedIn is Spared for what of the calls has any of the roles on its stack.
func (p *Service) SparedIn(calls Calls, roles callstack.Role) float64 {
	return p.without(func(stack []code.Frame) float64 {
		if !p.Stacks.Roles(stack).Has(roles) {
			return 0
		}
		return calls.spared(stack)
	})
}

// Copied returns the part of the service's CPU, 0 to 1, that one of its functions spends on
// copies that it makes itself, in no function that it calls, and what the collector spends
// because of them. It is 0 without a CPU profile.
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

// without returns the part of the service's CPU, 0 to 1, that goes with stacks of which a
// part of 0 to 1 is spared, the collection of what they allocate included.
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

// Deepest returns the innermost function of the user's or of a library, called by a handler
// or by what a goroutine begins in, below which more than a part of the service's CPU runs,
// 0 to 1; at its hottest line, with its own part. A handler itself is only the way in: ok is
// false where what it calls divides the work.
func (u *Table) Deepest(least float64) (at code.Frame, share float64, ok bool) {
	sums, depths, lines := map[string]float64{}, map[string]float64{}, map[string]map[code.Frame]float64{}
	for _, s := range u.list {
		inner := u.index.Handler(s.Stack)
		if len(inner) == 0 {
			continue
		}
		seen := map[string]bool{callstack.Enclosing(inner[len(inner)-1].Function): true}
		for i, f := range inner {
			name := callstack.Enclosing(f.Function)
			if seen[name] || !u.index.User(f) && (code.Probe(f) || !u.library(f.Function) || u.index.Role(f.Function).Has(ways)) {
				continue
			}
			seen[name] = true
			value := float64(s.Value) / u.total
			sums[name] += value
			depths[name] += value * float64(i)
			if lines[name] == nil {
				lines[name] = map[code.Frame]float64{}
			}
			lines[name][f] += value
		}
	}
	var deepest string
	for name, sum := range sums {
		if sum > least && (deepest == "" || cmp.Or(cmp.Compare(sum, sums[deepest]), cmp.Compare(depths[name], depths[deepest]),
			cmp.Compare(name, deepest)) < 0) {
			deepest = name
		}
	}
	if deepest == "" {
		return code.Frame{}, 0, false
	}
	return measured.Heaviest(lines[deepest], measured.CompareFrames), sums[deepest], true
}

// ways are the roles of a library's functions that only lead to a handler.
const ways = callstack.Server | callstack.Hop | callstack.Router
