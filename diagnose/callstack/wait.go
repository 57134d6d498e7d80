package callstack

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// Wait is what a blocked goroutine waits for.
type Wait string

// Kinds of waiting, and of running.
const (
	Busy         Wait = "running"           // on a CPU
	Queued       Wait = "runnable"          // for a CPU
	Collector    Wait = "gc"                // assist and stop-the-world
	StopWait     Wait = "stop of the world" // that the program calls for
	PoolWait     Wait = "database connection from the pool"
	ConnectWait  Wait = "database connection being opened"
	PrepareWait  Wait = "statement being prepared"
	DatabaseWait Wait = "database"
	HTTPOpen     Wait = "HTTP connection"
	HTTPWait     Wait = "HTTP call"
	RPCWait      Wait = "call to another service"
	NetworkWait  Wait = "network"
	OwnServer    Wait = "its own server"  // a call that the target answers itself
	ChildWait    Wait = "another process" // for a child process, or one that writes to a pipe
	ClientWait   Wait = "own client"      // the server's peer: request body, response
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
	EventWait    Wait = "an event"         // that the request is meant to wait for: a long poll
	OtherWait    Wait = "other"
)

// Limited reports whether a stack waits for net/http's transport to provide a connection: if none is opened meanwhile,
// MaxConnsPerHost is the limit.
func Limited(stack []code.Frame) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool { return f.Function == "net/http.(*Transport).getConn" })
}

// Wait returns what a request's goroutine in this state with this stack waited for.
// The stack decides before the state does: a select inside database/sql is a wait
// for a connection, one inside a rate limiter a timer.
func (x *Index) Wait(part breakdown.Part) Wait {
	switch part.State {
	case breakdown.StateRunning:
		return Busy
	case breakdown.StateRunnable:
		return Queued
	case breakdown.StateAssist, breakdown.StateSTW:
		return Collector
	case breakdown.StateStoppedByCall:
		return StopWait
	}
	inner := x.Called(x.lentTo(x.Handler(part.Stack)))
	roles := x.Roles(inner)
	if w := x.databaseWait(part.State, inner, roles); w != "" {
		return w
	}
	switch {
	case roles.Has(ClientPool) && !roles.Has(Dial|Handshake) && part.State != breakdown.StateNetwork:
		return SemaphoreW
	case roles.Has(HTTPConnect) && x.Keeps && Limited(inner):
		return SemaphoreW
	case roles.Has(HTTPConnect):
		return HTTPOpen
	case roles.Has(HTTPClient|RPCClient) && x.answers(inner):
		return OwnServer
	case roles.Has(HTTPClient):
		return HTTPWait
	case roles.Has(RPCClient):
		return RPCWait
	case part.State == breakdown.StateSelect && !roles.Has(RateLimit|Semaphore) && x.polls(part):
		return EventWait
	case part.State == breakdown.StateSleep, roles.Has(RateLimit), Timed(part.Waker):
		return SleepWait
	case roles.Has(Child), part.State == breakdown.StateNetwork && roles.Has(FileIO) && !roles.Has(SocketIO):
		return ChildWait
	case x.logging(inner) && !(part.State == breakdown.StateLock && x.calls(part)):
		return LogWait
	case roles.Has(Semaphore):
		return SemaphoreW
	case roles.Has(SingleFlight), x.flight(part):
		return FlightWait
	}
	return x.plainWait(part.State, x.Handler(part.Stack), roles)
}

// answers reports whether the target answers a call itself.
func (x *Index) answers(stack []code.Frame) bool {
	switch x.Answers {
	case AnswersAll:
		return true
	case AnswersRPC:
		return x.GRPC(stack)
	case AnswersHTTP:
		return x.Roles(stack).Has(HTTPClient)
	}
	return false
}

// GRPC reports whether a stack is within a call of gRPC's client: its functions lie inside the user's. Outside of these they
// are those of its server.
func (c Code) GRPC(stack []code.Frame) bool {
	if i := c.Innermost(stack); i >= 0 {
		stack = stack[:i]
	}
	return slices.ContainsFunc(stack, func(f code.Frame) bool { return strings.HasPrefix(f.Function, "google.golang.org/grpc") })
}

// flight reports whether a wait was for a computation that another request shares
// with all that need it. x/sync's group is known by name, others by their
// behaviour: the computing request wakes all waiters at once, by closing a channel
// or ending a WaitGroup, and went through the function in which they wait. A
// semaphore's release is not in the function that acquires, and wakes one at a
// time.
func (x *Index) flight(part breakdown.Part) bool {
	for _, f := range part.Waker {
		if pkg, _ := Split(f.Function); pkg == "golang.org/x/sync/singleflight" {
			return true
		}
	}
	if !x.Serves(part.Waker) {
		return false
	}
	switch by := release(part.Waker); {
	case by == group:
		return true
	case by == broadcast:
		at, ok := x.Place(part.Stack)
		return ok && Calls(part.Waker, at.Function)
	}
	return false
}

