package cpu

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/findings"
)

// leastTargetCPU is the part of its CPUs that the service must use. Below it other
// programs (the database, the generator) keep them busy, and more CPUs would not
// benefit the service.
const leastTargetCPU = 0.85

// mostlyQueued is the part of request time queued for a CPU at which nothing else can
// take more of it.
const mostlyQueued = 0.5

// Saturated finds services that use all CPUs with no single cause.
//
// It runs last, and only if no analyzer found what limits the service: a healthy
// service under a closed loop ends here, because its throughput rises until
// something is full (Denning and Buzen 1978: the utilisation law). So it promises
// no gain and always has low confidence.
var Saturated = diagnose.Analyzer{
	Name:  "saturated",
	Stage: diagnose.CPUUse,
	Doc: "Reported only if the service itself uses at least 85 % of the CPUs it may use (or of those that a generator on the " +
		"same host leaves, while requests wait for a CPU most of their time) and nothing else explains the time. Confidence " +
		"is always low, because a healthy service under a closed loop ends up here.",
	Causes: []diagnose.Cause{{
		ID: "cpu-saturated", Title: "The CPUs are saturated, and no single cost dominates",
		Doc: "The service keeps its CPUs busy, and the cost of a request is spread over many functions.",
		Knows: "The service itself uses at least 85 % of the CPUs it may use, the host's CPUs are fully used, and redline " +
			"found no cause in the host, the database, waits, memory or CPU use. If the generator shares the host, its CPU is " +
			"left out: the service must then use at least 85 % of the rest, and its requests must wait for a CPU for half of " +
			"their time. This is not a defect: a healthy service under a closed loop ends up here, so confidence is always low. " +
			"The evidence lists what a request costs, largest first.",
		Remedy: "Use more CPUs, or do less work per request; the evidence lists the cost per request.",
		Example: diagnose.Example{Lang: "sh",
			Before: "redline run crew.yaml          # 1.7 of 2 CPUs, 110 µs of CPU per request",
			After:  "redline run crew.yaml --rate 12000/s   # raise the rate until latency climbs: that rate is the capacity"},
		Verify: "redline run at half of the rate (open loop): latency is flat, so only CPUs were missing.",
		Cases:  []string{"crew-roster", "short-links"},
		FollowsFrom: []string{"cpu-json", "cpu-logging", "cpu-regexp-compile", "cpu-regexp-match", "cpu-format", "cpu-crypto",
			"cpu-compress", "cpu-tls", "cpu-sort", "cpu-reflect", "cpu-clock", "cpu-router", "cpu-map",
			"cpu-copy", "cpu-syscall", "atomic-contention",
			"cpu-hot-function", "alloc-hot", "gc-cpu", "gc-assist", "goroutine-churn"},
		Qualifies: true,
	}},
	Needs: []diagnose.Need{diagnose.NeedProcess, diagnose.NeedLoad},
	Last:  true,
	Run:   runSaturated,
}

// runSaturated requires that the service itself uses the CPUs that it may use: a
// host filled by other programs says nothing about the service.
func runSaturated(p *diagnose.Pass) ([]diagnose.Finding, error) {
	c := p.CPU()
	part, generator := c.Target/c.Limit, ""
	switch {
	case p.FoundIn(diagnose.Host, diagnose.Database, diagnose.Wait, diagnose.Memory, diagnose.CPUUse):
		return nil, nil // one cost leads: SQLite's statements, for example, take the service's own CPU
	case part >= leastTargetCPU && c.Saturated():
	case queuesForItself(p):
		generator = fmt.Sprintf(" next to the generator's %s", diagnose.Times(c.Generator))
	default:
		return nil, nil
	}
	// The utilisation law, U = X·S: CPUs in use, divided by requests per second, is
	// the CPU time per request, here in ns.
	each := c.Target * 1e9 / p.Load().Rate
	f := diagnose.Finding{
		Cause: "cpu-saturated", Share: min(1, part), ShareOf: diagnose.OfCapacity, GainCeiling: 1, Confidence: findings.Low,
		Title: fmt.Sprintf("The service keeps its CPUs busy (%s of %s%s) at %s of CPU per request, and no single cost "+
			"dominates", diagnose.Times(c.Target), diagnose.Times(c.Limit), generator, diagnose.Span(each)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProcess, c.Target, "CPUs", "the service uses %s of the %s CPUs it may use", diagnose.Times(c.Target), diagnose.Times(c.Limit)),
			diagnose.Fact(diagnose.FromProcess, each, diagnose.Nanosec, "a request costs %s of CPU", diagnose.Span(each)),
		},
		Remedy: "Give the service more CPUs, or do less per request: the evidence lists the largest costs.",
	}
	if queued := p.Waits().Share(callstack.Queued); queued >= mostlyQueued {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, queued, diagnose.Ratio,
			"requests are ready to run but wait for a CPU for %s of their time", diagnose.Percent(queued)))
	}
	if use, err := p.Use(); err == nil {
		f.Evidence = append(f.Evidence, costs(use, each)...)
	}
	return []diagnose.Finding{f}, nil
}

// queuesForItself reports whether requests wait for CPUs that their own service keeps
// busy. The generator is the service's client, not a rival, so its CPUs are left out.
// A client and a server that share a host hand requests over and leave CPUs idle for
// moments, so utilisation alone does not show saturation: the requests' queueing does
// (crew-roster).
func queuesForItself(p *diagnose.Pass) bool {
	c := p.CPU()
	return !p.Load().Open && p.Waits().Share(callstack.Queued) >= mostlyQueued &&
		c.Generator > 0 && c.Limit >= c.CPUs && c.Target >= leastTargetCPU*(c.Busy-c.Generator)
}

// costs lists the largest domains of a request's CPU, as evidence. each is the CPU
// time of a request in ns. Shares below 2 % are within the noise of a short profile
// and left out.
func costs(use *usage.Table, each float64) []findings.Evidence {
	table := []struct {
		name  string
		roles callstack.Role
	}{
		{"the database client", callstack.DBClient}, {"JSON", callstack.JSON}, {"logging", callstack.Logging | callstack.FileWrite},
		{"formatting", callstack.Format}, {"hashing and encrypting", callstack.Crypto}, {"TLS", callstack.TLS | callstack.Handshake},
		{"compression", callstack.Compress}, {"sorting", callstack.Sort}, {"reflection", callstack.Reflect},
		{"routing", callstack.Router}, {"HTTP and other clients", callstack.HTTPClient | callstack.RPCClient},
		{"garbage collection", callstack.GCWork | callstack.GCAssist}, {"the scheduler", callstack.Schedule},
	}
	var facts []findings.Evidence
	for _, row := range table {
		if share := use.Share(row.roles); share >= 0.02 {
			facts = append(facts, diagnose.Fact(diagnose.FromProfile, share*each, diagnose.Nanosec,
				"%s: %s per request (%s)", row.name, diagnose.Span(share*each), diagnose.Percent(share)))
		}
	}
	for _, h := range use.Own() {
		if len(facts) < 12 && h.Share >= 0.02 {
			facts = append(facts, diagnose.Fact(diagnose.FromProfile, h.Share*each, diagnose.Nanosec, "%s: %s per request (%s)",
				strings.TrimSpace(callstack.Short(h.Place.Function)), diagnose.Span(h.Share*each), diagnose.Percent(h.Share)))
		}
	}
	return facts
}
