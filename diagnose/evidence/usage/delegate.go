package usage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// mostDelegates bounds how many functions may hand a call on to each other.
const mostDelegates = 4

// Repeats returns the frame of the function in which a change helps, where the one named only hands
// its calls on: what it is called for is decided by the innermost function of the user's above it
// that has nearly all of its CPU. delegate is the function that was named. ok is false if that is the place itself.
func (u *Table) Repeats(function string) (place code.Frame, delegate string, ok bool) {
	return u.outwards(function, u.delegates)
}

// Wrapped is Repeats for a method of a wrapper: one that has all of its CPU below a method of its
// own name, as the Flush of a logging http.ResponseWriter has. What is flushed how often is decided above it.
func (u *Table) Wrapped(function string) (place code.Frame, wrapper string, ok bool) {
	return u.outwards(function, u.wraps)
}

func (u *Table) outwards(function string, handsOn func(function string) bool) (place code.Frame, delegate string, ok bool) {
	delegate = function
	for range mostDelegates {
		if !handsOn(function) {
			break
		}
		next, found := u.above(function)
		if !found {
			break
		}
		place, function, ok = next, next.Function, true
	}
	return place, delegate, ok
}

// delegates reports whether a function consists of one call: all of its CPU is below one function,
// called in its first two lines. Where gofmt breaks lines, a loop's body begins at the third.
func (u *Table) delegates(function string) bool {
	begins, callee, seen := u.begins[function], "", false
	for _, s := range u.list {
		i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == function })
		switch {
		case i < 0:
			continue
		case i == 0, begins == 0, s.Stack[i].Line > begins+1, seen && s.Stack[i-1].Function != callee:
			return false
		}
		callee, seen = s.Stack[i-1].Function, true
	}
	return seen
}

// wraps reports whether all CPU of a method is below one method of its own name.
func (u *Table) wraps(function string) bool {
	if !strings.Contains(function, ").") {
		return false
	}
	callee := ""
	for _, s := range u.list {
		i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == function })
		switch {
		case i < 0:
			continue
		case i == 0, callee != "" && s.Stack[i-1].Function != callee:
			return false
		}
		callee = s.Stack[i-1].Function
	}
	return callee != "" && method(callee) == method(function)
}

// method returns a function's name without its package and receiver.
func method(function string) string { return function[strings.LastIndexByte(function, '.')+1:] }

// above returns the innermost function of the user's that has nearly all of what another takes, at
// the line that has most. A function that two others share is not called by one of them; what both are called by is.
func (u *Table) above(function string) (place code.Frame, ok bool) {
	own := callstack.Enclosing(function)
	lines, parts, depths := map[string]map[code.Frame]float64{}, map[string]float64{}, map[string]float64{}
	total := 0.0
	for _, s := range u.list {
		i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == function })
		if i < 0 {
			continue
		}
		value, seen := float64(s.Value), map[string]bool{}
		total += value
		for _, f := range s.Stack[i+1:] {
			if !u.index.User(f) || callstack.Enclosing(f.Function) == own || seen[f.Function] {
				continue
			}
			if lines[f.Function] == nil {
				lines[f.Function] = map[code.Frame]float64{}
			}
			lines[f.Function][f] += value
			parts[f.Function] += value
			depths[f.Function] += value * float64(len(seen))
			seen[f.Function] = true
		}
	}
	nearest := ""
	for name, part := range parts {
		if part < leads*total {
			continue
		}
		if nearest == "" || cmp.Or(cmp.Compare(depths[name]/part, depths[nearest]/parts[nearest]), cmp.Compare(name, nearest)) < 0 {
			nearest = name
		}
	}
	return measured.Heaviest(lines[nearest], measured.CompareFrames), nearest != ""
}
