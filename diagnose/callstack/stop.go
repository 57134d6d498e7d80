package callstack

import (
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Stop is what a call stops the world for.
type Stop int

// Stops of the world.
const (
	OtherStop  Stop = iota
	Statistics      // of memory: runtime.ReadMemStats
	Dump            // the stacks of all goroutines, or a profile of them
	HeapDump        // debug.WriteHeapDump
	Processors      // to change GOMAXPROCS
	Collection      // runtime.GC, debug.FreeOSMemory
)

// StopOf returns what the stack of a call stops the world for, and how many of its inner frames are the runtime's: the
// outermost of those is the function that was called.
func StopOf(stack []code.Frame) (why Stop, inner int) {
	for _, f := range stack {
		pkg, name := Split(f.Function)
		switch {
		case pkg != "runtime" && !strings.HasPrefix(pkg, "runtime/") && pkg != "syscall":
			return why, inner
		case why != OtherStop:
		case f.Function == "runtime.ReadMemStats":
			why = Statistics
		case f.Function == "runtime.Stack", strings.HasPrefix(f.Function, "runtime.goroutineProfile"):
			why = Dump
		case f.Function == "runtime/debug.WriteHeapDump":
			why = HeapDump
		case strings.Contains(name, "GOMAXPROCS"):
			why = Processors
		case f.Function == "runtime.GC":
			why = Collection
		}
		inner++
	}
	return why, inner
}
