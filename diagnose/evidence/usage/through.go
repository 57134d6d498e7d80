package usage

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

const (
	// throughMost is the part of a place's CPU that must come through one caller
	// for that caller to be named.
	throughMost = 0.6
	// ThroughNamed bounds the number of callers named, as in callstack.
	ThroughNamed = 4
)

// Through returns the user's callers of a place, innermost first, while one of them
// accounts for most of its CPU: a function that is slow because it is called often is slow
// in its caller's loop. There are most of them at most; what calls the handler is none.
func (u *Table) Through(function string, most int) []code.Frame {
	type way struct {
		callers []code.Frame
		value   float64
	}
	var ways []way
	total := 0.0
	for _, s := range u.list {
		i := slices.IndexFunc(s.Stack, func(f code.Frame) bool { return f.Function == function })
		if i < 0 {
			continue
		}
		w := way{value: float64(s.Value)}
		for _, f := range s.Stack[i+1 : max(i+1, len(u.index.Handler(s.Stack)))] {
			if u.index.User(f) && f.Function != function {
				w.callers = append(w.callers, f)
			}
		}
		total += w.value
		ways = append(ways, w)
	}
	var through []code.Frame
	for depth := range most {
		lines := map[code.Frame]float64{}
		for _, w := range ways {
			if len(w.callers) > depth {
				lines[w.callers[depth]] += w.value
			}
		}
		next := measured.Heaviest(lines, measured.CompareFrames)
		if lines[next] < throughMost*total || total == 0 {
			break
		}
		through = append(through, next)
		ways = slices.DeleteFunc(ways, func(w way) bool { return len(w.callers) <= depth || w.callers[depth] != next })
	}
	return through
}

// Starts reports whether a function is the first of a goroutine, as that of a worker is.
func (u *Table) Starts(function string) bool {
	return slices.ContainsFunc(u.list, func(s Booked) bool {
		return len(s.Stack) > 0 && s.Stack[len(s.Stack)-1].Function == function
	})
}

// PathWords names the first functions of a path, innermost first, each once: "web.(*List).read < web.list".
func PathWords(path []code.Frame) string {
	var names []string
	for _, f := range path {
		if name := callstack.Short(f.Function); len(names) < ThroughNamed && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " < ")
}

// ThroughWords formats callers, innermost first: "web.(*List).read list.go:12, web.list
// list.go:40".
func ThroughWords(callers []code.Frame) string {
	words := make([]string, len(callers))
	for i, f := range callers {
		words[i] = callstack.Short(f.Function) + " " + callstack.At(f)
	}
	return strings.Join(words, ", ")
}