// Calls reports whether a function is on a stack.
func Calls(stack []code.Frame, function string) bool {
	for _, f := range stack {
		if f.Function == function {
			return true
		}
	}
	return false
}

// released is how many waiters a goroutine wakes at a time.
type released int

const (
	one       released = iota
	broadcast          // all who wait: a closed channel, Cond.Broadcast
	group              // a WaitGroup that reaches zero
)

// release returns how a goroutine wakes others. Closing a channel, unlike sending
// and receiving, leaves no frame of the runtime in the trace: the innermost frame
// is the caller's.
func release(waker []code.Frame) released {
	for i, f := range waker {
		pkg, name := Split(f.Function)
		switch {
		case pkg == "runtime" && name == "closechan", pkg == "sync" && name == "(*Cond).Broadcast":
			return broadcast
		case pkg == "sync" && strings.HasPrefix(name, "(*WaitGroup)."):
			return group
		case pkg != "runtime" && pkg != "sync" && !strings.HasPrefix(pkg, "internal/"):
			if i == 0 {
				return broadcast
			}
			return one
		}
	}
	return one
}

// Closes reports whether a goroutine wakes by closing a channel.
func Closes(waker []code.Frame) bool {
	return release(waker) == broadcast && !Calls(waker, "sync.(*Cond).Broadcast")
}

// Broadcasts reports whether a goroutine wakes all waiters at once.
func Broadcasts(waker []code.Frame) bool { return release(waker) == broadcast }

// partly: in a long poll, the part of a select's time that something other than its
// own timer ended is neither below this nor above 1 less this. The corpus'
// inbox-longpoll has 0.56, coupon-retry and geo-quota 0.
const partly = 0.1

// polls reports whether a select's own timer ended some of its waits and idle
// goroutines the others: the request waits for an event, as long as its client
// allows. A library that sleeps between two looks is no event. Waits that always end
// by their timer are pauses, and those that a working goroutine ends are a queue.
func (x *Index) polls(part breakdown.Part) bool {
	var followed, idle int64
	for _, c := range part.Behind {
		followed += c.NS
		if x.Root(c) == SleepWait && !x.paces(c) {
			idle += c.NS
		}
	}
	if 2*idle <= followed {
		return false
	}
	share := float64(followed) / float64(part.NS)
	return share > partly && share < 1-partly || Broadcasts(part.Waker)
}

// paces reports whether a chain of waits ends in a time.Sleep that a library calls by itself, or in a rate limiter. Nothing can
// happen to a goroutine that sleeps so, whereas a timer's channel may be the event: what the library looks
// for came before, and waited for the library to look again; and a limiter delays what could be done at once.
func (x *Index) paces(c breakdown.Chain) bool {
	last := c.Links[len(c.Links)-1]
	if last.State == breakdown.StateSleep {
		return x.Innermost(last.Stack) < 0
	}
	return x.Roles(x.Called(last.Stack)).Has(RateLimit)
}

// Root returns the end of a chain of waits: what the last of its goroutines did
// while all others waited for it. If that was at a channel and no other goroutine
// woke it, it waited for a timer or a ticker. OtherWait for an empty chain.
func (x *Index) Root(c breakdown.Chain) Wait {
	if len(c.Links) == 0 {
		return OtherWait
	}
	last := c.Links[len(c.Links)-1]
	if last.State != breakdown.StateRunning && last.State != breakdown.StateRunnable && len(last.Stack) == 0 {
		return OtherWait
	}
	kind := x.Wait(breakdown.Part{State: last.State, Stack: last.Stack})
	if kind == ChannelWait || kind.Call() && x.idles(last) {
		return SleepWait
	}
	return kind
}

// Call reports whether a wait is one for the answer to a client's call.
func (w Wait) Call() bool { return w == HTTPWait || w == RPCWait }

// idles reports whether a goroutine of a client's own is at a channel: as no other goroutine woke it, a timer did, such as
// the one that ends a batch. A call that the service makes is there too, and its end may be forgotten.
func (x *Index) idles(l breakdown.Link) bool {
	return (l.State == breakdown.StateSelect || l.State == breakdown.StateChannel) && x.Plumbing(l.Goroutine) && x.Innermost(l.Stack) < 0
}

