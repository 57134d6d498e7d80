package cpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// leastInstrument is the least share of the service's CPU at which instrumentation
// is reported. No response needs it, so anything that a comparison can show counts: a
// tenth, as for logging.
const leastInstrument = 0.10

// Instrument finds services that spend their CPU on their own metrics and traces.
//
// Middleware is the trap: it is above the handler on every stack. Only samples
// whose outermost library is the instrumentation, with no user code between it and
// the leaf, are its own; otherwise every handler would be attributed to the
// middleware that wraps it.
var Instrument = also(domain{
	name: "instrumentation", roles: callstack.Instrument, least: leastInstrument, worth: from(wasteWorth),
	doc: "Counts CPU samples inside metrics and tracing libraries and the middleware that they come with, or in the sampling of " +
		"allocations, at 10 % or more of the service's CPU.",
	title: func(h usage.Hot) string {
		if h.Callee != "" {
			return "Recording metrics and traces (" + h.Callee + ")"
		}
		return "Recording metrics and traces"
	},
	cause: diagnose.Cause{
		ID: "instrumentation-cost", Title: "Metrics and tracing use too much CPU",
		Doc: "A large part of the CPU goes into counting, timing and tracing requests: middleware around each handler, " +
			"series looked up by their labels for each observation, spans for trivial steps.",
		Knows: "- CPU samples whose outermost library inside the handler is one for metrics or tracing (Prometheus, " +
			"OpenTelemetry, Datadog, statsd and the like), its own work but not that of the handler it wraps, including " +
			"exporting goroutines and garbage collection of what it allocates; at least 10 % of the service's CPU. Gathering " +
			"metrics for a scrape is not counted; if it stops the world, that is stops-the-world. The service's own counters " +
			"are its own functions: cpu-hot-function, cpu-map or atomic-contention.\n" +
			"- CPU samples in runtime.profilealloc, at 10 % or more, if the service samples its allocations more often than the runtime " +
			"does by itself (runtime.MemProfileRate, or a package that begins a memory profile).",
		Remedy: "Look each series up once and reuse it, wrap each handler once, sample traces, use fewer labels.",
		Example: diagnose.Example{Lang: "go",
			Before: "requests.WithLabelValues(r.Method, route, \"200\").Inc() // hashes three texts, for each request",
			After:  "ok := requests.WithLabelValues(\"GET\", \"/orders\", \"200\") // when the route is registered\n...\nok.Inc()"},
		Verify: verify, Cases: []string{"fare-meters"},
	},
	remedy: func(h usage.Hot) string {
		// WithLabelValues and With hash each label's text under a lock, on every
		// observation. prometheus/client_golang documents keeping the child as the
		// way around it.
		switch {
		case callsAny(h, "metric.With", "attribute."):
			return fmt.Sprintf("Make the attributes once (attribute.NewSet) and pass them with metric.WithAttributeSet, instead of "+
				"calling %s in every request at %s.", h.Callee, diagnose.At(h.Place))
		case callsAny(h, "prometheus.", "tally.") && strings.Contains(h.Callee, "With"):
			return fmt.Sprintf("Look the series up once, when the route is registered, and reuse the result of With instead "+
				"of hashing its labels in every request at %s.", diagnose.At(h.Place))
		}
		return fmt.Sprintf("At %s, record less per request: one middleware instead of several, sampled traces, fewer labels, "+
			"and metric children that are reused instead of looked up.", diagnose.At(h.Place))
	},
}.analyzer(), heapSampling)

// also adds a rule to an analyzer.
func also(a diagnose.Analyzer, rule func(*diagnose.Pass) ([]diagnose.Finding, error)) diagnose.Analyzer {
	first := a.Run
	a.Run = func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		found, err := first(p)
		if err != nil {
			return nil, err
		}
		more, err := rule(p)
		return append(found, more...), err
	}
	return a
}

// sampledEvery is how many bytes the runtime allocates between two samples unless told otherwise (runtime.MemProfileRate).
const sampledEvery = 512 << 10

// heapSampling finds services that sample their allocations much more often than the runtime does by itself, once per 512 KiB: a
// stack is unwound for each sample, under a lock. gocast begins a memory profile in main, at a sample per 4 KiB, which took a
// quarter of its CPU.
func heapSampling(p *diagnose.Pass) ([]diagnose.Finding, error) {
	use, err := p.Use()
	if err != nil {
		return nil, err
	}
	function := "runtime.profilealloc"
	share := use.Part(func(s usage.Booked) bool {
		return slices.ContainsFunc(s.Stack, func(f code.Frame) bool { return f.Function == function })
	})
	allocs, err := p.Profile("allocs", "alloc_space")
	if err != nil || share < leastInstrument || allocs.Period == 0 || allocs.Period >= sampledEvery {
		return nil, nil // the runtime's own rate costs much only where a service does little but allocate
	}
	f := diagnose.Finding{
		Cause: "instrumentation-cost", Share: share, ShareOf: diagnose.OfCPU, Confidence: findings.High,
		Title: fmt.Sprintf("Sampling allocations for the heap profile takes %s of the service's CPU", diagnose.Percent(share)),
		Evidence: append([]findings.Evidence{diagnose.Fact(diagnose.FromProfile, share, diagnose.Ratio, "%s of %s in %s",
			diagnose.Percent(share), samples(use), function), diagnose.Fact(diagnose.FromProfile, float64(allocs.Period), diagnose.Bytes,
			"a sample per %s; the default is one per %s", diagnose.Size(float64(allocs.Period)), diagnose.Size(sampledEvery))},
			saturation(p)...),
		Remedy: "Leave runtime.MemProfileRate at its default of 524288: the service, or a package that it starts a memory profile with, " +
			"sets it lower. Begin such a profile only while somebody wants one.",
	}
	diagnose.Promise(&f, p.Ran(evidence.Work{Share: share}))
	return []diagnose.Finding{f}, nil
}
