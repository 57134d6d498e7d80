package interned

import (
	"slices"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/server"
	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/record/breakdown"
)

// States numbers the states, so that a segment stays small.
var States = [...]breakdown.State{
	breakdown.StateRunning, breakdown.StateRunnable, breakdown.StateAssist, breakdown.StateSTW, breakdown.StateStoppedByCall,
	breakdown.StateLock, breakdown.StateSync,
	breakdown.StateChannel, breakdown.StateSelect, breakdown.StateSleep, breakdown.StateNetwork,
	breakdown.StateSyscall, breakdown.StateOther,
}

// State is what a goroutine does, as a number: the index of its name in States.
type State uint8

// The states, in the order of States.
const (
	Running State = iota
	Runnable
	Assist        // of the collector, by an allocation
	Stopped       // with the world
	StoppedByCall // with the world, by a call of the program's
	Lock
	Syncing // on another of package sync's
	Channel
	Selecting
	Sleeping
	Network
	Syscalling
	Other
)

// Sited reports whether parts in this state carry a stack.
func (s State) Sited() bool { return s > Stopped }

// Followed reports whether another goroutine of the process ends a wait in this state, so
// that what that one did explains the wait.
func (s State) Followed() bool { return s >= Lock && s <= Selecting }

// GoState is the state of a goroutine in the given scheduler state, if it does not
// wait.
func GoState(s trace.GoState) State {
	switch s {
	case trace.GoRunning:
		return Running
	case trace.GoRunnable:
		return Runnable
	case trace.GoSyscall:
		return Syscalling
	}
	return Other
}

// WaitState names what a goroutine waits for, from the reason that the runtime
// gives and, where that is not enough, from the stack that waited.
func WaitState(reason string, info *Info) State {
	if info.Class == server.ClassEnd {
		return Runnable // see the package comment
	}
	switch reason {
	case "network":
		return Network
	case "select":
		return Selecting
	case "chan send", "chan receive":
		return Channel
	case "sleep":
		return Sleeping
	case "sync.(*Cond).Wait":
		return Syncing
	case "sync":
		switch info.sync {
		case site.SyncLock:
			return Lock
		case site.SyncWorld:
			return Stopped
		case site.SyncCall:
			return StoppedByCall
		}
		return Syncing
	case "GC mark assist wait for work":
		return Assist
	}
	return Other
}

// StoodState names what a goroutine waits for if it was already waiting when the trace
// began: no event gives the reason, so the innermost frames decide.
func StoodState(info *Info) State {
	if info.Class == server.ClassEnd {
		return Runnable // see the package comment
	}
	return State(slices.Index(States[:], site.Stood(info.Frames)))
}
