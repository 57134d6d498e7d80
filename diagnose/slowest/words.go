package slowest

import (
	"cmp"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
)

// doing describes what a request did, for "it ... at main.go:41": in the past
// tense, and without terms that a reader who never opened an execution trace would
// have to look up.
var doing = map[callstack.Wait]string{
	callstack.Busy:         "ran on a CPU",
	callstack.Queued:       "was ready to run, and waited for a CPU",
	callstack.PoolWait:     "waited for a free connection of the database pool",
	callstack.ConnectWait:  "waited for a new database connection to be opened",
	callstack.PrepareWait:  "waited while the database prepared a statement",
	callstack.DatabaseWait: "waited for the database's answer",
	callstack.HTTPOpen:     "waited for a connection to another service",
	callstack.HTTPWait:     "waited for another service's answer (HTTP)",
	callstack.RPCWait:      "waited for another service's answer",
	callstack.OwnServer:    "waited for the answer of its own server",
	callstack.NetworkWait:  "waited for the network",
	callstack.ChildWait:    "waited for another process",
	callstack.ClientWait:   "waited for its client to send or receive bytes",
	callstack.SemaphoreW:   "waited for a slot of a concurrency limit",
	callstack.FlightWait:   "waited for another request that computes the same value",
	callstack.SleepWait:    "waited for a timer",
	callstack.LogWait:      "waited to write the log",
	callstack.ReadLockWait: "waited to read behind a writer of the lock",
	callstack.LockWait:     "waited for a mutex that another goroutine held",
	callstack.SyncWait:     "waited until a file was safely on disk (fsync)",
	callstack.FileWait:     "waited for a file",
	callstack.SyscallWait:  "was in a system call",
	callstack.ChannelWait:  "waited at a channel for another goroutine",
	callstack.JoinWait:     "waited for other goroutines to finish their part",
	callstack.EventWait:    "waited for an event, as intended (long poll)",
}

// does describes what a request's goroutine did.
func does(w callstack.Wait, state breakdown.State) string {
	switch state {
	case breakdown.StateAssist:
		return "helped the garbage collector, because it allocated memory"
	case breakdown.StateSTW:
		return "was stopped, because the runtime stopped all goroutines for a moment"
	case breakdown.StateStoppedByCall:
		return "was stopped, because the program stopped all goroutines"
	}
	if text, ok := doing[w]; ok {
		return text
	}
	return "did what the trace does not show (unattributed)"
}

// states describe what a goroutine did while a request waited for it.
var states = map[breakdown.State]string{
	breakdown.StateRunning: "was at work", breakdown.StateRunnable: "waited for a CPU",
	breakdown.StateAssist: "helped the garbage collector",
	breakdown.StateSTW:    "was stopped with all others", breakdown.StateStoppedByCall: "was stopped with all others by a call",
	breakdown.StateLock:    "waited for a mutex",
	breakdown.StateSync:    "waited for other goroutines",
	breakdown.StateChannel: "waited at a channel", breakdown.StateSelect: "waited in a select", breakdown.StateSleep: "slept",
	breakdown.StateNetwork: "waited for the network", breakdown.StateSyscall: "was in a system call", breakdown.StateOther: "waited",
}

// behind describes the goroutines that a request waited for, each for the next one:
// "main.worker, which slept at work.go:7, for ...". It leaves out a client's goroutine that waits
// for the network, because the call before it says so already.
func behind(links []breakdown.Link, stacks *callstack.Index) string {
	var b strings.Builder
	for i, l := range links {
		plumbing := stacks.Plumbing(l.Goroutine)
		if plumbing && l.State == breakdown.StateNetwork {
			break
		}
		if i > 0 {
			b.WriteString(", waiting for ")
		}
		if plumbing {
			b.WriteString("the client's connection, which " + cmp.Or(states[l.State], string(l.State)))
			continue
		}
		if l.Request {
			b.WriteString("another request's ")
		}
		b.WriteString(cmp.Or(l.Goroutine, "a goroutine") + ", which " + cmp.Or(states[l.State], string(l.State)))
		if l.Site != "" {
			b.WriteString(" at " + l.Site)
		}
	}
	return b.String()
}
