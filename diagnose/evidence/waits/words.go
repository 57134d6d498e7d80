package waits

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
)

// Meanwhile describes what goroutines did during a site's waits, of the longest chain: "waits for an
// HTTP call at main.go:49". It is empty if no wait was followed. part is that chain's part of the waits.
func (p *Requests) Meanwhile(s Site) (text string, kind callstack.Wait, part float64) {
	sums := map[string]float64{}
	kinds := map[string]callstack.Wait{}
	d := divider{p: p}
	for _, c := range s.Part.Behind {
		root := p.Stacks.Root(c)
		if root == callstack.OtherWait {
			continue
		}
		words := doing(root)
		if at := d.place(c); at.Function != "" {
			words += " at " + callstack.At(at)
		}
		sums[words] += float64(c.NS)
		kinds[words] = root
	}
	if len(sums) == 0 || s.Part.NS <= 0 {
		return "", "", 0
	}
	text = measured.Heaviest(sums, cmp.Compare[string])
	return text, kinds[text], min(1, sums[text]/float64(s.Part.NS))
}

// MeanwhileAt returns the part of a site's wait, 0 to 1, in which whoever it waits for is in one of some kinds of wait within a
// function.
func (p *Requests) MeanwhileAt(s Site, function string, kinds ...callstack.Wait) (part float64) {
	d := divider{p: p}
	for _, c := range s.Part.Behind {
		if function != "" && slices.Contains(kinds, p.Stacks.Root(c)) &&
			callstack.Enclosing(d.place(c).Function) == callstack.Enclosing(function) {
			part += float64(c.NS)
		}
	}
	return min(1, part/max(1, float64(s.Part.NS)))
}

func doing(kind callstack.Wait) string {
	switch kind {
	case callstack.Busy:
		return "runs"
	case callstack.Queued:
		return "is ready to run but waits for a CPU"
	case callstack.Collector:
		return "helps the garbage collector"
	case callstack.StopWait:
		return "is stopped, as all goroutines are, by a call"
	case callstack.ChannelWait:
		return "waits at a channel"
	}
	if what := For(kind); what != "" {
		return "waits for " + what
	}
	return "waits (" + string(kind) + ")"
}

// For returns what goroutines wait for in a kind of wait, to follow "waits for" or "waiting for"; "" for kinds that are not for anything
// that has a name.
func For(kind callstack.Wait) string { return waitsFor[kind] }

var waitsFor = map[callstack.Wait]string{
	callstack.PoolWait: "a database connection from the pool", callstack.ConnectWait: "a database connection to open",
	callstack.PrepareWait: "a statement to be prepared", callstack.DatabaseWait: "the database",
	callstack.HTTPOpen: "an HTTP connection to open", callstack.HTTPWait: "an HTTP call",
	callstack.RPCWait: "a call to another service", callstack.OwnServer: "the service's own server", callstack.NetworkWait: "the network",
	callstack.ChildWait: "another process", callstack.ClientWait: "its client", callstack.SemaphoreW: "a semaphore",
	callstack.FlightWait: "another request's computation", callstack.SleepWait: "a timer", callstack.LogWait: "its logger",
	callstack.ReadLockWait: "a read lock", callstack.LockWait: "a lock", callstack.SyncWait: "a file to sync",
	callstack.FileWait: "a file", callstack.SyscallWait: "a system call", callstack.JoinWait: "other goroutines",
	callstack.EventWait: "an event",
}
