package anatomy

import (
	"strings"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/record/breakdown"
)

// states numbers the states, so that a segment stays small.
var states = [...]breakdown.State{
	breakdown.StateRunning, breakdown.StateRunnable, breakdown.StateAssist, breakdown.StateSTW, breakdown.StateLock, breakdown.StateSync,
	breakdown.StateChannel, breakdown.StateSelect, breakdown.StateSleep, breakdown.StateNetwork, breakdown.StateSyscall, breakdown.StateOther,
}

type stateID uint8

const (
	running stateID = iota
	runnable
	assist
	stopped
	lock
	syncing
	channel
	selecting
	sleeping
	network
	syscalling
	other
)

// sited reports whether parts in this state carry a stack.
func (s stateID) sited() bool { return s > stopped }

// followed reports whether a wait in this state is ended by another goroutine of
// the process, and what those do says what was waited for.
func (s stateID) followed() bool { return s >= lock && s <= selecting }

// goState is the state that a goroutine of the given scheduler state is in,
// when it does not wait.
func goState(s trace.GoState) stateID {
	switch s {
	case trace.GoRunning:
		return running
	case trace.GoRunnable:
		return runnable
	case trace.GoSyscall:
		return syscalling
	}
	return other
}

// waitState names what a goroutine waits for, from the reason that the runtime
// gives and, where that is not enough, from the stack that waited.
func waitState(reason string, info *stackInfo) stateID {
	if info.class == classEnd {
		return runnable // see the package comment
	}
	switch reason {
	case "network":
		return network
	case "select":
		return selecting
	case "chan send", "chan receive":
		return channel
	case "sleep":
		return sleeping
	case "sync.(*Cond).Wait":
		return syncing
	case "sync":
		switch info.sync {
		case syncLock:
			return lock
		case syncWorld:
			return stopped
		}
		return syncing
	case "GC mark assist wait for work":
		return assist
	}
	return other
}

// stoodState names what a goroutine waits for that waited already when the trace
// began: no event gives the reason, but the innermost frames of its stack do.
func stoodState(info *stackInfo) stateID {
	for _, f := range info.frames {
		switch {
		case strings.HasPrefix(f.Function, "runtime.chansend"), strings.HasPrefix(f.Function, "runtime.chanrecv"):
			return waitState("chan send", info)
		case f.Function == "runtime.selectgo", f.Function == "runtime.block":
			return waitState("select", info)
		case f.Function == "time.Sleep":
			return waitState("sleep", info)
		case f.Function == "internal/poll.runtime_pollWait":
			return waitState("network", info)
		case f.Function == "sync.runtime_notifyListWait":
			return waitState("sync.(*Cond).Wait", info)
		case strings.Contains(f.Function, ".runtime_Semacquire"), strings.HasPrefix(f.Function, "runtime.semacquire"):
			return waitState("sync", info)
		case !strings.HasPrefix(f.Function, "runtime."):
			return other
		}
	}
	return other
}
