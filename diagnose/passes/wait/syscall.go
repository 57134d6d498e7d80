package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
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
		"rest. They count from 20 % of request time or half of the tail's extra time. Writes of loggers belong to cpu-logging.",
	Causes: []diagnose.Cause{syscallCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	Run:    runSyscall,
}

// runSyscall judges them as queueing: on busy CPUs the calls take longer because
// they wait for a CPU.
func runSyscall(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	other := append([]waits.Site{}, w.Sites(callstack.SyscallWait)...)
	for _, s := range w.Sites(callstack.FileWait) {
		if !p.Stacks.Roles(s.Part.Stack).Has(callstack.FileWrite) {
			other = append(other, s)
		}
	}
	var found []diagnose.Finding
	for _, s := range waits.ByOwner(other) {
		if v, ok := waitgain.Decide(p, s, waitgain.Queueing); ok {
			f := v.Finding(p, "blocking-syscall", s)
			f.Title = fmt.Sprintf("%s in system calls at %s", v.Requests(), diagnose.At(s.Place))
			f.Remedy = fmt.Sprintf("Cache the result of the call at %s, limit how many run at once, or move it off the "+
				"request path.", diagnose.At(s.Place))
			if threads, ok := p.Max(series.ProcessThreads, ""); ok {
				f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, threads, diagnose.Count,
					"the process has up to %s", diagnose.Counted(threads, "thread", "threads")))
			}
			found = append(found, f)
		}
	}
	return found, nil
}
