package host

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	// littleSlack: by Little's law the rate times the mean latency is the number of
	// requests in flight; in a closed loop that is the connections. Less than 70 %
	// of them means that connections spend the rest idle between requests.
	littleSlack = 0.70
	// generatorPart is the generator's part of all CPU in use on a saturated host
	// at which the run measures the generator.
	generatorPart = 0.60
	// leastLagNS and lagPart: the generator sends late if the p99 of its lag
	// exceeds both, 10 ms and half of the median latency.
	leastLagNS = 10e6
	lagPart    = 0.5
	// idle utilisation: a closed loop that leaves more than half of the CPUs idle,
	// without any wait worth naming, is limited by its connections.
	idle = 0.5
	// outside is the part of latency spent outside the service at which connections
	// wait for the network path and not for the service.
	outside = 0.5
)

// Generator finds runs that measured the generator.
//
// The generator judges itself by every request, and that verdict is final. Windows
// are only an approximation: judging by them again declared valid runs invalid when
// the target stalled now and then. So they count only if the run was killed before
// its verdict.
var Generator = diagnose.Analyzer{
	Name:  "generator",
	Stage: diagnose.Validity,
	Doc: "Reads the generator's own verdict. If the run was killed before that, checks Little's law in a closed loop (rate " +
		"times latency must be 70 % of the connections) and its lag in an open loop (p99 of 10 ms and half of the median " +
		"latency while connections are free). Always: its part of CPU (60 % of what is used on a saturated host).",
	Causes: []diagnose.Cause{{
		ID: "generator-saturated", Title: "The load generator is the limit",
		Doc: "The generator could not send requests or read responses on time, so the figures describe the generator " +
			"and not the service. No other finding of the run holds.",
		Knows: "The generator checks itself with every request: an event loop that is on CPU 95 % of the time, requests sent " +
			"late although a connection was free, Little's law violated in a closed loop, its own ports or descriptors " +
			"exhausted (docs/load.md has the thresholds). A run that was killed before that verdict is judged by its windows. On " +
			"a saturated host, a generator that takes at least 60 % of the CPU in use is the limit as well. If all connections " +
			"are busy, the lag is due to a slow service, not to the generator.",
		Remedy: "Use fewer checks, more generators or more CPUs for them, or a lower rate.",
		Example: diagnose.Example{
			Lang:   "yaml",
			Before: "checks: [{body: {matches: \"total: [0-9]+.*end\"}}]   # of 250 KB, in every response",
			After:  "checks: [{status: 200}]",
		},
		Verify: "redline run again: the report no longer begins with INVALID, and the exit code is not 3.",
		Cases:  []string{"manual-heavy-checks"},
		Voids:  true,
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	Run:   runGenerator,
}

// runGenerator collects every reason that holds, so that the report gives all of
// them at once. One is dropped: requests to which the target never responded are the
// service's fault.
func runGenerator(p *diagnose.Pass) ([]diagnose.Finding, error) {
	var why []string
	var facts []findings.Evidence
	load, c := p.Load(), p.CPU()
	var summary record.Summary
	// Without a summary there was no verdict: the run was killed before it. A killed
	// run that was assessed later has a summary without a verdict.
	judged := p.Record.ReadJSON(record.SummaryFile, &summary) == nil && summary.Generator.Verdict() != record.ValidityUnknown
	if judged && summary.Generator.Verdict() == record.ValidityInvalid {
		for _, reason := range summary.Generator.WhyInvalid {
			if reason == summary.Generator.Unanswered {
				continue // the service's fault
			}
			why = append(why, reason)
			facts = append(facts, diagnose.Fact(diagnose.FromLoad, float64(summary.Generator.CPU),
				diagnose.Nanosec, "the generator's own verdict: %s", reason))
		}
	}
	// The rest reads windows instead of every request, for runs without a verdict.
	if !judged && !load.Open && load.Connections > 0 && load.Service > 0 {
		flying := load.Rate * load.Service / 1e9
		thinking := load.Rate * load.Think / 1e9 // meant to be idle
		if flying+thinking < littleSlack*float64(load.Connections) && load.Errors < 0.5*load.Requests {
			why = append(why, "connections are idle between requests")
			facts = append(facts, diagnose.Fact(diagnose.FromLoad, flying, diagnose.Count,
				"%s/s times %s is %s requests in flight, on %d connections", diagnose.Rate(load.Rate),
				diagnose.Span(load.Service), diagnose.Times(flying), load.Connections))
		}
	}
	if lag, ok := p.Mean(series.LoadLag, series.Labels("q", "p99")); ok && !judged && load.Open &&
		lag >= leastLagNS && lag >= lagPart*load.P50 && !allBusy(p) {
		why = append(why, "requests are sent late although connections are free")
		facts = append(facts, diagnose.Fact(diagnose.FromLoad, lag, diagnose.Nanosec, "the lag's p99 is %s", diagnose.Span(lag)))
	}
	// A service that uses up a limit of its own leaves the host's CPUs to the generator.
	if part := c.Generator / c.Busy; c.Saturated() && c.HostUse() >= evidence.Saturation && part >= generatorPart {
		why = append(why, "it takes CPU from the service")
		facts = append(facts, diagnose.Fact(diagnose.FromLoad, part, diagnose.Ratio,
			"the generator uses %s of the CPU in use", diagnose.Percent(part)))
	}
	if len(why) == 0 {
		return nil, nil
	}
	return []diagnose.Finding{{
		Cause: "generator-saturated", Share: 1, ShareOf: diagnose.OfCapacity, GainCeiling: 1, Confidence: findings.High,
		Title:    "The load generator is the limit: " + strings.Join(why, "; "),
		Evidence: facts,
		Remedy: "Lower the rate or the checks per request, or generate the load from more CPUs or another " +
			"machine; judge the service from a valid run.",
	}}, nil
}

// allBusy reports whether all connections of an open loop were in use: then
// requests are late because the service is slow, not the generator.
func allBusy(p *diagnose.Pass) bool {
	queued, ok := p.Mean(series.LoadQueued, "")
	if !ok || queued < 1 {
		return false
	}
	flying, _ := p.Mean(series.LoadInFlight, "")
	return flying >= 0.9*float64(max(1, p.Load().Connections))
}

// Connections finds closed loops with too few connections to load the service.
//
// In a closed loop of N clients with think time Z and response time R, throughput
// is at most N/(R+Z) (Denning and Buzen 1978, interactive response time law). It
// runs last: any wait that matters is a better explanation than too little load.
var Connections = diagnose.Analyzer{
	Name:  "connections",
	Stage: diagnose.Validity,
	Doc: "Reported in a closed loop that leaves half of the CPUs idle if no other cause was found: connections divided by " +
		"latency is then the ceiling.",
	Causes: []diagnose.Cause{{
		ID: "generator-limited", Title: "The number of connections is the limit",
		Doc: "Each connection waits for its response while the service is idle: it could serve more requests at a time. The " +
			"rate is the number of connections divided by the latency, whatever the service could do.",
		Knows: "A closed loop leaves more than half of the host's CPUs idle, and more than half of those the service may use, and " +
			"redline found no cause that limits the service. If waits in the service matter, they are reported instead; an " +
			"incomplete run without a trace is not judged. Without a trace of requests it claims no gain, because nothing shows whether " +
			"more of them would be served at a time. It concerns the scenario, so it ranks last; confidence is low, " +
			"because a service that is slow on purpose looks the same.",
		Remedy: "Use more connections, or an open loop at the desired rate.",
		Example: diagnose.Example{
			Lang:   "yaml",
			Before: "load: {connections: 3, think: 8ms}",
			After:  "load: {rate: 2000/s}",
		},
		Verify:    "redline run again with more connections: the rate rises, until another cause appears.",
		Cases:     []string{"roster-few-callers"},
		Qualifies: true,
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad, diagnose.NeedProcess},
	Last:  true,
	Run:   runConnections,
}

// runConnections bounds the gain by the idle part of the host. N connections at a
// response time R allow N/(R+think) requests per second, whatever the service could
// do.
func runConnections(p *diagnose.Pass) ([]diagnose.Finding, error) {
	load, c := p.Load(), p.CPU()
	if load.Open || load.Connections == 0 || load.Service == 0 || !(c.HostUse() < idle) || !(c.Target/c.Limit < idle) {
		return nil, nil
	}
	if load.Errors > 0.5*load.Requests || p.FoundIn(diagnose.Validity, diagnose.Host, diagnose.Database, diagnose.Wait) {
		return nil, nil
	}
	// Until the first trace has come, a run that goes on has not looked for the waits that are the better explanation.
	if p.Record.Run.State == record.Aborted && !(p.Waits().MeanNS() > 0) {
		p.Unjudged("generator-limited", "the run was not complete, and no trace shows yet what its requests wait for")
		return nil, nil
	}
	ceiling := float64(load.Connections) / ((load.Service + load.Think) / 1e9)
	connections := diagnose.Counted(float64(load.Connections), "connection", "connections")
	if load.Connections > load.Sockets {
		connections = diagnose.Counted(float64(load.Connections), "stream", "streams")
	}
	f := diagnose.Finding{
		Cause: "generator-limited", Share: 1 - c.HostUse(), ShareOf: diagnose.OfCapacity,
		GainCeiling: 1 / max(c.HostUse(), 1.0/50), Confidence: findings.Low,
		Title: fmt.Sprintf("%s at %s per request allow only %s requests/s, while the service is idle",
			connections, diagnose.Span(load.Service), diagnose.Rate(ceiling)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromLoad, ceiling, diagnose.Hertz, "%s, each busy for %s per request, make at most %s/s; "+
				"%s/s were measured", connections, diagnose.Span(load.Service), diagnose.Rate(ceiling), diagnose.Rate(load.Rate)),
			diagnose.Fact(diagnose.FromProcess, c.HostUse(), diagnose.Ratio, "the host's CPUs are %s busy", diagnose.Percent(c.HostUse())),
		},
		Remedy: "Load with more connections (-c), or at a rate (--rate), to find what limits the service.",
	}
	switch mean := p.Waits().MeanNS(); {
	case mean > 0 && mean < (1-outside)*load.Service:
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, mean, diagnose.Nanosec,
			"the service itself takes %s of the %s", diagnose.Span(mean), diagnose.Span(load.Service)))
	case !(mean > 0) && load.Service > load.Think:
		// Whether more connections would be served at the same time depends on what the requests wait for, which nothing shows.
		f.GainCeiling = 1
		f.Title = fmt.Sprintf("Requests take %s while the service is idle, and nothing shows what they wait for",
			diagnose.Span(load.Service))
		f.Remedy = "Load with more connections (-c): if the rate rises with them, there were too few; if only the latency does, the " +
			"service is the limit. Execution traces (--build, or --pprof) show what requests wait for."
	}
	return []diagnose.Finding{f}, nil
}
