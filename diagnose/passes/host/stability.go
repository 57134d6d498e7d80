package host

import (
	"fmt"
	"math"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastOthers is the part of the host's CPUs that programs unrelated to the
	// load take. quote-noisy-neighbour measures 0.9; the kernel's own threads and
	// the services of an idle machine stay below 0.05.
	leastOthers = 0.15
	// leastSteal is the part of the host's CPUs that the hypervisor gave to other guests.
	leastSteal = 0.03
	// leastStep is the disagreement of clocks, in ns, that shows that one was set:
	// otherwise a trace's snapshots agree within 15 ns.
	leastStep = 50e6
)

// Stability finds runs on a host that was not quiet.
//
// It limits no service, so it is a note that lowers the confidence of findings that
// rest on times. The CPU of other programs is a remainder: the host's busy time less the
// known use of the run, peers included. If the target calls other services, that remainder may
// be that of services which were not seen, and nothing is reported.
var Stability = diagnose.Analyzer{
	Name:  "stability",
	Stage: diagnose.Validity,
	Doc: "Subtracts from the host's CPU the use of the service, its children, the generator, the database and other programs on " +
		"this host that the service calls: reported if the remaining programs take at least 15 % of the CPUs, the hypervisor " +
		"takes 3 % (steal), or the clocks of a trace and of the run differ by 50 ms.",
	Causes: []diagnose.Cause{{
		ID: "unstable-host", Title: "The host was not quiet",
		Doc: "Other programs, or other virtual machines on the same hardware, took CPU during the run, or a clock was set. " +
			"Another run may give different figures.",
		Knows: "The host's CPU minus that of the target's processes, of redline, and of the database and the programs at the " +
			"other ends of its connections, if they are on this host; steal time as the kernel counts it; and the snapshots of both " +
			"clocks within execution traces. If the target calls services that were not seen, the rest of the CPU may be theirs and " +
			"does not count. It is a warning, not a finding: findings that rest on times or on spare CPU then have medium " +
			"confidence at most.",
		Remedy: "Measure on a quieter host, and compare by interleaved runs (redline ab), in which noise affects both sides " +
			"alike.",
		Qualifies: true,
		Note:      true,
		Example: diagnose.Example{
			Lang:   "sh",
			Before: "redline run before.yaml; redline run after.yaml",
			After:  "redline ab --a ./before --b ./after scenario.yaml",
		},
		Verify: "redline run again: host.cpu.busy is the sum of what the run itself uses, and host.cpu.steal stays at 0.",
		Cases:  []string{"quote-noisy-neighbour"},
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	Run:   runStability,
}

// runStability looks for three disturbances that do not show in a run's own
// figures: other programs, other guests, and a clock that was set.
func runStability(p *diagnose.Pass) ([]diagnose.Finding, error) {
	c := p.CPU()
	others := othersCPU(c)
	if others >= leastOthers && callsOut(p) {
		p.Reject("unstable-host", "programs other than the service, redline, the database and the peers that were seen took "+
			"%s of the host's CPUs; they may be servers that it calls", diagnose.Percent(others))
		others = 0
	}
	steal := math.NaN()
	if rate, ok := p.Rate(series.HostSteal, ""); ok && c.CPUs > 0 {
		steal = rate / 1e9 / c.CPUs
	}
	if math.IsNaN(others) && math.IsNaN(steal) {
		p.Unjudged("unstable-host", "the CPU use of the host and of the target is not known: that needs a target on this host")
	}
	f := diagnose.Finding{Cause: "unstable-host", ShareOf: diagnose.OfCapacity, GainCeiling: 1, Confidence: findings.Low,
		Where:  findings.Where{Detail: "the host"},
		Remedy: "Measure on a quieter host, or compare by interleaved runs (redline ab)."}
	var why []string
	if others >= leastOthers {
		why = append(why, fmt.Sprintf("other programs took %s of its CPUs", diagnose.Percent(others)))
		f.Share = others
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, others*c.CPUs, "CPUs",
			"%s of %s CPUs were busy, %s of them with programs other than the service (%s), redline (%s), the database and "+
				"other programs that the service calls (%s)",
			diagnose.Times(c.Busy), diagnose.Number(c.CPUs), diagnose.Times(others*c.CPUs),
			diagnose.Times(c.Target+c.Children), diagnose.Times(zero(c.Generator)), diagnose.Times(zero(c.Database)+c.Peers)))
	}
	if steal >= leastSteal {
		why = append(why, fmt.Sprintf("the hypervisor gave %s of its CPU time to other guests", diagnose.Percent(steal)))
		f.Share = math.Max(f.Share, steal)
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, steal, diagnose.Ratio,
			"%s of CPU time was stolen", diagnose.Percent(steal)))
	}
	if p.Anatomy != nil {
		if step := math.Abs(float64(p.Anatomy.Align.P99)); step >= leastStep {
			why = append(why, "a clock was set by "+diagnose.Span(step))
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, step, diagnose.Nanosec,
				"the traces' clock and the run's differ by %s", diagnose.Span(step)))
		}
	}
	if len(why) == 0 {
		return nil, nil
	}
	f.Share = math.Min(1, f.Share)
	f.Title = "The host was not quiet: " + strings.Join(why, "; ")
	return []diagnose.Finding{f}, nil
}

// othersCPU returns the part of the host's CPUs that nothing of the run used, 0 to
// 1; NaN where the host's or the target's figures are missing.
func othersCPU(c evidence.CPU) float64 {
	return math.Max(0, c.Busy-c.Target-c.Children-zero(c.Generator)-zero(c.Database)-c.Peers) / c.CPUs
}

// leastSeen is the part of the windows in which all ends on this host must be seen for the CPU of the programs that the service calls
// to be known: the first windows pass until a program is found.
const leastSeen = 0.9

// callsOut reports whether requests wait for services that they call, or for a database
// whose CPU was not read (MySQL on the same host): it looks like that of unrelated programs. Where the other end of each connection
// was seen, only what is called by other means than TCP remains.
func callsOut(p *diagnose.Pass) bool {
	asked := []callstack.Wait{callstack.NetworkWait}
	if !endsSeen(p) {
		asked = append(asked, callstack.HTTPWait, callstack.HTTPOpen, callstack.RPCWait)
		if math.IsNaN(p.CPU().Database) {
			asked = append(asked, callstack.DatabaseWait, callstack.PrepareWait, callstack.ConnectWait)
		}
	}
	return p.Waits().NS(asked...) > 0
}

// endsSeen reports whether the program at the other end of each connection on this host was seen, and there is one.
func endsSeen(p *diagnose.Pass) bool {
	windows, seen := 0, 0
	for _, unseen := range p.Series(series.PeersUnseen, "").Values {
		if unseen >= 0 {
			windows++
		}
		if unseen == 0 {
			seen++
		}
	}
	return len(p.Peers()) > 0 && windows > 0 && float64(seen) >= leastSeen*float64(windows)
}

// zero replaces NaN, which marks what is not on this host, by 0.
func zero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
