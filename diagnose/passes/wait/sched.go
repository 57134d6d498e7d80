package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastQueued is the part of request time spent ready but not running.
	leastQueued = 0.30
	// leastBackground is the part of the service's CPU that is not spent on
	// requests, from which requests queue behind other work and not behind each
	// other.
	leastBackground = 0.30
	// leastSchedNS is that time per request; the scheduler's hand-overs take less.
	leastSchedNS = 500e3
	// crowded is the use of CPUs from which the requests of a closed loop queue
	// behind each other: it has more connections than CPUs, hands over through the
	// network, and so stays below full use while all of it is queueing. The cached
	// gateway at 16 connections measured 0.85 to 0.95.
	crowded = 0.75
)

// halfBusy is the use of CPUs from which a closed loop's requests may queue behind
// others of their own kind.
const halfBusy = 0.5

// Sched finds requests that are ready to run and do not.
//
// A run queue is mostly a symptom: in a single queue with arrivals at random the
// wait grows as ρ/(1-ρ) of the service time (Kingman 1961 for the general case), so
// that at 90 % use it is nine times the work. It is a finding where something else
// fills the CPUs, or where they are not full on average and work comes in bursts.
// Threads that the kernel holds in system calls occupy Ps as well, which disk-sync
// and blocking-syscall report.
var Sched = diagnose.Analyzer{
	Name:  "sched",
	Stage: diagnose.Wait,
	Doc: "Looks at the time requests are runnable, from 30 % of request time or half of the tail's extra time. If requests " +
		"themselves saturate the CPUs, that is a symptom and not reported; it is reported if 30 % of the service's CPU goes " +
		"into background work, or if CPUs are not saturated on average (bursts).",
	Causes: []diagnose.Cause{schedCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	Run:    runSched,
}

// runSched rejects before it finds: a long run queue is what a reader sees first, so
// that each rejection gives its figure.
func runSched(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	background, where := backgroundWork(p)
	if behindOthers(p, background) {
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "sched-latency", ShareOf: diagnose.OfRequest, Confidence: findings.Medium,
		Remedy: "Spread out the work that comes in bursts, limit what runs at once, or give the service more CPUs.",
	}
	if !queues(p, &f, background) {
		return nil, nil
	}
	f.Title = fmt.Sprintf("Requests are ready to run but wait for a CPU for %s of %s", diagnose.Percent(f.Share), f.ShareOf)
	ns := w.NS(callstack.Queued)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, ns, diagnose.Nanosec,
		"the mean request is runnable for %s of %s", diagnose.Span(ns), diagnose.Span(w.MeanNS())))
	if p99, ok := p.Mean("/sched/latencies:seconds", series.Labels("q", "p99")); ok {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProbe, p99, diagnose.Nanosec,
			"the scheduler's own p99 latency over all goroutines is %s", diagnose.Span(p99)))
	}
	if background >= leastBackground {
		f.Where = diagnose.WhereOf(where)
		f.Title += fmt.Sprintf(" behind background work at %s", diagnose.At(where))
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, background, diagnose.Ratio,
			"%s of the service's CPU is spent outside requests", diagnose.Percent(background)))
		f.Remedy = fmt.Sprintf("Limit the background work at %s or move it elsewhere: it takes CPUs from "+
			"requests.", diagnose.At(where))
	} else if !p.Load().Open && p.CPU().Use() >= halfBusy {
		// In a closed loop the next request is there as soon as one is answered, so
		// requests meet at the CPUs whatever they do there: coupon-redeem at 73 %.
		f.Confidence = findings.Low
	}
	return []diagnose.Finding{f}, nil
}

// behindOthers reports whether requests queue behind threads in system calls, or
// behind background work that has a finding of its own, and rejects the cause then.
// background is that work's part of the service's CPU.
func behindOthers(p *diagnose.Pass, background float64) bool {
	const cause = "sched-latency"
	w := p.Waits()
	runnable := diagnose.Percent(w.Share(callstack.Queued))
	blocked := w.Share(callstack.SyncWait, callstack.FileWait, callstack.SyscallWait)
	if blocked >= waitgain.LeastShare && background < leastBackground {
		// A thread keeps its place in the scheduler for a while after it went into
		// the kernel, and others wait for that place: draft-autosave.
		p.Reject(cause, "requests are runnable %s of their time because others of them are in system calls", runnable)
		return true
	}
	if list, ok := p.Background(); ok && len(list) > 0 && list[0].Share >= leastBackground && !list[0].Started {
		p.Reject(cause, "requests are runnable %s of their time because %s takes %s of the service's CPU: that "+
			"is background-work", runnable, callstack.Short(list[0].Place.Function), diagnose.Percent(list[0].Share))
		return true
	}
	return false
}

// queues applies the rule to the mean request, then to the tail, and sets the
// finding's share and gain. Requests that queue behind each other are rejected.
func queues(p *diagnose.Pass, f *diagnose.Finding, background float64) bool {
	w := p.Waits()
	share, tail := w.Share(callstack.Queued), w.Tail(callstack.Queued)
	saturated := p.CPU().Saturated() || !p.Load().Open && p.CPU().Use() >= crowded
	switch {
	case share >= leastQueued && w.NS(callstack.Queued) >= leastSchedNS && (!saturated || background >= leastBackground):
		f.Share = share
		// Removing the competing work frees its CPU, which idle CPUs do not bound.
		// But a limit of the service's own makes it queue where CPUs are free: then the
		// queue is the limit's, and worth no more than lifting that.
		queue, gain := p.Waited(share), p.Ran(evidence.Work{Share: background})
		queue.Factor, gain.Factor = min(queue.Factor, p.Lifted()), min(gain.Factor, p.Lifted())
		diagnose.Promise(f, queue, gain)
		return true
	case tail >= waitgain.LeastTail && !saturated && w.GapNS() >= waitgain.LeastGapNS &&
		2*float64(p.Anatomy.MedianNS) <= float64(p.Anatomy.TailNS):
		f.Share, f.ShareOf = tail, diagnose.OfTail
		f.GainCeiling = diagnose.Ceiling(tail * w.GapNS() / float64(p.Anatomy.TailNS))
		return true
	case share >= leastQueued && saturated:
		p.Reject("sched-latency", "requests are runnable %s of their time because they themselves keep the CPUs busy",
			diagnose.Percent(share))
	}
	return false
}

// backgroundWork returns the part of CPU that the user's code spends outside
// requests, 0 to 1, and where most of that is. Goroutines that requests start count
// here only if nothing distinguishes them.
func backgroundWork(p *diagnose.Pass) (float64, code.Frame) {
	use, err := p.Use()
	if err != nil {
		return 0, code.Frame{}
	}
	return use.Background()
}
