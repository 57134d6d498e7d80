package measured

import (
	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
)

// Entry returns the function that a stack's goroutine began in, without type arguments; ""
// for an empty stack. A library's function that only starts the one passed to it is
// skipped.
func Entry(stack []code.Frame) string {
	if f, ok := site.Began(stack); ok {
		return callstack.Elided(f.Function)
	}
	return raw(stack)
}

// raw returns the outermost function of a stack, as the runtime names its goroutine.
func raw(stack []code.Frame) string {
	if len(stack) == 0 {
		return ""
	}
	return callstack.Elided(stack[len(stack)-1].Function)
}

// Began is Entry, but also skips helpers of the service such as func(f func()) { go
// func() { f() }() }: their goroutines are no pool, each runs the function passed to it.
func (p *Run) Began(stack []code.Frame) string {
	entry := Entry(stack)
	if n := len(stack); n > 1 && entry == raw(stack) && p.helpers.Get(p.readHelpers)[entry] {
		return callstack.Elided(stack[n-2].Function)
	}
	return entry
}

// fewest is the number of different functions that a helper must have been passed: with only one,
// the helper names the goroutine just as well.
const fewest = 2

// readHelpers finds functions that goroutines begin in and that only call what is passed to them.
// A helper never waits or runs by itself, and calls several functions, each of them present in
// every dump. A loop of several steps is in only one of them at a time, and a worker waits for
// work by itself.
func (p *Run) readHelpers() map[string]bool {
	shots, err := p.Snapshots()
	if err != nil || len(shots) < 2 {
		return nil
	}
	itself := map[string]bool{}
	for _, of := range [][2]string{{"cpu", "cpu"}, {"block", "delay"}} {
		if prof, err := p.Profile(of[0], of[1]); err == nil {
			for _, s := range prof.Samples {
				if alone(s.Stack) {
					itself[raw(s.Stack)] = true
				}
			}
		}
	}
	handed := map[[2]string]int{} // dumps in which an entry called a function
	for _, shot := range shots {
		seen := map[[2]string]bool{}
		for _, s := range shot.Stacks {
			if alone(s.Stack) {
				itself[raw(s.Stack)] = true
			} else if n := len(s.Stack); n > 1 {
				seen[[2]string{raw(s.Stack), s.Stack[n-2].Function}] = true
			}
		}
		for key := range seen {
			handed[key]++
		}
	}
	always := map[string]int{}
	for key, n := range handed {
		if n == len(shots) {
			always[key[0]]++
		}
	}
	helpers := map[string]bool{}
	for entry, n := range always {
		helpers[entry] = n >= fewest && !itself[entry]
	}
	return helpers
}

// alone reports whether a goroutine is in the function that it began in, and in nothing else
// but the standard library.
func alone(stack []code.Frame) bool {
	if len(stack) == 0 {
		return false
	}
	for _, f := range stack[:len(stack)-1] {
		if pkg, _ := callstack.Split(f.Function); pkg != "" && !callstack.Standard(pkg) {
			return false
		}
	}
	return true
}
