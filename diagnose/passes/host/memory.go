package host

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastFaults is the least number of faults per second that wait for the disk:
	// parts-mmap has 17,700, a service that reads its own program for the first
	// time about ten.
	leastFaults = 20.0
	// readNS is the time to read a page from storage if it was not measured: the
	// least that a fast disk takes.
	readNS = 100e3
	// faultNS is the most kernel CPU that is attributed to one such fault.
	faultNS = 50e3
	// nearMemory: the group's memory is at its limit. Page cache fills any limit,
	// so this alone says nothing.
	nearMemory = 0.90
	// leastStalled is the part of time in which some task waited for memory (PSI,
	// Documentation/accounting/psi.rst): parts-mmap has 3 %.
	leastStalled = 0.005
)

// Memory finds services with less memory than their working set.
//
// Only major faults count, which wait for the disk (getrusage(2)). To Go's
// scheduler a goroutine in a fault runs: its P is occupied, the trace says running,
// and the profile, which counts CPU time, shows nothing. So the rule multiplies
// faults by the time of a read, and adds the time that requests queue for the
// occupied Ps. First reads of a file look the same, hence low confidence unless the
// group is at its limit or PSI shows stalls.
var Memory = diagnose.Analyzer{
	Name:  "memory-pressure",
	Stage: diagnose.Host,
	Doc: "Counts page faults that wait for the disk, at least 20 a second, and how much request time they and the queue behind " +
		"them take. Memory pressure shows in a cgroup that hits its memory limit again and again, or in PSI (0.5 % of time).",
	Causes: []diagnose.Cause{{
		ID: "memory-pressure", Title: "Memory is short, and pages are read from disk",
		Doc: "Data that the service reads (a mapped file, its own program, or swapped memory) does not stay in memory, and " +
			"every access waits for the disk. To Go's scheduler such a goroutine is running: it keeps its P, and other goroutines " +
			"queue for that P while CPUs are idle.",
		Knows: "Major page faults of the target, at least 20 a second, times the duration of a read from the block device (eBPF), " +
			"plus the kernel's CPU for them. They mean pressure if the cgroup's memory is at its limit and hits it in these " +
			"windows, or if tasks stall for memory (PSI, 0.5 % of time). Without either, pages may be read for the first time, " +
			"and confidence is low. Because Go's trace shows a goroutine in a page fault as running, the requests that queue " +
			"behind it count as well. Waits in read calls are blocking-syscall, a heap at GOMEMLIMIT gc-limit-thrash.",
		Remedy: "Raise the memory limit to the working set, map or keep less data, and set GOMEMLIMIT below the limit so that the " +
			"heap leaves room for pages.",
		Example: diagnose.Example{
			Lang:   "yaml",
			Before: "resources:\n  limits: {memory: 48Mi}   # 192 MiB are mapped",
			After:  "resources:\n  limits: {memory: 256Mi}",
		},
		Verify: "redline run again: process.faults.major falls to 0 and cgroup.memory.events.max no longer rises.",
		Cases:  []string{"parts-mmap"},
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad, diagnose.NeedProcess},
	Run:   runMemory,
}

// runMemory starts at low confidence, because the service may read its pages for
// the first time; pressure raises it.
func runMemory(p *diagnose.Pass) ([]diagnose.Finding, error) {
	faults, ok := p.Rate(series.ProcessMajorFaults, "")
	if !ok {
		p.Unjudged("memory-pressure", "page faults of the target were not counted")
		return nil, nil
	}
	if faults < leastFaults {
		return nil, nil
	}
	each, measured := readTime(p)
	share := faultShare(p, faults, each)
	f := diagnose.Finding{
		Cause: "memory-pressure", Share: share, ShareOf: diagnose.OfRequest, GainCeiling: p.OutsideGain(share), Confidence: findings.Low,
		Title: fmt.Sprintf("%s page faults per second wait for the disk", diagnose.Rate(faults)),
		Where: findings.Where{Detail: "memory of the host"},
		Evidence: []findings.Evidence{diagnose.Fact(diagnose.FromProcess, faults, diagnose.Hertz,
			"%s major page faults per second, %s per request", diagnose.Rate(faults), diagnose.Times(faults/math.Max(1, p.Load().Rate)))},
		Remedy: "Give the service enough memory for the data it reads repeatedly, or make it read less; set GOMEMLIMIT so " +
			"that the heap leaves room for pages.",
	}
	if measured {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromKernel, each, diagnose.Nanosec,
			"a read of the disk takes %s", diagnose.Span(each)))
	}
	pressure(p, &f)
	return []diagnose.Finding{f}, nil
}

// readTime returns the time to read a page from the disk, in ns: from the block
// device's own times, which include read-ahead, or else readNS.
func readTime(p *diagnose.Pass) (ns float64, measured bool) {
	op := series.Labels("op", "read")
	n, ok := p.Sum(series.BlockRequests, op)
	spent, timed := p.Sum(series.BlockTime, op)
	if !ok || !timed || n <= 0 || spent <= 0 {
		return readNS, false
	}
	return spent / n, true
}

// faultShare returns the part of request time that faults take, 0 to 0.95: the wait
// for the disk, the kernel's own work, and their part of the queue for Ps. faults
// are per second, each is ns. Without an anatomy it is the part of the Ps that
// faults occupy.
func faultShare(p *diagnose.Pass, faults, each float64) float64 {
	c, load := p.CPU(), p.Load()
	kernel := 0.0
	if system, ok := p.Rate(series.ProcessSystem, ""); ok {
		kernel = math.Min(system, faults*faultNS) / 1e9 // CPUs
	}
	held := faults*each/1e9 + kernel // Ps
	if !p.Has(diagnose.NeedAnatomy) {
		if !(c.Limit > 0) {
			return 0
		}
		return math.Min(0.95, held/c.Limit)
	}
	w := p.Waits()
	own := held / load.Rate * 1e9
	part := held / (held + math.Max(0, c.Target-kernel))
	if math.IsNaN(part) {
		part = 0
	}
	return math.Max(0, math.Min(0.95, (own+part*w.NS(callstack.Queued))/w.MeanNS()))
}

// pressure adds the evidence that memory is short, and raises confidence by it.
func pressure(p *diagnose.Pass, f *diagnose.Finding) {
	used, known := p.Max(series.CgroupMemory, "")
	limit, limited := p.Mean(series.CgroupMemoryLimit, "")
	hits, _ := p.Sum(series.CgroupMemoryMaxes, "")
	if known && limited && limit > 0 && used >= nearMemory*limit && hits > 0 {
		f.Confidence, f.Where.Detail = findings.High, "memory limit of the control group"
		f.Title += fmt.Sprintf(": memory is at its limit of %s", diagnose.Size(limit))
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, used/limit, diagnose.Ratio,
			"the cgroup uses %s of %s and hit its limit %s", diagnose.Size(used), diagnose.Size(limit),
			diagnose.Counted(hits, "time", "times")))
		f.Remedy = fmt.Sprintf("Raise the memory limit of %s to the service's working set, or shrink the working set; set "+
			"GOMEMLIMIT so that the heap leaves room for pages.", diagnose.Size(limit))
	}
	stalled, ok := p.Rate(series.PressureMemory, "")
	if ok && stalled/1e9 >= leastStalled {
		if f.Confidence == findings.Low {
			f.Confidence = findings.Medium
		}
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, stalled/1e9, "s/s",
			"tasks stall for memory for %s in each second (PSI)", diagnose.Span(stalled)))
	}
}
