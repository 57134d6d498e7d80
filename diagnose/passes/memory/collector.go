package memory

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/findings"
)

const (
	// leastGC is collection's least part of the service's CPU. The pacer aims at a
	// quarter of GOMAXPROCS while a cycle runs (runtime/mgcpacer.go,
	// gcBackgroundUtilization), so a quarter on average means that it hardly ever
	// rests.
	leastGC = 0.25
	// leastExplained is that part where a limit, the heap's size or a small GOGC is at fault:
	// less than for allocation, because figures of their own prove these.
	leastExplained = 0.15
	// leastForced is the least part of the service's CPU or of request time that
	// forced cycles take, leastForcedRate their number per second, and
	// leastForcedPart their part of all cycles. No service needs any of them.
	leastForced, leastForcedRate, leastForcedPart = 0.10, 1.0, 0.5
	// leastScan is the live heap with pointers, in bytes: marking 96 MB of small
	// objects takes some 100 ms of CPU, which requests feel; below that GOGC
	// decides.
	leastScan = 96e6
	// leastPercent is the GOGC at which the heap is at fault and not the setting.
	leastPercent = 50
	// leastAssist is the part of request time, on average; leastAssistBusy that on
	// saturated CPUs, because assists wait for a CPU like everything else:
	// crew-roster, which is merely busy, has 0.10.
	leastAssist, leastAssistBusy = 0.10, 0.20
	// leastAssistTail is the part of the tail's extra time over the median. On a
	// saturated host the tail of any service that allocates meets some cycle, so it
	// counts only below saturation.
	leastAssistTail = 0.40
	// leastAssistCPU is the part of the service's CPU that collecting must take if
	// there is a profile. Assist time is wall-clock time: a collector that other
	// programs keep from running makes requests wait, but is not at fault. A small
	// healthy service with such neighbours spent 17 % of request time in assists
	// and 2 % of its CPU on collecting; one with GOGC=5 spends a third.
	leastAssistCPU = 0.08
	// leastAssistGapNS is by how much the tail must exceed the median, in ns.
	leastAssistGapNS = 2e6
)

// Collector finds what makes the collector run if it costs too much.
//
// The cost of collection is cycles per second times the cost of one, and each cause
// moves one factor: runtime.GC, the memory limit and GOGC the frequency, the live
// heap with pointers the cost (Go GC guide; Jones, Hosking and Moss, The Garbage
// Collection Handbook, 2012). So the causes are tried in that order, and the first
// that holds is the finding.
var Collector = diagnose.Analyzer{
	Name:  "collector",
	Stage: diagnose.Memory,
	Doc: "Takes the collector's part of the CPU from the CPU profile (without marking on idle CPUs) and the time that requests " +
		"spend on assists from the trace, and names one cause: forced cycles (half of them), else the memory limit, else a " +
		"large heap with pointers, else assists (10 % of request time or 40 % of the tail's extra time, on CPUs that are " +
		"not saturated, and longer than requests queue behind the collector), else collection itself at 25 % or more of the CPU.",
	Causes: []diagnose.Cause{gcForced, gcLimit, heapLarge, gcAssist, gcCPU},
	Needs:  []diagnose.Need{diagnose.NeedLoad},
	After:  []string{"allocation"},
	Run:    runCollector,
}

// collecting is the collector's cost, and its effect on requests.
type collecting struct {
	usage.Collection
	judged bool // whether the CPU profile is good enough for shares
	assist assisting
}

// runCollector returns at most one finding, see the package comment. Missing data
// is noted per cause, because the count of cycles, the trace and the profile each
// serve different ones.
func runCollector(p *diagnose.Pass) ([]diagnose.Finding, error) {
	c := collecting{Collection: p.Collection()}
	use, err := p.Use()
	switch {
	case err != nil:
		for _, cause := range []string{gcLimit.ID, heapLarge.ID, gcCPU.ID} {
			p.Unjudged(cause, "%v", err)
		}
	default:
		c.judged = p.Sampled(use, gcCPU.ID)
	}
	if !c.judged {
		c.CPU = 0
	}
	if math.IsNaN(c.Cycles) {
		p.Unjudged(gcForced.ID, "garbage collections were not counted: that needs the probe (--build), or a target that "+
			"redline starts (--exec)")
	}
	if p.Has(diagnose.NeedAnatomy) {
		c.assist = assists(p)
	} else {
		p.Unjudged(gcAssist.ID, "%s", p.Explain(diagnose.NeedAnatomy))
	}
	for _, reason := range []func(*diagnose.Pass, collecting) (diagnose.Finding, bool){forced, thrash, large, assisted, busy} {
		if f, ok := reason(p, c); ok {
			return []diagnose.Finding{f}, nil
		}
	}
	return nil, nil
}

