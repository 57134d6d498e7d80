package site

import (
	"strings"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// Sync distinguishes the waits that the runtime all reports with the reason "sync".
type Sync uint8

// Kinds of "sync" waits.
const (
	syncOther Sync = iota // WaitGroup, Once, an unknown semaphore
	SyncLock              // a Mutex, an RWMutex, or what queues like one
	SyncWorld             // the semaphores around starting and ending a GC cycle
	SyncCall              // the same, or those of a stop of the world, in a call by which the program asks for it
)

// SyncOf decides by the innermost frames: the reason alone is not enough, and further
// out a lock's name means nothing (a handler called by a Once waits for a row, not for
// the Once).
func SyncOf(frames []code.Frame) Sync {
	kind := syncOther
	for _, f := range frames {
		switch {
		case strings.HasPrefix(f.Function, "runtime.gcStart"), strings.HasPrefix(f.Function, "runtime.gcMarkDone"),
			strings.HasPrefix(f.Function, "runtime.stopTheWorld"):
			if _, called := Stopped("", frames); called {
				return SyncCall
			}
			return SyncWorld
		// One profile at a time: the others wait until the world is stopped for them.
		case strings.HasPrefix(f.Function, "runtime.goroutineProfile") && demanded(frames):
			return SyncCall
		// Concurrent writers of one file or connection queue up here.
		case strings.HasPrefix(f.Function, "internal/poll.(*fdMutex)"):
			return SyncLock
		case strings.HasPrefix(f.Function, "sync.(*Once)"), strings.HasPrefix(f.Function, "sync.(*WaitGroup)"):
			return syncOther // a Once holds a Mutex within
		case strings.HasPrefix(f.Function, "sync.(*Mutex)"), strings.HasPrefix(f.Function, "sync.(*RWMutex)"),
			strings.HasPrefix(f.Function, "internal/sync.(*Mutex)"):
			kind = SyncLock
		case !below(f.Function):
			return kind
		}
	}
	return kind
}

// Stood returns what a goroutine waits for by the innermost frames of its stack, if no
// event gives the reason: at the beginning of a trace, in a goroutine profile. It is
// [breakdown.StateOther] if the goroutine does not wait, or in none of these ways.
func Stood(frames []code.Frame) breakdown.State {
	for _, f := range frames {
		switch {
		case strings.HasPrefix(f.Function, "runtime.chansend"), strings.HasPrefix(f.Function, "runtime.chanrecv"):
			return breakdown.StateChannel
		case f.Function == "runtime.selectgo", f.Function == "runtime.block":
			return breakdown.StateSelect
		case f.Function == "time.Sleep":
			return breakdown.StateSleep
		case f.Function == "internal/poll.runtime_pollWait":
			return breakdown.StateNetwork
		case f.Function == "sync.runtime_notifyListWait":
			return breakdown.StateSync
		case strings.Contains(f.Function, ".runtime_Semacquire"), strings.HasPrefix(f.Function, "runtime.semacquire"):
			switch SyncOf(frames) {
			case SyncLock:
				return breakdown.StateLock
			case SyncWorld:
				return breakdown.StateSTW
			case SyncCall:
				return breakdown.StateStoppedByCall
			}
			return breakdown.StateSync
		case !strings.HasPrefix(f.Function, "runtime."):
			return breakdown.StateOther
		}
	}
	return breakdown.StateOther
}

// below reports whether a function lies in the runtime or the lowest packages
// above it, where waiting is done and never decided.
func below(function string) bool {
	switch pkg := packageOf(function); pkg {
	case "runtime", "sync", "sync/atomic", "syscall", "golang.org/x/sys/unix":
		return true
	default:
		return strings.HasPrefix(pkg, "runtime/") || strings.HasPrefix(pkg, "internal/")
	}
}

// packageOf returns the import path of a function's package:
// "net/http.(*conn).serve" is in "net/http".
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/')
	// A type argument may hold a path of its own.
	if bracket := strings.IndexByte(function, '['); bracket >= 0 && bracket < slash {
		slash = strings.LastIndexByte(function[:bracket], '/')
	}
	dot := strings.IndexByte(function[slash+1:], '.')
	if dot < 0 {
		return function
	}
	return function[:slash+1+dot]
}