// Timed reports whether a timer ended a wait, directly or by cancelling a context
// whose deadline passed.
func Timed(waker []code.Frame) bool {
	return len(waker) == 1 && waker[0].Function == breakdown.WakerTimer || Deadline(waker)
}

// Deadline reports whether a context whose deadline passed ended a wait: the waiter
// gave up on something else.
func Deadline(waker []code.Frame) bool {
	return slices.ContainsFunc(waker, func(f code.Frame) bool {
		pkg, name := Split(f.Function)
		return pkg == "context" && strings.HasPrefix(name, "WithDeadlineCause.func")
	})
}

// databaseWait distinguishes the waits inside a database client; "" is none. A
// network wait below the pool is not a wait for the pool: database/sql pings and
// resets sessions there.
func (x *Index) databaseWait(state breakdown.State, stack []code.Frame, roles Role) Wait {
	if !roles.Has(DBClient | DBPool | DBConnect) {
		return ""
	}
	blocked := state != breakdown.StateNetwork && state != breakdown.StateSyscall
	switch {
	case roles.Has(DBConnect):
		return ConnectWait
	case state == breakdown.StateLock && roles.Has(DBPrepare) && x.clients(stack):
		return PrepareWait // database/sql registers each statement under a lock of its own
	case roles.Has(DBPool) && blocked:
		return PoolWait
	case state == breakdown.StateLock:
		return LockWait
	case state == breakdown.StateSleep:
		return SleepWait
	case roles.Has(DBPrepare) && !roles.Has(DBPool):
		return PrepareWait
	}
	return DatabaseWait
}

// clients reports whether the database's client itself takes the lock that a stack waits for.
func (x *Index) clients(stack []code.Frame) bool {
	for _, f := range stack {
		if pkg, _ := Split(f.Function); pkg != "sync" && pkg != "internal/sync" && !Runtime(f.Function) {
			return x.Role(f.Function).Has(DBClient | DBPool | DBPrepare)
		}
	}
	return false
}

// plainWait classifies by state waits that no library's frames explain.
func (x *Index) plainWait(state breakdown.State, stack []code.Frame, roles Role) Wait {
	if state != breakdown.StateLock && state != breakdown.StateSyscall && x.exchanges(state, stack) {
		return ClientWait
	}
	switch state {
	case breakdown.StateLock:
		if roles.Has(ReadLock) {
			return ReadLockWait
		}
		return LockWait
	case breakdown.StateNetwork:
		return NetworkWait
	case breakdown.StateSyscall:
		switch {
		case roles.Has(FileSync):
			return SyncWait
		case roles.Has(SocketIO):
			return ClientWait
		case roles.Has(FileIO):
			return FileWait
		}
		return SyscallWait
	case breakdown.StateChannel, breakdown.StateSelect:
		return ChannelWait
	case breakdown.StateSync:
		return JoinWait
	}
	return OtherWait
}

// exchanges reports whether a server waits for its client's bytes, or for room to send its own: not with a user frame inside, which
// has opened another connection. HTTP/2 reads what another goroutine hands over, and so waits at a channel. A server
// that uses nothing but the standard library, such as a buffer that it flushes, uses its own connection.
func (x *Index) exchanges(state breakdown.State, stack []code.Frame) bool {
	user := x.Innermost(stack)
	if io := x.Find(stack, ServerIO); io >= 0 {
		return user < 0 || user > io
	}
	server := x.Find(stack, Server)
	return state == breakdown.StateNetwork && server >= 0 && !slices.ContainsFunc(stack[:server], func(f code.Frame) bool {
		return x.User(f) || Dependency(f.Function)
	})
}

// logging reports whether a stack is inside a logger: any logging library, or a
// logging middleware that has not called on into the user's handler.
func (x *Index) logging(inner []code.Frame) bool {
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

// calls reports whether the goroutines that a wait is for call another service or a database for most of
// it. A logger's lock that is held so is no logging: a hook of it calls, and whoever logs queues for that.
func (x *Index) calls(part breakdown.Part) bool {
	var calling int64
	for _, c := range part.Behind {
		switch x.Root(c) {
		case HTTPWait, HTTPOpen, RPCWait, DatabaseWait, PrepareWait, ConnectWait, PoolWait:
			calling += c.NS
		}
	}
	return 2*calling > part.NS
}

// Direction of a channel operation, by its innermost frames.
type Direction int

// Directions.
const (
	Unclear Direction = iota
	Sending
	Receiving
)

// Channel returns whether a blocked stack was sending or receiving; a select is
// Unclear.
func Channel(stack []code.Frame) Direction {
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
