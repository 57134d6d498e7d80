package usage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// mostDelegates bounds a chain of functions that hand a call on.
const mostDelegates = 4

// Repeats returns the place to change if function only hands its calls on: the innermost of the user's
// functions above it that has nearly all of its CPU, because that one decides what is called. delegate is
// function. ok is false if function is itself the place to change.
func (u *Table) Repeats(function string) (place code.Frame, delegate string, ok bool) {
	return u.outwards(function, u.delegates)
}

// Wrapped is Repeats for a method of a wrapper: one that has all of its CPU below a method of its own name,
// such as the Flush of a logging http.ResponseWriter. Its callers decide what is flushed, and how often.
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

// wraps reports whether all CPU of a method is below a method of its own name.
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

// above returns the innermost of the user's functions above another that has nearly all of its CPU, at the
// line with most of it. If two functions share the callee, that is their common caller.
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