// assisting is the time that requests spend in assists and in stopped worlds.
type assisting struct {
	share    float64 // of request time or of the tail's extra time, as of says
	of       string
	ns       float64 // per mean request
	gain     float64
	reported bool // whether it is enough to be reported
}

// assists measures it, by the mean request or else by the tail.
func assists(p *diagnose.Pass) assisting {
	w := p.Waits()
	a := assisting{share: w.Share(callstack.Collector), of: diagnose.OfRequest, ns: w.NS(callstack.Collector)}
	least := leastAssist
	if p.CPU().Saturated() {
		least = leastAssistBusy
	}
	a.gain, a.reported = diagnose.Ceiling(a.share), a.share >= least
	tail := w.Tail(callstack.Collector)
	if !a.reported && tail >= leastAssistTail && w.GapNS() >= leastAssistGapNS && !p.CPU().Saturated() {
		a.share, a.of, a.reported = tail, diagnose.OfTail, true
		a.gain = diagnose.Ceiling(tail * w.GapNS() / float64(p.Anatomy.TailNS))
	}
	return a
}

// queued returns the part of request time that requests queue for a CPU behind the collector, if what they queue behind is
// divided as the service's CPU is.
func (c collecting) queued(p *diagnose.Pass) float64 {
	return c.CPU * p.Waits().Share(callstack.Queued)
}

// assisted reports requests that assist while CPUs are idle. Saturated CPUs are
// left to busy, and so are those behind whose collection requests wait longer than they
// assist: an assist is then one way of spending CPU.
func assisted(p *diagnose.Pass, c collecting) (diagnose.Finding, bool) {
	a := c.assist
	if !a.reported || p.CPU().Saturated() && c.CPU >= leastGC || a.of == diagnose.OfRequest && a.share < c.queued(p) {
		return diagnose.Finding{}, false
	}
	if c.judged && c.CPU < leastAssistCPU {
		p.Reject(gcAssist.ID, "requests assist the garbage collector or are stopped for %s of %s, but it takes only %s of "+
			"the service's CPU",
			diagnose.Percent(a.share), a.of, diagnose.Percent(c.CPU))
		return diagnose.Finding{}, false
	}
	if l := p.Load(); l.Instant() {
		p.Reject(gcAssist.ID, "requests assist the collector or are stopped for %s of %s, but 99 of 100 finish within %s at the "+
			"requested rate", diagnose.Percent(a.share), a.of, diagnose.Span(l.P99))
		return diagnose.Finding{}, false
	}
	f := diagnose.Finding{
		Cause: gcAssist.ID, Share: a.share, ShareOf: a.of, Confidence: findings.High, GainCeiling: a.gain,
		Title: fmt.Sprintf("Requests spend %s of %s helping the garbage collector", diagnose.Percent(a.share), a.of),
	}
	if a.of == diagnose.OfTail {
		f.Confidence = findings.Medium
	}
	if c.CPU >= leastGC {
		// Without collection there are no assists, and its CPU is freed too.
		diagnose.Promise(&f, p.Ran(evidence.Work{Share: c.CPU}))
	}
	return c.finish(p, f, advice(p, c)), true
}

// busy reports collection that takes the CPU for no other reason than GOGC and the
// allocations.
func busy(p *diagnose.Pass, c collecting) (diagnose.Finding, bool) {
	small := c.Percent < leastPercent
	if !(c.CPU >= leastGC || small && c.CPU >= leastExplained) {
		return diagnose.Finding{}, false
	}
	if called, at := calls(p); called.Bytes >= mostSpread && called.Share >= c.CPU && !small {
		p.Reject(gcCPU.ID, "garbage collection takes %s of the service's CPU, with %s of all bytes allocated below the calls at %s, "+
			"which is cpu-hot-function", diagnose.Percent(c.CPU), diagnose.Percent(called.Bytes), diagnose.At(at))
		return diagnose.Finding{}, false
	}
	f := diagnose.Finding{
		Cause: gcCPU.ID, Share: c.CPU, ShareOf: diagnose.OfCPU, Confidence: findings.Medium,
		Title: fmt.Sprintf("Garbage collection takes %s of the service's CPU", diagnose.Percent(c.CPU)),
	}
	diagnose.Promise(&f, p.Ran(evidence.Work{Share: c.CPU}))
	if !math.IsNaN(c.Cycles) {
		f.Confidence = findings.High
	}
	return c.finish(p, f, advice(p, c)), true
}

