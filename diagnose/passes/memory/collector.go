package memory

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

const (
	// leastGC of the service's CPU: the pacer aims at a quarter while a cycle
	// runs, so a quarter on average means that it hardly ever rests.
	leastGC = 0.25
	// leastAssist of request time, on average.
	leastAssist = 0.10
	// leastAssistTail of the time by which the tail exceeds the median. On a
	// saturated host the tail of any service that allocates meets some cycle, so
	// it is judged below saturation only.
	leastAssistTail = 0.40
	// leastAssistCPU of the service's CPU that collecting must take where the
	// profile tells. Time is by the wall: a collector that other programs keep
	// from running makes requests wait for it, and is not what to change. A
	// small healthy service under such neighbours spent 17 % of request time so
	// and 2 % of its CPU; one with GOGC=5 spends a third.
	leastAssistCPU = 0.08
	// leastAssistGapNS by which the tail must exceed the median.
	leastAssistGapNS = 2e6
)

// Collector finds services that collect too often and requests that help.
var Collector = diagnose.Analyzer{
	Name:  "collector",
	Stage: diagnose.Memory,
	Doc: "Takes the collector's part of CPU from the CPU profile (marking on idle CPUs left out), from 25 %, and the " +
		"time requests spend on assists from the trace, from 10 % of request time or 40 % of the tail's extra time.",
	Causes: []diagnose.Cause{{
		ID: "gc-assist", Title: "Requests help the garbage collector",
		Doc:         "Requests that allocate during a cycle have to mark in proportion (assist), so they take longer.",
		Remedy:      "Allocate less; raise GOGC under a memory limit (GOMEMLIMIT).",
		FollowsFrom: []string{"alloc-hot"},
	}, {
		ID: "gc-cpu", Title: "Garbage collection takes the CPU",
		Doc:         "The collector runs nearly all the time, often because the live heap is small and GOGC makes cycles short.",
		Remedy:      "GOGC up under GOMEMLIMIT, fewer allocations at the named sites.",
		FollowsFrom: []string{"alloc-hot", "gc-assist"},
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	After: []string{"allocation"},
	Run:   runCollector,
}

func runCollector(p *diagnose.Pass) ([]diagnose.Finding, error) {
	var found []diagnose.Finding
	f, assists := assist(p)
	use, err := p.Use()
	switch {
	case err != nil:
		p.Unjudged("gc-cpu", "%v", err)
	case p.Sampled(use, "gc-cpu"):
		if share := use.Share(callstack.GCWork | callstack.GCAssist); share >= leastGC {
			found = append(found, busyCollector(p, share))
			// Assists end when collection does, and its CPU is freed with them.
			f.GainCeiling = max(f.GainCeiling, p.CPUGain(share))
		}
	}
	if assists {
		found = append(found, f)
	}
	return found, nil
}

func assist(p *diagnose.Pass) (diagnose.Finding, bool) {
	if !p.Has(diagnose.NeedAnatomy) {
		p.Unjudged("gc-assist", "it needs an execution trace, from the probe (--build) or net/http/pprof (--pprof)")
		return diagnose.Finding{}, false
	}
	w := p.Waits()
	share, tail := w.Share(callstack.Collector), w.Tail(callstack.Collector)
	f := diagnose.Finding{Cause: "gc-assist", ShareOf: diagnose.OfRequest, Share: share, Confidence: record.High, GainCeiling: diagnose.Ceiling(share)}
	switch {
	case share >= leastAssist:
	case tail >= leastAssistTail && w.GapNS() >= leastAssistGapNS && !p.CPU().Saturated():
		f.Share, f.ShareOf, f.Confidence = tail, diagnose.OfTail, record.Medium
		f.GainCeiling = diagnose.Ceiling(tail * w.GapNS() / float64(p.Anatomy.TailNS))
	default:
		return f, false
	}
	if use, err := p.Use(); err == nil && use.Samples > 0 {
		if cpu := use.Share(callstack.GCWork | callstack.GCAssist); cpu < leastAssistCPU {
			p.Reject("gc-assist", "requests help the collector or stand still for %s of %s, but it takes only %s of the service's CPU", diagnose.Percent(f.Share), f.ShareOf, diagnose.Percent(cpu))
			return f, false
		}
	}
	ns := w.NS(callstack.Collector)
	f.Title = fmt.Sprintf("Requests spend %s of %s helping the garbage collector", diagnose.Percent(f.Share), f.ShareOf)
	f.Evidence = append([]record.Evidence{diagnose.Fact(diagnose.FromTrace, ns, diagnose.Nanosec, "the mean request assists or is stopped for %s of %s", diagnose.Span(ns), diagnose.Span(w.MeanNS()))}, heap(p)...)
	f.Remedy = advice(p, &f)
	return f, true
}

func busyCollector(p *diagnose.Pass, share float64) diagnose.Finding {
	f := diagnose.Finding{
		Cause: "gc-cpu", Share: share, ShareOf: diagnose.OfCPU, Confidence: record.Medium, GainCeiling: p.CPUGain(share),
		Title:    fmt.Sprintf("Garbage collection takes %s of the service's CPU", diagnose.Percent(share)),
		Evidence: append([]record.Evidence{diagnose.Fact(diagnose.FromProfile, share, diagnose.Ratio, "marking, assisting and sweeping take %s of the CPU samples", diagnose.Percent(share))}, heap(p)...),
	}
	f.Remedy = advice(p, &f)
	if _, ok := p.Sum("/gc/cycles/total:gc-cycles", ""); ok {
		f.Confidence = record.High
	}
	return f
}

// heap tells how often cycles run and on how much.
func heap(p *diagnose.Pass) []record.Evidence {
	var facts []record.Evidence
	if cycles, ok := p.Rate("/gc/cycles/total:gc-cycles", ""); ok {
		facts = append(facts, diagnose.Fact(diagnose.FromProbe, cycles, diagnose.Hertz, "%.1f cycles per second", cycles))
	}
	if live, ok := p.Mean("/gc/heap/live:bytes", ""); ok {
		facts = append(facts, diagnose.Fact(diagnose.FromProbe, live, diagnose.Bytes, "the live heap is %s", size(live)))
	}
	if percent, ok := p.Mean("/gc/gogc:percent", ""); ok {
		facts = append(facts, diagnose.Fact(diagnose.FromProbe, percent, "%", "GOGC is %.0f", percent))
	}
	return facts
}

// advice names the setting or the sites, whichever applies, and the place that
// allocates most.
func advice(p *diagnose.Pass, f *diagnose.Finding) string {
	remedy := "Allocate less per request, or raise GOGC under a memory limit (GOGC=400 with GOMEMLIMIT at what the service may use)."
	if percent, ok := p.Mean("/gc/gogc:percent", ""); ok && percent > 0 && percent < 100 {
		remedy = fmt.Sprintf("Raise GOGC (it is %.0f; 100 is the default) under a memory limit (GOMEMLIMIT).", percent)
	}
	allocs, err := p.Profile("allocs", "alloc_space")
	if err != nil {
		return remedy
	}
	if sites := sitesOf(p, allocs); len(sites) > 0 {
		f.Where = diagnose.WhereOf(sites[0].place)
		each := perRequest(p, sites[0].bytes)
		remedy += fmt.Sprintf(" Most is allocated at %s (%s per request).", diagnose.At(sites[0].place), size(each))
	}
	return remedy
}
