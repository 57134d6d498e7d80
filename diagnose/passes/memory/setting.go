package memory

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/findings"
)

// thrash reports a memory limit that leaves no room above the live heap. Near the
// limit the heap goal falls towards the live heap and cycles follow each other (Go
// GC guide, "Memory limit"); the runtime then caps collection at half of the CPU
// and lets the limit be exceeded (runtime/mgclimit.go). That cap alone does not
// decide, because a small GOGC reaches it as well. Nor does a limit that leaves as
// much room as the default GOGC: with GOGC=off each cycle is the limit's.
func thrash(p *diagnose.Pass, c collecting) (diagnose.Finding, bool) {
	if !c.Limited() || !(c.Room() < usage.DefaultPercent/100.0) || !(c.CPU >= leastExplained) {
		return diagnose.Finding{}, false
	}
	f := diagnose.Finding{
		Cause: gcLimit.ID, Share: c.CPU, ShareOf: diagnose.OfCPU, Confidence: findings.High, GainCeiling: max(p.CPUGain(c.CPU), c.relief()),
		Title: fmt.Sprintf("GOMEMLIMIT of %s leaves %s above %s of live heap: garbage collection takes %s of the CPU",
			diagnose.Size(c.Limit), diagnose.Size(max(0, c.Goal-c.Live)), diagnose.Size(c.Live), diagnose.Percent(c.CPU)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProbe, c.Limit, diagnose.Bytes, "the memory limit is %s", diagnose.Size(c.Limit)),
			diagnose.Fact(diagnose.FromProbe, c.Goal, diagnose.Bytes, "the heap goal is %s; GOGC would set it to "+
				"%s", diagnose.Size(c.Goal), c.wanted()),
		},
	}
	if on, ok := p.Max("/gc/limiter/last-enabled:gc-cycle", ""); ok && on > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProbe, on, diagnose.Count,
			"the runtime had to limit the collector's CPU, last in cycle %s", diagnose.Number(on)))
	}
	remedy := fmt.Sprintf("Raise GOMEMLIMIT to at least %s (twice the live heap plus non-heap memory), or keep less data.",
		diagnose.Size(c.Limit+c.Live))
	return c.finish(p, f, remedy), true
}

// wanted gives the heap that GOGC alone would allow: live heap times 1 + GOGC/100.
func (c collecting) wanted() string {
	if math.IsInf(c.Percent, 1) {
		return "any size"
	}
	return diagnose.Size(c.Live * (1 + c.Percent/100))
}

// large reports a heap whose size makes cycles long. Only memory with pointers is
// marked (/gc/scan/heap:bytes): a cache of a gigabyte in one byte slice costs
// nothing (tiles-cache).
func large(p *diagnose.Pass, c collecting) (diagnose.Finding, bool) {
	if math.IsNaN(c.Scan) {
		if c.CPU >= leastExplained {
			p.Unjudged(heapLarge.ID, "heap with pointers unknown: it needs the probe (--build)")
		}
		return diagnose.Finding{}, false
	}
	if c.Scan < leastScan || !(c.Percent >= leastPercent) {
		return diagnose.Finding{}, false
	}
	if !(c.CPU >= leastExplained) && !(c.assist.reported && c.CPU >= leastAssistCPU) {
		p.Reject(heapLarge.ID, "%s of the heap has pointers, but garbage collection takes only %s of the service's CPU",
			diagnose.Size(c.Scan), diagnose.Percent(c.CPU))
		return diagnose.Finding{}, false
	}
	f := diagnose.Finding{
		Cause: heapLarge.ID, Share: c.CPU, ShareOf: diagnose.OfCPU, Confidence: findings.High,
		GainCeiling: max(p.CPUGain(c.CPU), c.relief()),
		Title: fmt.Sprintf("Marking %s of live heap with pointers takes %s of the service's CPU",
			diagnose.Size(c.Scan), diagnose.Percent(c.CPU)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProbe, c.Scan, diagnose.Bytes,
				"%s of it has pointers, which each cycle follows", diagnose.Size(c.Scan)),
		},
	}
	if each := c.CPU * p.Own() * 1e9 / c.Cycles; each > 0 && !math.IsInf(each, 0) {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, each, diagnose.Nanosec,
			"a cycle costs %s of CPU", diagnose.Span(each)))
	}
	if c.assist.reported && c.assist.share > f.Share {
		f.Share, f.ShareOf = c.assist.share, c.assist.of
	}
	f = c.finish(p, f, "Hold the data without pointers (values in slices, indexes instead of pointers, strings in one "+
		"byte slice) or outside the heap; a higher GOGC trades memory for fewer cycles.")
	// The place that holds the memory is the one to change, not the one that
	// allocates.
	f.Where = holder(p)
	return f, true
}

// relief is the gain for requests of not assisting; 1 if assists are not reported.
func (c collecting) relief() float64 {
	if !c.assist.reported {
		return 1
	}
	return c.assist.gain
}

// holder returns the place that allocated most of what the heap holds.
func holder(p *diagnose.Pass) findings.Where {
	held, err := p.Profile("heap", "inuse_space")
	if err != nil {
		return findings.Where{}
	}
	if sites := sitesOf(p, held); len(sites) > 0 {
		return diagnose.WhereOf(sites[0].place)
	}
	return findings.Where{}
}
