package wait

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/series"
)

// Syscall finds requests that wait inside the kernel or C.
//
// The network does not count: Go's poller parks such goroutines without a thread.
// Other calls hold a thread per request, and the runtime starts more threads, up to
// 10,000 (debug.SetMaxThreads). Writes and syncs of files are disk-sync, which
// knows their remedy.
var Syscall = diagnose.Analyzer{
	Name:  "syscall",
	Stage: diagnose.Wait,
	Doc: "Sums time in system calls other than the network's and the disk's (disk-sync): reads of files, cgo and the " +
		"rest, made by requests or by a goroutine that they wait for. They must take at least 20 % of request time or half of " +
		"the tail's extra time. Writes of loggers belong to cpu-logging.",
	Causes: []diagnose.Cause{syscallCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	Run:    runSyscall,
}

// runSyscall judges them as queueing: on busy CPUs the calls take longer because
// they wait for a CPU. Those of a goroutine that serves all requests follow each other.
func runSyscall(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	var own []waits.Site
	for _, kind := range []callstack.Wait{callstack.SyscallWait, callstack.FileWait} {
		for _, s := range w.Sites(kind) {
			if counts(p, kind, s.Part.Stack) {
				own = append(own, s)
			}
		}
	}
	var found []diagnose.Finding
	for _, s := range p.Ends(callstack.SyscallWait, func(c breakdown.Chain) (code.Frame, bool) { return workingInCall(p, c) }) {
		switch e := p.Ender(s.Part); {
		case s.Part.State == breakdown.StateLock:
			// lock-contention says what its holder does.
		case e.By != waits.ByWorker || e.Workers > 1:
			own = append(own, s)
		default:
			if f, ok := inCalls(p, s, waitgain.Serial); ok {
				f.Remedy = fmt.Sprintf("Cache the result of the call at %s for the next requests, or call less often there: requests "+
					"wait for the one goroutine that makes it.", diagnose.At(s.Place))
				if at, ok := p.Stacks.Place(s.Part.Stack); ok {
					p.Cover(f, at.Function)
				}
				found = append(found, f)
			}
		}
	}
	for _, s := range waits.ByOwner(own) {
		if f, ok := inCalls(p, s, waitgain.Queueing); ok {
			if fileLock(s.Part.Stack) {
				f.Title = strings.Replace(f.Title, " in system calls at ", " for a file lock at ", 1)
				f.Remedy = fmt.Sprintf("Do less while the file lock of %s is held, or use one per key: another request or process has it "+
					"meanwhile. Within one process, a mutex costs no thread.", diagnose.At(s.Place))
				found = append(found, f)
				continue
			}
			f.Remedy = fmt.Sprintf("Cache the result of the call at %s, limit how many run at once, or move it off the "+
				"request path.", diagnose.At(s.Place))
			found = append(found, f)
		}
	}
	return found, nil
}

// fileLock reports whether a system call waits for a lock of a file.
func fileLock(stack []code.Frame) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool {
		_, name := callstack.Split(f.Function)
		return strings.EqualFold(name, "flock") || name == "FcntlFlock"
	})
}

// counts reports whether a wait is in a system call that is not a write to a file.
func counts(p *diagnose.Pass, kind callstack.Wait, stack []code.Frame) bool {
	return kind == callstack.SyscallWait || kind == callstack.FileWait && !p.Stacks.Roles(stack).Has(callstack.FileWrite)
}

// workingInCall returns where a goroutine that works for requests, and is none, is in a system call; false if it is not, or writes a
// file.
func workingInCall(p *diagnose.Pass, c breakdown.Chain) (code.Frame, bool) {
	stack := waits.Last(c)
	if !counts(p, p.Stacks.Root(c), stack) {
		return code.Frame{}, false
	}
	for _, l := range c.Links {
		if l.Request || l.Goroutine == "" {
			return code.Frame{}, false
		}
	}
	return p.Stacks.Place(stack)
}

// inCalls makes the finding of a place in system calls; false if requests wait too little there.
func inCalls(p *diagnose.Pass, s waits.Site, kind waitgain.Nature) (f diagnose.Finding, ok bool) {
	v, ok := waitgain.Decide(p, s, kind)
	if !ok {
		return f, false
	}
	f = v.Finding(p, "blocking-syscall", s)
	calls := "system calls"
	if inC(p, s) {
		calls = "calls of C"
	}
	f.Title = fmt.Sprintf("%s in %s at %s", v.Requests(), calls, diagnose.At(s.Place))
	if threads, ok := p.Max(series.ProcessThreads, ""); ok {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, threads, diagnose.Count,
			"the process has up to %s", diagnose.Counted(threads, "thread", "threads")))
	}
	return f, true
}

// inC reports whether a site's calls are of C, which Go's trace counts as system calls, whether the code waits or computes.
func inC(p *diagnose.Pass, s waits.Site) bool {
	if s.Part.State == breakdown.StateSyscall {
		return p.Stacks.Roles(s.Part.Stack).Has(callstack.Cgo)
	}
	return slices.ContainsFunc(s.Part.Behind, func(c breakdown.Chain) bool {
		at, ok := p.Stacks.Place(waits.Last(c))
		return ok && at == s.Place && p.Stacks.Roles(waits.Last(c)).Has(callstack.Cgo)
	})
}
