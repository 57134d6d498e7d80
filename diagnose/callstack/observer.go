package callstack

import (
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Observes reports whether a stack, innermost first, belongs to the observation and not to
// the service: redline's probe and hooks, net/http/pprof, and what the runtime does to
// write execution traces and profiles. The innermost frame outside the standard library
// decides, so that a handler below the probe's middleware stays the service's.
func Observes(stack []code.Frame) bool {
	for _, f := range stack {
		if code.Probe(f) || tracing(f.Function) {
			return true
		}
		if pkg, _ := Split(f.Function); pkg != "" && !Standard(pkg) {
			return false
		}
	}
	if len(stack) == 0 {
		return false
	}
	// The goroutines that write a profile and a trace.
	switch pkg, _ := Split(stack[len(stack)-1].Function); pkg {
	case "runtime/pprof", "runtime/trace":
		return true
	}
	return false
}

// tracing reports whether a function of the standard library hands out profiles, or writes
// events of an execution trace: runtime.traceLocker, runtime.(*traceBuf). Stacks are
// walked (runtime.traceback) for other reasons too.
func tracing(function string) bool {
	if strings.HasPrefix(function, "net/http/pprof.") {
		return true
	}
	name, ok := strings.CutPrefix(function, "runtime.")
	if !ok {
		return false
	}
	name = strings.TrimPrefix(name, "(*")
	return (strings.HasPrefix(name, "trace") || strings.HasPrefix(name, "unsafeTrace")) &&
		!strings.HasPrefix(name, "traceback") && !strings.HasPrefix(name, "traceAllocFree")
}
