package site

import (
	"strings"

	"github.com/redline-go/redline/record/code"
)

// step is one function on the way from where a goroutine began to what it ran.
type step struct {
	Frame code.Frame
	Own   bool
}

// maxSteps bounds the functions by which one sample is reported: the outermost and the
// innermost ones.
const maxSteps = 12

// Steps reduces a stack to the target's own functions, outermost first, and the
// function of another module that the innermost calls. A closure belongs to its
// enclosing function if that is on the stack: the comparison in sort.Slice is part of
// the sort. Stacks without own code are named by where they began.
func (o Ownership) Steps(frames []code.Frame) []step {
	var list []step
	called := code.Frame{}
	last := func() string { return list[len(list)-1].Frame.Function }
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i]
		switch {
		case !o.Owns(f) || below(f.Function) || !strings.Contains(f.Function, "."): // assembly has no package
			if called.Function == "" && len(list) > 0 {
				called = f
			}
		case len(list) > 0 && (f.Function == last() || strings.HasPrefix(f.Function, last()+".")):
			if called.Function == "" {
				list[len(list)-1].Frame.Line = f.Line // the closure's own
			}
		case within(list, f.Function): // a recursion
		default:
			list, called = append(list, step{f, true}), code.Frame{}
		}
	}
	switch {
	case len(list) == 0 && len(frames) > 0:
		list = append(list, step{Frame: frames[len(frames)-1]})
	case called.Function != "":
		list = append(list, step{Frame: called})
	}
	if n := len(list); n > maxSteps {
		list = append(list[:maxSteps/2:maxSteps/2], list[n-maxSteps/2:]...)
	}
	return list
}

func within(list []step, function string) bool {
	for _, s := range list {
		if s.Frame.Function == function {
			return true
		}
	}
	return false
}

// Innermost returns the innermost frame of the target's own.
func (o Ownership) Innermost(frames []code.Frame) (code.Frame, bool) {
	for _, f := range frames {
		if o.Owns(f) {
			return f, true
		}
	}
	return code.Frame{}, false
}
