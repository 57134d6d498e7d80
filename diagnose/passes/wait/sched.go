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
	// leastBackground is the least part of the service's CPU spent outside requests
	// at which requests queue behind other work and not behind each other.
	leastBackground = 0.30
	// leastSchedNS is that time per request; the scheduler's hand-overs take less.
	leastSchedNS = 500e3
	// crowded is the utilisation of CPUs at which the requests of a closed loop
	// queue behind each other: with more connections than CPUs and hand-overs
	// through the network, utilisation stays below 1 although requests queue all
	// the time. The cached gateway at 16 connections measured 0.85 to 0.95.
	crowded = 0.75
)

// halfBusy is the utilisation of CPUs at which a closed loop's requests may queue
// behind each other.
const halfBusy = 0.5

// Sched finds requests that are ready to run but wait for a CPU.
//
// A run queue is mostly a symptom: in a single queue with random arrivals the wait
// grows as ρ/(1-ρ) of the service time (Kingman 1961 for the general case), so at
// 90 % utilisation it is nine times the work. It is a finding where something else
// fills the CPUs, or where they are not full on average and work comes in bursts.
// Threads in system calls occupy Ps as well; disk-sync and blocking-syscall report
// those.
var Sched = diagnose.Analyzer{
	Name:  "sched",
	Stage: diagnose.Wait,
	Doc: "Looks at the time that requests are runnable, at least 30 % of request time or half of the tail's extra time. If " +
		"requests themselves saturate the CPUs, or other programs use half of them and more than the service, that is a symptom " +
		"and is not reported; it is reported if at least 30 % of the service's CPU goes into background work, or if CPUs are not " +
		"saturated on average (bursts).",
	Causes: []diagnose.Cause{schedCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	Run:    runSched,
}

// runSched gives a figure with each rejection, because a long run queue is the first
// thing that a reader sees.
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
		// In a closed loop the next request arrives as soon as one finishes, so
		// requests meet at the CPUs whatever they do there (coupon-redeem at 73 %).
		f.Confidence = findings.Low
	}
	return []diagnose.Finding{f}, nil
}

// behindOthers reports whether requests queue behind threads in system calls,
// behind other programs, which a note on the host names (unstable-host), or behind
// background work that has a finding of its own, and if so rejects the cause. background is that work's part of the service's CPU.
func behindOthers(p *diagnose.Pass, background float64) bool {
	const cause = "sched-latency"
	w := p.Waits()
	runnable := diagnose.Percent(w.Share(callstack.Queued))
	blocked := w.Share(callstack.SyncWait, callstack.FileWait, callstack.SyscallWait)
	if blocked >= waitgain.LeastShare && background < leastBackground {
		// A thread keeps its P for a while after it entered the kernel, and other
		// requests wait for that P (draft-autosave).
		p.Reject(cause, "requests are runnable for %s of their time because other requests are in system calls", runnable)
		return true
	}
	if c := p.CPU(); c.Busy-c.Used() >= max(halfBusy*c.CPUs, c.Target+c.Children) {
		p.Reject(cause, "requests are runnable for %s of their time, but other programs use %s of %s CPUs, more than the service",
			runnable, diagnose.Times(c.Busy-c.Used()), diagnose.Number(c.CPUs))
		return true
	}
	if list, ok := p.Background(); ok && len(list) > 0 && list[0].Share >= leastBackground && !list[0].Started {
		p.Reject(cause, "requests are runnable for %s of their time because %s takes %s of the service's CPU: that "+
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
		// Removing the competing work frees its CPU, which idle CPUs do not bound. But
		// if the service's own limit makes requests queue while CPUs are free, the
		// queue is due to the limit, and removing it gains no more than lifting that.
		queue, gain := p.Waited(share), p.Ran(evidence.Work{Share: background})
		queue.Factor, gain.Factor = min(queue.Factor, p.Lifted()), min(gain.Factor, p.Lifted())
		diagnose.Promise(f, queue, gain)
		return true
	case tail >= waitgain.LeastTail && !saturated && w.GapNS() >= waitgain.LeastGapNS &&
		2*float64(p.Anatomy.MedianNS) <= float64(p.Anatomy.TailNS):
		f.Share, f.ShareOf = tail, diagnose.OfTail
		f.GainCeiling = diagnose.Ceiling(tail * w.GapNS() / float64(p.Anatomy.TailNS))
		f.Confidence = waitgain.InTime(p, callstack.Queued)
		return true
	case share >= leastQueued && saturated:
		p.Reject("sched-latency", "requests are runnable for %s of their time because they themselves keep the CPUs busy",
			diagnose.Percent(share))
	}
	return false
}

// backgroundWork returns the part of CPU that the user's code spends outside
// requests, 0 to 1, and where most of that is. Goroutines that requests start count
// here only if nothing shows that requests started them.
func backgroundWork(p *diagnose.Pass) (float64, code.Frame) {
	use, err := p.Use()
	if err != nil {
		return 0, code.Frame{}
	}
	return use.Background()
}
