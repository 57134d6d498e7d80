package callstack

import (
	"strings"

	"github.com/redline-go/redline/record"
)

// Wait is what a blocked goroutine waits for.
type Wait string

// What requests wait for, and what they do when they do not wait.
const (
	Busy         Wait = "running"  // on a CPU
	Queued       Wait = "runnable" // for a CPU
	Collector    Wait = "gc"       // assist and stop-the-world
	PoolWait     Wait = "database connection from the pool"
	ConnectWait  Wait = "database connection being opened"
	PrepareWait  Wait = "statement being prepared"
	DatabaseWait Wait = "database"
	HTTPOpen     Wait = "HTTP connection"
	HTTPWait     Wait = "HTTP call"
	RPCWait      Wait = "call to another service"
	NetworkWait  Wait = "network"
	ClientWait   Wait = "own client" // the server's peer: request body, response
	SemaphoreW   Wait = "semaphore"
	FlightWait   Wait = "another request's computation"
	SleepWait    Wait = "timer"
	LogWait      Wait = "logging"
	ReadLockWait Wait = "read lock"
	LockWait     Wait = "lock"
	SyncWait     Wait = "file sync"
	FileWait     Wait = "file"
	SyscallWait  Wait = "system call"
	ChannelWait  Wait = "channel"
	JoinWait     Wait = "other goroutines" // WaitGroup, Cond
	OtherWait    Wait = "other"
)

// Wait tells what a request's goroutine in this state with this stack waited
// for. The stack decides before the state does: a select inside database/sql is
// a wait for a connection, one inside a rate limiter a timer.
func (x *Index) Wait(part record.Part) Wait {
	switch part.State {
	case record.StateRunning:
		return Busy
	case record.StateRunnable:
		return Queued
	case record.StateAssist, record.StateSTW:
		return Collector
	}
	inner := x.Handler(part.Stack)
	roles := x.Roles(inner)
	if w := databaseWait(part.State, roles); w != "" {
		return w
	}
	switch {
	case roles.Has(ClientPool) && part.State != record.StateNetwork:
		return SemaphoreW
	case roles.Has(HTTPConnect):
		return HTTPOpen
	case roles.Has(HTTPClient):
		return HTTPWait
	case roles.Has(RPCClient):
		return RPCWait
	case part.State == record.StateSleep, roles.Has(RateLimit), timed(part.Waker):
		return SleepWait
	case x.logging(inner):
		return LogWait
	case roles.Has(Semaphore):
		return SemaphoreW
	case roles.Has(SingleFlight):
		return FlightWait
	}
	return x.plainWait(part.State, part.Stack, roles)
}

// timed reports whether a timer ended a wait: itself, or through the goroutine in
// which it cancels a context whose deadline has come.
func timed(waker []record.Frame) bool {
	if len(waker) == 1 && waker[0].Function == record.WakerTimer {
		return true
	}
	for _, f := range waker {
		if pkg, name := Split(f.Function); pkg == "context" && strings.HasPrefix(name, "WithDeadlineCause.func") {
			return true
		}
	}
	return false
}

// databaseWait tells the waits inside a database client apart; "" is none. A
// network wait below the pool is not a wait for the pool: database/sql pings and
// resets sessions there.
func databaseWait(state record.ReqState, roles Role) Wait {
	if !roles.Has(DBClient | DBPool | DBConnect) {
		return ""
	}
	blocked := state != record.StateNetwork && state != record.StateSyscall
	switch {
	case roles.Has(DBConnect):
		return ConnectWait
	case roles.Has(DBPool) && blocked:
		return PoolWait
	case state == record.StateLock:
		return LockWait
	case state == record.StateSleep:
		return SleepWait
	case roles.Has(DBPrepare) && !roles.Has(DBPool):
		return PrepareWait
	}
	return DatabaseWait
}

// plainWait classifies by state what no library's frames explain.
func (x *Index) plainWait(state record.ReqState, stack []record.Frame, roles Role) Wait {
	switch state {
	case record.StateLock:
		if roles.Has(ReadLock) {
			return ReadLockWait
		}
		return LockWait
	case record.StateNetwork:
		if x.Roles(stack).Has(ServerIO) && !x.userCalls(stack) {
			return ClientWait
		}
		return NetworkWait
	case record.StateSyscall:
		switch {
		case roles.Has(FileSync):
			return SyncWait
		case roles.Has(SocketIO):
			return ClientWait
		case roles.Has(FileIO):
			return FileWait
		}
		return SyscallWait
	case record.StateChannel, record.StateSelect:
		return ChannelWait
	case record.StateSync:
		return JoinWait
	}
	return OtherWait
}

// userCalls reports whether network input or output happens on a connection
// that the user's code opened: a user frame between the socket and the server.
func (x *Index) userCalls(stack []record.Frame) bool {
	user, server := x.Innermost(stack), x.Find(stack, ServerIO)
	return user >= 0 && user < server
}

// logging reports whether a stack is inside a logger: any logging library, or a
// logging middleware that has not called on into the user's handler.
func (x *Index) logging(inner []record.Frame) bool {
	if x.Find(inner, Logging) >= 0 {
		return true
	}
	wrapper := x.Find(inner, LogWrapper)
	if wrapper < 0 {
		return false
	}
	user := x.Innermost(inner)
	return user < 0 || user > wrapper
}

// Direction of a channel operation, told by its innermost frames.
type Direction int

// Directions.
const (
	Unclear Direction = iota
	Sending
	Receiving
)

// Channel tells whether a blocked stack was sending or receiving; a select is
// Unclear.
func Channel(stack []record.Frame) Direction {
	for _, f := range stack {
		pkg, name := Split(f.Function)
		if pkg != "runtime" {
			break
		}
		switch name {
		case "chansend", "chansend1":
			return Sending
		case "chanrecv", "chanrecv1", "chanrecv2":
			return Receiving
		}
	}
	return Unclear
}
