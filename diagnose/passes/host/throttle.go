package host

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastThrottled is the part of time for which the group's CPUs were stopped.
	leastThrottled = 0.05
	// leastPeriods is the part of all periods in which the quota ran out.
	// invoice-quota runs out in all of them, parcel-burst-quota in 41 %,
	// booking-roomy-quota in none.
	leastPeriods = 0.10
	// leastSlower: if a quota is not exhausted on average, stops come in bursts, and
	// windows with a stop must be this many times slower.
	leastSlower = 1.3
)

// Throttling finds containers whose CPU quota runs out.
//
// The kernel grants a group its quota in each period (cpu.max, 100 ms by default)
// and stops all its threads for the rest once it is spent
// (Documentation/scheduler/sched-bwc.rst). That happens to two different kinds of
// service: one whose work exceeds the quota, where the limit is the cause and the
// host's free CPUs are the gain; and one whose threads spend a period's quota in
// parallel within a few ms, where only the stops are the cause. Counters alone do
// not show harm, so the second kind must show it in latency.
var Throttling = diagnose.Analyzer{
	Name:  "throttling",
	Stage: diagnose.Host,
	Doc: "Reads the cgroup's throttling: considered if the quota runs out in 10 % of its periods or CPUs are stopped for 5 % of " +
		"the time. If the quota is exhausted on average (85 %), it is the limit, worth the host's idle CPUs; otherwise windows " +
		"with a stop must be 1.3 times slower than the rest.",
	Causes: []diagnose.Cause{{
		ID: "cpu-throttled", Title: "The CPU quota runs out",
		Doc: "The kernel stops the container's processes until the next period of 100 ms, because they exhausted its quota. " +
			"Half of the requests may be fast while the slow ones wait for most of a period, although the host has CPUs to " +
			"spare.",
		Knows: "The cgroup's own counters: in how many of its periods the quota ran out (nr_throttled of nr_periods) and for " +
			"how long its CPUs were stopped. A service that uses at least 85 % of the quota on average would use more: the " +
			"host's idle CPUs limit the gain. One that uses less is stopped in bursts: windows with a stop are compared with " +
			"those without, and the cause is reported only if they are 1.3 times slower. Causes of CPU use (cpu-*) are reported " +
			"after it, because a larger quota is the smaller change; GOMAXPROCS above the quota is the root cause of bursts " +
			"(gomaxprocs-mismatch).",
		Remedy: "Raise the quota, use less CPU per request, and keep GOMAXPROCS at the quota so that a burst does not exhaust it.",
		Example: diagnose.Example{
			Lang:   "yaml",
			Before: "resources:\n  limits: {cpu: 400m}",
			After:  "resources:\n  requests: {cpu: 400m}\n  limits: {cpu: \"2\"}   # or no limit at all",
		},
		Verify:      "redline run again: cgroup.cpu.nr_throttled stays at 0, and the p99 falls below 100 ms.",
		Cases:       []string{"invoice-quota", "parcel-burst-quota", "stock-quota-scan", "booking-roomy-quota"},
		FollowsFrom: []string{"gomaxprocs-mismatch"},
	}},
	Needs: []diagnose.Need{diagnose.NeedProcess},
	Run:   runThrottling,
}

// runThrottling distinguishes the two by utilisation: at 85 % of the quota on
// average the quota is the limit, with the host's free CPUs as the gain; below,
// windows with a stop must be slower than the rest. If nearly all windows have a
// stop there is nothing to compare, and half of the throttled periods is taken as
// the share.
func runThrottling(p *diagnose.Pass) ([]diagnose.Finding, error) {
	s, c := p.Stops(), p.CPU()
	if !s.Known {
		p.Unjudged("cpu-throttled", "no cgroup of the target was found, or none with CPU accounting")
		return nil, nil
	}
	if s.Stopped < leastThrottled && s.Periods < leastPeriods {
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "cpu-throttled", ShareOf: diagnose.OfCapacity, Confidence: findings.High,
		Title: fmt.Sprintf("The CPU quota runs out in %s of all periods", diagnose.Percent(s.Periods)),
		Where: findings.Where{Detail: "cgroup cpu.max"},
		Evidence: []findings.Evidence{diagnose.Fact(diagnose.FromProcess, s.Stopped, "s/s",
			"throttling stops CPUs for %s per second, summed over all CPUs, in %s of all periods",
			diagnose.Span(1e9*s.Stopped), diagnose.Percent(s.Periods))},
		Remedy: "Raise the container's CPU quota, or use less CPU per request.",
	}
	switch room := c.Room(); {
	case room > 1 && c.Limit == c.Quota:
		f.GainCeiling, f.Share = room, 1-1/room
	case s.InStops >= leastSlower*s.Elsewhere:
		f.GainCeiling, f.Share, f.ShareOf = s.Gain, 1-s.Elsewhere/s.InStops, diagnose.OfTail
	case s.InStops > 0:
		p.Reject("cpu-throttled", "the quota runs out in %s of all periods, but those are not slower (p99 %s, otherwise %s)",
			diagnose.Percent(s.Periods), diagnose.Span(s.InStops), diagnose.Span(s.Elsewhere))
		return nil, nil
	default: // in nearly all windows, so that there is nothing to compare with
		f.Share = math.Min(0.95, 0.5*s.Periods)
		if c.CPUs > 0 {
			f.Share = math.Min(0.95, math.Max(f.Share, s.Stopped/c.CPUs))
		}
		f.GainCeiling = diagnose.Ceiling(f.Share)
		if !(c.Busy < evidence.Saturation*c.CPUs) {
			f.GainCeiling, f.Confidence = diagnose.MinGain, findings.Medium // no CPU is free for a larger one
		}
	}
	if c.Quota > 0 && c.Target >= 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, c.Quota, "CPUs",
			"the quota is %s CPUs; %s are used on average", diagnose.Times(c.Quota), diagnose.Times(c.Target)))
	}
	if use := c.HostUse(); use >= 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, use, diagnose.Ratio,
			"the host's %s CPUs are %s busy", diagnose.Number(c.CPUs), diagnose.Percent(math.Min(1, use))))
	}
	if s.InStops > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromLoad, s.InStops, diagnose.Nanosec,
			"p99 is %s in windows in which it ran out, and %s in the rest", diagnose.Span(s.InStops), diagnose.Span(s.Elsewhere)))
	}
	if slow := p.Coincide(series.CgroupThrottled, ""); slow.Slow > 0 && slow.Chance < 1 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromLoad, slow.Chance, diagnose.Ratio,
			"in %s CPUs are stopped for %s, otherwise for %s; shuffled windows differ as much with probability %s",
			diagnose.Counted(float64(slow.Slow), "slow window", "slow windows"),
			diagnose.Span(slow.InSlow), diagnose.Span(slow.Elsewhere), diagnose.Times(slow.Chance)))
	}
	return []diagnose.Finding{f}, nil
}
