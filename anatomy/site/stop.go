package site

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/record/code"
)

// callers are the functions by which a program stops the world, by the reason that the runtime gives. Traces before
// Go 1.22 give the reason and no stack.
var callers = map[string]string{
	"read mem stats":             "runtime.ReadMemStats",
	"all goroutines stack trace": "runtime.Stack",
	"all goroutine stack trace":  "runtime.Stack", // before Go 1.22
	"write heap dump":            "runtime/debug.WriteHeapDump",
	"GOMAXPROCS":                 "runtime.GOMAXPROCS",
}

// ofCollector begins the reasons for which the collector stops the world.
const ofCollector = "GC "

// Stopped reports whether the program itself called for the world to be stopped, by the reason that the runtime gives ("" if
// it is unknown) and the stack that stopped it, and returns the function that it called if the stack does not show it.
// Otherwise the runtime did so for itself, or for whoever observes the program.
//
// Subtle: a collection that the program forces begins in its own goroutine, and so does one that its allocations make due.
// Only the first has runtime.GC on its stack.
func Stopped(reason string, frames []code.Frame) (missing string, called bool) {
	by := callers[reason]
	switch {
	case len(frames) == 0:
		return by, by != ""
	case !demanded(frames), (strings.HasPrefix(reason, ofCollector) || collects(frames)) && !calls(frames, "runtime.GC"):
		return "", false
	case below(frames[0].Function):
		return "", true
	}
	return by, true
}

// demanded reports whether the program asks for what the runtime does at the inner end of a stack. The innermost frame
// outside the standard library decides, so that a handler below the probe's middleware stays the program's.
func demanded(frames []code.Frame) bool {
	outside := false
	for _, f := range frames {
		pkg := packageOf(f.Function)
		if code.Probe(f) || pkg == "net/http/pprof" || strings.HasPrefix(f.Function, "runtime.StartTrace") ||
			strings.HasPrefix(f.Function, "runtime.StopTrace") || strings.HasPrefix(f.Function, "runtime.trace") {
			return false
		}
		if outside = outside || pkg != "runtime"; pkg == "main" || !standard(pkg, f.File) {
			return true
		}
	}
	return outside
}

// collects reports whether the collector is at work on a stack: runtime.gcStart, runtime.gcMarkDone, runtime.gcAssistAlloc.
func collects(frames []code.Frame) bool {
	return slices.ContainsFunc(frames, func(f code.Frame) bool { return strings.HasPrefix(f.Function, "runtime.gc") })
}

func calls(frames []code.Frame, function string) bool {
	return slices.ContainsFunc(frames, func(f code.Frame) bool { return f.Function == function })
}
