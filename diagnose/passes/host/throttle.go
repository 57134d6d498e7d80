package host

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

const (
	// leastThrottled: the group's processes stood still for 5 % of the time.
	leastThrottled = 0.05
	// period of the kernel's CPU bandwidth control, in seconds
	// (cpu.max's default, Documentation/admin-guide/cgroup-v2.rst).
	period = 0.1
	// leastPeriods of all periods in which the quota ran out.
	leastPeriods = 0.10
)

// Throttling finds containers whose CPU quota runs out.
var Throttling = diagnose.Analyzer{
	Name:  "throttling",
	Stage: diagnose.Host,
	Doc: "Reads the cgroup's throttling: named when the quota runs out in 10 % of the 100 ms periods or processes " +
		"stand still 5 % of the time; it says whether that happens in slow windows, with shuffled windows as control.",
	Causes: []diagnose.Cause{{
		ID: "cpu-throttled", Title: "The CPU quota runs out",
		Doc:    "The kernel stops the container's processes until the next period, because they used up its quota.",
		Remedy: "Raise the quota, use less CPU per request, and keep GOMAXPROCS at the quota so that it is not used up in a burst.",
	}},
	Needs: []diagnose.Need{diagnose.NeedProcess},
	Run:   runThrottling,
}

func runThrottling(p *diagnose.Pass) ([]diagnose.Finding, error) {
	stopped, ok := p.Rate(record.CgroupThrottled, "")
	if !ok {
		return nil, nil // no cgroup with a quota: nothing can be throttled
	}
	stopped /= 1e9
	periods, _ := p.Rate(record.CgroupThrottles, "")
	part := math.Min(1, periods*period)
	if stopped < leastThrottled && part < leastPeriods {
		return nil, nil
	}
	c := p.CPU()
	share := math.Min(0.95, math.Max(part*0.5, math.Min(1, stopped)))
	f := diagnose.Finding{
		Cause: "cpu-throttled", Share: share, ShareOf: diagnose.OfCapacity, GainCeiling: diagnose.Ceiling(share), Confidence: record.High,
		Title:    fmt.Sprintf("The CPU quota runs out in %s of all periods", diagnose.Percent(part)),
		Where:    record.Where{Detail: "cgroup cpu.max"},
		Evidence: []record.Evidence{diagnose.Fact(diagnose.FromProcess, stopped, "s/s", "processes stand still %.0f ms of every second, in %s of all periods", 1000*stopped, diagnose.Percent(part))},
		Remedy:   "Raise the container's CPU quota, or use less CPU per request.",
	}
	if c.Quota > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, c.Quota, "CPUs", "the quota is %.2f CPUs, of which %.2f are used on average", c.Quota, c.Target))
	}
	if slow := p.Coincide(record.CgroupThrottled, ""); slow.Slow > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromLoad, slow.Chance, diagnose.Ratio, "in %d slow windows it is %s per window, elsewhere %s; shuffled windows do so with probability %.3f", slow.Slow, diagnose.Span(slow.InSlow), diagnose.Span(slow.Elsewhere), slow.Chance))
	}
	return []diagnose.Finding{f}, nil
}

const (
	// procsUsed of GOMAXPROCS from which the service uses all it may.
	procsUsed = 0.85
	// leastQueuedShare of request time that is runnable.
	leastQueuedShare = 0.15
)

// Procs finds a GOMAXPROCS that does not fit the CPUs.
var Procs = diagnose.Analyzer{
	Name:  "procs",
	Stage: diagnose.Host,
	Doc: "Compares GOMAXPROCS with the quota and the host's CPUs: above the quota while it is throttled, or below the " +
		"usable CPUs while the service uses 85 % of what it may, requests are runnable 15 % of their time and CPUs " +
		"are idle.",
	Causes: []diagnose.Cause{{
		ID: "gomaxprocs-mismatch", Title: "GOMAXPROCS does not fit the CPUs",
		Doc:         "The service may run more threads than its quota carries, or fewer than there are CPUs for.",
		Remedy:      "Go 1.25 and later follow the cgroup; otherwise set GOMAXPROCS to the CPUs the container may use.",
		FollowsFrom: nil,
	}},
	Needs: []diagnose.Need{diagnose.NeedProcess},
	Run:   runProcs,
}

func runProcs(p *diagnose.Pass) ([]diagnose.Finding, error) {
	procs, ok := p.Mean("/sched/gomaxprocs:threads", "")
	if !ok {
		procs = float64(p.Record.Run.Target.GOMAXPROCS)
	}
	if procs <= 0 {
		p.Unjudged("gomaxprocs-mismatch", "GOMAXPROCS of the target is not known")
		return nil, nil
	}
	c := p.CPU()
	f := diagnose.Finding{Cause: "gomaxprocs-mismatch", ShareOf: diagnose.OfCapacity, Where: record.Where{Detail: "GOMAXPROCS"}}
	periods, _ := p.Rate(record.CgroupThrottles, "")
	usable := c.CPUs
	if c.Quota > 0 {
		usable = math.Min(usable, c.Quota)
	}
	switch {
	case c.Quota > 0 && procs > math.Ceil(c.Quota) && periods*period >= leastPeriods:
		f.Share, f.Confidence = math.Min(0.95, periods*period*0.5), record.Medium
		f.Title = fmt.Sprintf("GOMAXPROCS is %.0f but the quota is %.2f CPUs, so the quota is used up in bursts", procs, c.Quota)
		f.Remedy = fmt.Sprintf("Set GOMAXPROCS=%.0f, or build with Go 1.25 or later and leave it unset.", math.Ceil(c.Quota))
		f.GainCeiling = diagnose.Ceiling(f.Share)
	case procs < math.Floor(usable) && c.Target >= procsUsed*procs && c.HostUse() < diagnose.Saturation && queued(p) >= leastQueuedShare:
		f.Share, f.Confidence = 1-procs/usable, record.High
		f.Title = fmt.Sprintf("GOMAXPROCS is %.0f and used up, while the host's %.0f CPUs are %s busy", procs, c.CPUs, diagnose.Percent(c.HostUse()))
		f.Remedy = "Unset GOMAXPROCS (or remove the runtime.GOMAXPROCS call), so that the service uses all CPUs it may."
		f.GainCeiling = math.Min(usable/procs, math.Max(1, 1/c.HostUse()))
	default:
		return nil, nil
	}
	f.Evidence = []record.Evidence{
		diagnose.Fact(diagnose.FromProcess, c.Target, "CPUs", "the service uses %.2f CPUs with GOMAXPROCS %.0f", c.Target, procs),
		diagnose.Fact(diagnose.FromTrace, queued(p), diagnose.Ratio, "requests are runnable %s of their time", diagnose.Percent(queued(p))),
	}
	return []diagnose.Finding{f}, nil
}

// queued is the part of request time spent runnable; 1 when it was not traced,
// so that the CPU figures alone decide.
func queued(p *diagnose.Pass) float64 {
	if !p.Has(diagnose.NeedAnatomy) {
		return 1
	}
	return p.Waits().Share(callstack.Queued)
}
