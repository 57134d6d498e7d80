package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

// Syscall finds requests that wait inside the kernel or C.
var Syscall = diagnose.Analyzer{
	Name:  "syscall",
	Stage: diagnose.Wait,
	Doc: "Sums time in system calls other than the network's: fsync and file writes are disk-sync, other files, cgo " +
		"and the rest blocking-syscall. They count from 20 % of request time or half of the tail's extra time. " +
		"Writes of loggers belong to cpu-logging.",
	Causes: []diagnose.Cause{{
		ID:     "disk-sync",
		Title:  "Requests wait for the disk",
		Doc:    "Requests wait in fsync or in writes to files.",
		Remedy: "Batch the writes, commit in groups, or write asynchronously.",
	}, {
		ID:     "blocking-syscall",
		Title:  "Requests wait in system calls",
		Doc:    "Requests spend their time in a blocking system call or in C; threads grow with them.",
		Remedy: "Bound how many run at once, cache the result, or move the call off the request path.",
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run:   runSyscall,
}

func runSyscall(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	disk := append([]diagnose.Site{}, w.Sites(callstack.SyncWait)...)
	other := append([]diagnose.Site{}, w.Sites(callstack.SyscallWait)...)
	for _, s := range w.Sites(callstack.FileWait) {
		if p.Stacks.Roles(s.Part.Stack).Has(callstack.FileWrite) {
			disk = append(disk, s)
		} else {
			other = append(other, s)
		}
	}
	var found []diagnose.Finding
	for _, s := range diagnose.ByOwner(disk) {
		if v, ok := judge(p, s, serial); ok {
			f := v.finding(p, "disk-sync", s)
			f.Title = fmt.Sprintf("%s for the disk at %s", v.requests(), diagnose.At(s.Place))
			f.Remedy = fmt.Sprintf("Commit several requests' writes with one sync at %s (group commit), or acknowledge after a buffered write where losing the last moments is allowed.", diagnose.At(s.Place))
			if wrote, ok := p.Rate(record.ProcessWriteBytes, ""); ok {
				f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, wrote, "bytes/s", "the process writes %.2f MB/s to storage", wrote/1e6))
			}
			found = append(found, f)
		}
	}
	for _, s := range diagnose.ByOwner(other) {
		if v, ok := judge(p, s, queueing); ok {
			f := v.finding(p, "blocking-syscall", s)
			f.Title = fmt.Sprintf("%s in system calls at %s", v.requests(), diagnose.At(s.Place))
			f.Remedy = fmt.Sprintf("Cache the result of the call at %s, bound how many run at once, or move it off the request path.", diagnose.At(s.Place))
			if threads, ok := p.Max(record.ProcessThreads, ""); ok {
				f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, threads, diagnose.Ratio, "the process has up to %.0f threads", threads))
			}
			found = append(found, f)
		}
	}
	return found, nil
}
