package host

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/series"
)

// leastBehindNS is how much queueing behind the disk is reported, in ns per request.
const leastBehindNS = 100e3

// Disk finds requests that wait for storage.
//
// If a journal syncs under a lock, one request waits for the disk and sixty for the
// lock. So the rule follows each wait to the goroutine that ended it and attributes
// the time to that; otherwise lock-contention would be named, with a remedy that
// cannot help. Syncs that no request waits for do not count
// (events-background-sync).
var Disk = diagnose.Analyzer{
	Name:  "disk",
	Stage: diagnose.Host,
	Doc: "Sums the time of requests in fsync and in writes to files, from the anatomy: their own, and that of the goroutine " +
		"that they waited for at a lock or a channel; and the queue for a P behind such calls. It counts at 20 % of request " +
		"time or more, or half of the tail's extra time. Writes of loggers belong to cpu-logging.",
	Causes: []diagnose.Cause{{
		ID:    "disk-sync",
		Title: "Requests wait for the disk",
		Doc: "Requests wait in fsync or in writes to files, or for a lock whose holder does. CPUs are idle, and the more " +
			"requests are in flight, the longer each waits.",
		Knows: "The execution trace has the system calls with their stacks: fsync and the like, writes to files that are " +
			"not a logger's, and renames by a type that also syncs, because they wait for the same journal. If requests wait at a lock " +
			"or a channel, redline follows the goroutine that they waited for, " +
			"and its time in such a call counts as theirs, so the disk is reported and not the lock in front of it. " +
			"Background syncs that no request waits for do not count. fsync calls counted by eBPF are reported with it. " +
			"Reads of files are blocking-syscall, pages of a mapped file memory-pressure, a lock whose holder computes is " +
			"lock-contention.",
		Remedy: "Batch the writes, commit in groups, or write asynchronously.",
		Example: diagnose.Example{
			Lang:   "go",
			Before: "j.mu.Lock()\nj.file.Write(entry)\nj.file.Sync() // one per request\nj.mu.Unlock()",
			After: "j.entries <- entry // a goroutine writes all pending entries,\n<-entry.durable    // syncs once, and " +
				"responds to each of them",
		},
		Verify: "redline run again: fewer fsync.calls per request, and the wait at the journal's lock is gone from the anatomy.",
		Cases:  []string{"journal-sync", "draft-autosave", "receipt-pause-sync", "events-background-sync"},
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run:   runDisk,
}

// runDisk judges each place as serial: one device, and mostly one lock in front of
// it. The tail counts even if the mean does, because a few slow syncs stop many
// requests.
func runDisk(p *diagnose.Pass) ([]diagnose.Finding, error) {
	var found []diagnose.Finding
	calls := diskCalls{p: p, syncs: syncsOf(p)}
	for _, s := range waits.ByOwner(calls.sites()) {
		if _, ok := waitgain.Decide(p, s, waitgain.Serial); !ok {
			continue
		}
		queued := queuedBehind(p, &s)
		// Judged again, with the queue added.
		v, _ := waitgain.Decide(p, s, waitgain.Serial)
		if gain := diagnose.Ceiling(s.TailNS / float64(p.Anatomy.TailNS)); gain > v.Gain && !p.CPU().Saturated() {
			// The slow requests get that much shorter, whatever limits the rate.
			v.Gain, v.GainOf, v.Then, v.AtLeast = gain, laws.Latency, "", false
		}
		f := v.Finding(p, "disk-sync", s)
		if v.Of == diagnose.OfRequest && !p.CPU().Full() {
			if worth := p.Polled(s.Share, calls.cpu(s)); worth.Factor > f.GainCeiling {
				diagnose.Promise(&f, worth) // what the kernel computes in the calls goes with them
			}
		}
		if at, ok := onBehalf(p, s); ok {
			f.Where.Detail = fmt.Sprintf("for %s (%s)", callstack.Short(at.Function), diagnose.At(at))
			if callers := p.Stacks.Callers(s.Part.Stack, at); len(callers) > 0 {
				f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, float64(len(callers)), "functions", "called by %s",
					usage.ThroughWords(callers)))
			}
		}
		f.Title = fmt.Sprintf("%s for the disk at %s", v.Requests(), diagnose.At(s.Place))
		f.Remedy = fmt.Sprintf("Commit several requests' writes with one sync at %s (group commit), write less often, or acknowledge "+
			"after a buffered write if losing the last moments is acceptable.", diagnose.At(s.Place))
		if queued >= leastBehindNS {
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, queued, diagnose.Nanosec,
				"%s of that is spent queueing for a CPU, because a thread in such a call keeps its P for a "+
					"while", diagnose.Span(queued)))
		}
		load := p.Load()
		if calls, ok := p.Sum(series.FsyncCalls, ""); ok && calls > 0 && load.Requests > 0 {
			spent, _ := p.Sum(series.FsyncTime, "")
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromKernel, spent/calls, diagnose.Nanosec,
				"%s syncs per request, %s each", diagnose.Times(calls/load.Requests), diagnose.Span(spent/calls)))
		}
		if wrote, ok := p.Rate(series.ProcessWriteBytes, ""); ok {
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, wrote, "bytes/s",
				"the process writes %s/s to storage", diagnose.Size(wrote)))
		}
		p.Cover(f, calls.queuesBehind(s)...)
		found = append(found, f)
	}
	return found, nil
}

// onBehalf returns the place on whose behalf a file's wrapper writes: where
// requests wait for it, or else the innermost caller in another of the user's
// packages. A generic function writes for any, so it is a wrapper too.
func onBehalf(p *diagnose.Pass, s waits.Site) (code.Frame, bool) {
	own, _ := callstack.Split(s.Place.Function)
	for _, f := range s.Part.Stack {
		if pkg, _ := callstack.Split(f.Function); p.Stacks.User(f) && pkg != own && !strings.Contains(f.Function, "[") {
			return f, true
		}
	}
	return code.Frame{}, false
}

// queuedBehind adds to a site the time that requests queue for a P because other requests
// are in the site's calls, and returns it in ns of the mean request: a goroutine in
// a system call keeps its P until sysmon takes it back, 20 µs to 10 ms later
// (runtime/proc.go, retake), and most syncs are no longer than that. On saturated
// CPUs the CPUs cause the queue, and 0 is returned.
func queuedBehind(p *diagnose.Pass, s *waits.Site) float64 {
	w := p.Waits()
	if p.CPU().Saturated() || s.NS <= 0 || s.Wait != callstack.SyncWait || s.Part.State != breakdown.StateSyscall {
		return 0
	}
	part := s.NS / (s.NS + w.NS(callstack.Busy))
	if part >= 0.5 {
		part = 1 // running stretches are short, so requests that queue for long queue behind the calls
	}
	behind := part * w.NS(callstack.Queued)
	s.NS, s.Share = s.NS+behind, min(1, s.Share+behind/w.MeanNS())
	tail := part * w.Tail(callstack.Queued)
	s.TailNS, s.Tail = s.TailNS+tail*w.GapNS(), min(1, s.Tail+tail)
	return behind
}
