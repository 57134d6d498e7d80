package host

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record/findings"
)

const (
	// leastQueuedShare is the least part of request time spent runnable:
	// barcode-one-proc has 94 %; thumbnail-procs-env, whose handlers only wait for
	// their goroutines, 52 %.
	leastQueuedShare = 0.15
	// leastProcs is the GOMAXPROCS that Go 1.25 and later choose for smaller quotas
	// (runtime/cgroup_linux.go); a lower value must be set explicitly.
	leastProcs = 2
)

// Procs finds a GOMAXPROCS that does not fit the CPUs.
//
// A mismatch alone is not a finding, because it may be intended or harmless: too few Ps
// must make requests queue while the load leaves CPUs, too many must exhaust the quota in
// bursts. Go before 1.25 takes the host's CPUs whatever the container's quota (Go
// 1.25 release notes, container-aware GOMAXPROCS).
var Procs = diagnose.Analyzer{
	Name:  "procs",
	Stage: diagnose.Host,
	Doc: "Compares GOMAXPROCS with the quota and the host's CPUs: above the quota (and above 2, Go's own minimum) while the " +
		"quota runs out in bursts, or below the usable CPUs while the service uses 85 % of GOMAXPROCS, requests are runnable " +
		"for 15 % of their time and the load leaves CPUs idle.",
	Causes: []diagnose.Cause{{
		ID: "gomaxprocs-mismatch", Title: "GOMAXPROCS does not fit the CPUs",
		Doc: "The service runs more threads than its quota allows, or fewer than there are CPUs. With too few, requests " +
			"queue while CPUs are idle; with too many, a burst exhausts the quota and all threads are stopped until the next " +
			"period.",
		Knows: "The runtime reports GOMAXPROCS. Too low: it is below the CPUs (or the quota), the service uses 85 % of it, " +
			"goroutines of requests are runnable for 15 % of their time, and the load leaves some of the host's CPUs idle, which " +
			"limit the gain; if other programs take those, confidence is medium. " +
			"Too high: it is above the quota and above Go's own choice, the quota runs out in 10 % of its periods although " +
			"it would suffice on average, and windows with a stop are 1.3 times slower. A quota that is exhausted on average " +
			"is cpu-throttled, whatever GOMAXPROCS is. Requests that queue on CPUs that are all busy are cpu-saturated.",
		Remedy: "Go 1.25 and later follow the cgroup; otherwise set GOMAXPROCS to the CPUs the container may use.",
		Example: diagnose.Example{
			Lang:   "yaml",
			Before: "env: [{name: GOMAXPROCS, value: \"1\"}]   # left over from a single-CPU machine",
			After:  "env: []   # Go 1.25 and later read the quota themselves",
		},
		Verify: "redline run again: /sched/gomaxprocs:threads is the number of CPUs that may be used, and " +
			"requests are runnable for less of their time.",
		Cases: []string{"barcode-one-proc", "thumbnail-procs-env"},
	}},
	Needs: []diagnose.Need{diagnose.NeedProcess},
	Run:   runProcs,
}

// runProcs has two opposite cases. Too many: the same comparison of windows as for
// throttling, because a burst of threads exhausts the quota. Too few: the gain is
// the smaller of the missing Ps and the CPUs that the load leaves.
func runProcs(p *diagnose.Pass) ([]diagnose.Finding, error) {
	procs, ok := p.Mean("/sched/gomaxprocs:threads", "")
	if !ok {
		procs = float64(p.Record.Run.Target.GOMAXPROCS)
	}
	c := p.CPU()
	if !(procs > 0) || !(c.CPUs > 0) {
		p.Unjudged("gomaxprocs-mismatch", "GOMAXPROCS of the target or the host's CPUs are not known")
		return nil, nil
	}
	f := diagnose.Finding{Cause: "gomaxprocs-mismatch", ShareOf: diagnose.OfCapacity, Where: findings.Where{Detail: "GOMAXPROCS"}}
	s := p.Stops()
	usable := c.CPUs
	if c.Quota > 0 {
		usable = math.Min(usable, c.Quota)
	}
	switch {
	case c.Quota > 0 && procs > math.Max(leastProcs, math.Ceil(c.Quota)) && s.Periods >= leastPeriods:
		if !(s.InStops >= leastSlower*s.Elsewhere) || c.Room() > 1 {
			p.Reject("gomaxprocs-mismatch", "GOMAXPROCS is %s with a quota of %s CPUs, but the quota is exhausted on "+
				"average, or nothing is slower when it runs out", diagnose.Number(procs), diagnose.Times(c.Quota))
			return nil, nil
		}
		f.Share, f.ShareOf, f.GainCeiling, f.Confidence = 1-s.Elsewhere/s.InStops, diagnose.OfTail, s.Gain, findings.High
		f.Title = fmt.Sprintf("Bursts exhaust the CPU quota: GOMAXPROCS is %s, the quota %s CPUs",
			diagnose.Number(procs), diagnose.Times(c.Quota))
		f.Remedy = fmt.Sprintf("Set GOMAXPROCS=%s, or build with Go 1.25 or later and leave it unset.", diagnose.Number(math.Ceil(c.Quota)))
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromLoad, s.InStops, diagnose.Nanosec,
			"the quota runs out in %s of its periods; p99 is %s in windows in which it does, and %s in the rest",
			diagnose.Percent(s.Periods), diagnose.Span(s.InStops), diagnose.Span(s.Elsewhere)))
	case procs < math.Floor(usable) && c.RoomAlone() > 1 && c.Used()/c.CPUs < evidence.Saturation && queued(p) >= leastQueuedShare:
		f.Share, f.Confidence = 1-procs/usable, findings.High
		f.GainCeiling = math.Min(usable/procs, c.Room())
		f.Title = fmt.Sprintf("GOMAXPROCS=%s limits the service, while the host's %s %s busy", diagnose.Number(procs),
			diagnose.Counted(c.CPUs, "CPU is", "CPUs are"), diagnose.Percent(c.HostUse()))
		if others := c.Busy - c.Used(); c.HostUse() >= evidence.Saturation {
			// A second thread would get its part of the CPU that other programs take; how much is not known.
			f.Confidence, f.GainCeiling = findings.Medium, math.Min(usable/procs, c.RoomAlone())
			f.Title = fmt.Sprintf("GOMAXPROCS=%s limits the service, while the load uses %s of the host's %s", diagnose.Number(procs),
				diagnose.Percent(c.Used()/c.CPUs), diagnose.Counted(c.CPUs, "CPU", "CPUs"))
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, others, "CPUs",
				"other programs use %s CPUs; the gain assumes that they stop using them", diagnose.Times(others)))
		}
		f.Remedy = "Unset GOMAXPROCS (or remove the runtime.GOMAXPROCS call), so that the service uses all available CPUs; where " +
			"there is neither, a CPU set (taskset, cpuset) holds it to fewer."
	default:
		return nil, nil
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, c.Target, "CPUs",
		"the service uses %s CPUs with GOMAXPROCS %s", diagnose.Times(c.Target), diagnose.Number(procs)))
	if p.Has(diagnose.NeedAnatomy) {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, queued(p), diagnose.Ratio,
			"requests are runnable for %s of their time", diagnose.Percent(queued(p))))
	}
	return []diagnose.Finding{f}, nil
}

// queued is the part of request time spent runnable, 0 to 1; 1 without a trace, so
// that the CPU figures alone decide.
func queued(p *diagnose.Pass) float64 {
	if !p.Has(diagnose.NeedAnatomy) {
		return 1
	}
	return p.Waits().Share(callstack.Queued)
}