// finish adds what all findings have: the place that allocates most, unless a
// better one is known, the collector's figures, and the remedy. If one site
// allocates most at an ordinary setting, the finding is a consequence of that site
// and promises no more than it.
func (c collecting) finish(p *diagnose.Pass, f diagnose.Finding, remedy string) diagnose.Finding {
	f.Remedy = remedy
	f.Evidence = append(f.Evidence, c.facts(p)...)
	if f.Cause == gcForced.ID {
		return f
	}
	if sites, err := allocating(p); err == nil && len(sites) > 0 {
		f.Where = diagnose.WhereOf(sites[0].place)
		f.Remedy += fmt.Sprintf(" Most bytes are allocated at %s (%s per request).", diagnose.At(sites[0].place),
			diagnose.Size(perRequest(p, sites[0].bytes)))
	}
	if f.Cause == gcCPU.ID || f.Cause == gcAssist.ID {
		c.setting(p, &f)
		for _, site := range p.Findings("allocation") {
			if c.Ordinary() >= leastPercent/100.0 {
				f.GainCeiling, f.GainOf, f.Then = min(f.GainCeiling, site.GainCeiling), site.GainOf, site.Then
				f.GainAtLeast, f.GainLow, f.GainHigh = site.GainAtLeast, site.GainLow, site.GainHigh
			}
		}
	}
	return f
}

// setting names a GOGC that is small, and the line that sets it: that is the one to change, not the one that allocates.
func (c collecting) setting(p *diagnose.Pass, f *diagnose.Finding) {
	if c.Percent >= leastPercent {
		return
	}
	f.Title += fmt.Sprintf(": GOGC is %s", diagnose.Number(c.Percent))
	if set := p.Sources().Collector; len(set) == 1 {
		f.Where = diagnose.WhereOf(set[0])
		f.Title += ", set at " + diagnose.At(set[0])
	}
}

// facts returns, as evidence, the cost of collection, the frequency of cycles and
// the size of the heap.
func (c collecting) facts(p *diagnose.Pass) []findings.Evidence {
	var facts []findings.Evidence
	if c.judged {
		facts = append(facts, diagnose.Fact(diagnose.FromProfile, c.CPU, diagnose.Ratio,
			"marking, assisting and sweeping take %s of the CPU samples", diagnose.Percent(c.CPU)))
	}
	if w := p.Waits(); c.assist.ns > 0 {
		facts = append(facts, diagnose.Fact(diagnose.FromTrace, c.assist.ns, diagnose.Nanosec,
			"the mean request assists or is stopped for %s of %s", diagnose.Span(c.assist.ns), diagnose.Span(w.MeanNS())))
	}
	if c.Cycles > 0 {
		facts = append(facts, diagnose.Fact(diagnose.FromProbe, c.Cycles, diagnose.Hertz, "%s cycles per second", diagnose.Times(c.Cycles)))
	}
	if c.Live > 0 {
		facts = append(facts, diagnose.Fact(diagnose.FromProbe, c.Live, diagnose.Bytes, "the live heap is %s", diagnose.Size(c.Live)))
	}
	switch {
	case math.IsInf(c.Percent, 1):
		facts = append(facts, diagnose.Fact(diagnose.FromProbe, -1, "%", "GOGC is off"))
	case c.Percent > 0:
		facts = append(facts, diagnose.Fact(diagnose.FromProbe, c.Percent, "%", "GOGC is %s", diagnose.Number(c.Percent)))
	}
	return facts
}

// advice names the setting to change, or the allocations, whichever applies.
func advice(p *diagnose.Pass, c collecting) string {
	if c.Percent > 0 && c.Percent < usage.DefaultPercent {
		return fmt.Sprintf("Raise GOGC (it is %s; 100 is the default) under a memory limit (GOMEMLIMIT).", diagnose.Number(c.Percent))
	}
	return "Allocate less per request, or raise GOGC under a memory limit (GOGC=400, with GOMEMLIMIT at the memory the service may use)."
}

// allocating returns the places that allocate, most bytes first.
func allocating(p *diagnose.Pass) ([]site, error) {
	allocs, err := p.Profile("allocs", "alloc_space")
	if err != nil {
		return nil, err
	}
	return sitesOf(p, allocs), nil
}
