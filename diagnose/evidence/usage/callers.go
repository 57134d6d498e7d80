package usage

import (
	"cmp"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// Caused is a sample of the work that the user's innermost function causes by
// calling a library. Stack is the sample's, User the index of that function's frame
// in it.
type Caused struct {
	Stack []code.Frame
	User  int
	Value float64
}

// mostHelpers bounds a chain of helpers.
const mostHelpers = 4

// Above returns the frame to name for the cost of samples below one of the user's
// functions. If several functions call that one and one of them has nearly all of
// its cost, it is a helper: then place is the caller's line, and helper the
// function below it. ok is false if the function itself is the place.
//
// A function with a single caller is no helper: splitting a function in two does
// not make its lower half somebody else's.
func (p *Service) Above(samples []Caused) (place code.Frame, helper string, ok bool) {
	for range mostHelpers {
		lines, functions, total := map[code.Frame]float64{}, map[string]float64{}, 0.0
		next := make([]Caused, 0, len(samples))
		own := ""
		for _, s := range samples {
			total += s.Value
			own = callstack.Enclosing(s.Stack[s.User].Function)
			at := p.caller(s)
			if at < 0 {
				continue
			}
			name := callstack.Enclosing(s.Stack[at].Function)
			functions[name] += s.Value
			lines[s.Stack[at]] += s.Value
			next = append(next, Caused{s.Stack, at, s.Value})
		}
		lead := measured.Heaviest(functions, cmp.Compare[string])
		if len(functions) < 2 || functions[lead] < leads*total {
			return place, helper, ok
		}
		for f := range lines {
			if callstack.Enclosing(f.Function) != lead {
				delete(lines, f)
			}
		}
		if helper == "" {
			helper = own
		}
		place, ok = measured.Heaviest(lines, measured.CompareFrames), true
		samples = samples[:0:0]
		for _, s := range next {
			if callstack.Enclosing(s.Stack[s.User].Function) == lead {
				samples = append(samples, s)
			}
		}
	}
	return place, helper, ok
}

// caller returns the index of the user's frame that called a sample's function, -1
// without one. Recursive calls and the function's own closures count as the
// function.
func (p *Service) caller(s Caused) int {
	own := callstack.Enclosing(s.Stack[s.User].Function)
	for i := s.User + 1; i < len(s.Stack); i++ {
		if p.Stacks.User(s.Stack[i]) && callstack.Enclosing(s.Stack[i].Function) != own {
			return i
		}
	}
	return -1
}

// Causing returns the samples in domains that one of the user's functions calls
// into, by its unit (see callstack.Index.Unit).
func (u *Table) Causing(domains callstack.Role, unit string) (list []Caused) {
	for _, s := range u.list {
		if !s.Domain.Has(domains) || s.at < 0 {
			continue
		}
		i := u.index.Innermost(s.Stack[s.at:])
		if i >= 0 && u.index.Unit(s.Stack, s.at+i) == unit {
			list = append(list, Caused{Stack: s.Stack, User: s.at + i, Value: float64(s.Value)})
		}
	}
	return list
}

// MapUse returns what a function of the user's mostly uses maps for, by CPU;
// callstack.MapUnknown if the profile does not say.
func (u *Table) MapUse(function string) callstack.MapUse {
	sums := map[callstack.MapUse]float64{}
	for _, s := range u.list {
		user := u.index.Innermost(s.Stack)
		if user < 0 || callstack.Enclosing(s.Stack[user].Function) != callstack.Enclosing(function) {
			continue
		}
		if u.index.Work(s.Stack[:user]) == callstack.Map {
			sums[callstack.MapUseOf(s.Stack[:user])] += float64(s.Value)
		}
	}
	delete(sums, callstack.MapUnknown)
	return measured.Heaviest(sums, cmp.Compare[callstack.MapUse])
}
