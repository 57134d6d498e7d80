package usage

import (
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
)

// generated attributes the CPU of generated code, of which the profiler knows neither function nor caller (runtime._ExternalCode), to
// the stacks on which the service enters such code, in proportion: SQLite compiled to WebAssembly took 70 % of the CPU of a
// service, and none of that belonged to a statement. Without such stacks it stays as it is.
func (u *Table) generated() {
	alone, entered := 0.0, 0.0
	for _, s := range u.list {
		if external(s.Stack) {
			alone += float64(s.Value)
		} else if enters(s.Stack) >= 0 {
			entered += float64(s.Value)
		}
	}
	if alone == 0 || entered == 0 {
		return
	}
	var inside []Booked
	for _, s := range u.list {
		i := enters(s.Stack)
		if i < 0 {
			continue
		}
		s.Stack = s.Stack[i:]
		s.Inlined = s.Inlined[min(i, len(s.Inlined)):]
		s.Domain, s.at = u.index.Book(s.Stack)
		s.Roles = u.index.Roles(s.Stack)
		s.Value, s.Count = int64(float64(s.Value)*alone/entered), int64(float64(s.Count)*alone/entered)
		inside = append(inside, s)
	}
	u.list = append(slices.DeleteFunc(u.list, func(s Booked) bool { return external(s.Stack) }), inside...)
}

// external reports whether a stack is all that the profiler knows of generated code.
func external(stack []code.Frame) bool {
	return len(stack) > 0 && stack[0].Function == "runtime._ExternalCode"
}

// enters returns the index of the innermost frame that enters generated code; -1 without one.
func enters(stack []code.Frame) int {
	return slices.IndexFunc(stack, func(f code.Frame) bool { return callstack.EntersGenerated(f.Function) })
}
