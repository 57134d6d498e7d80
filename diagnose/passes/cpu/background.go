package cpu

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/findings"
)

// leastBackground is the least share of the service's CPU at which background work
// is reported. A comparison (redline ab) can still show a tenth.
const leastBackground = 0.10

// leastQueued is the least share of request time spent waiting for a CPU, and the
// least share of CPU spent in the background, at which the second counts as the
// cause of the first. Both must be large: a short run queue has many causes.
const leastQueued = 0.3

// Background finds work that serves no request and takes CPUs from the work that does.
//
// Rule: a goroutine is background work if its samples begin in the service's own
// code, below no connection, and no chain of waits in the execution trace leads
// from a request to it. The second condition excludes worker pools: they serve no
// connection either, yet they are in the request path. stall-index rebuilds an
// index every 2 ms; that is the model case.
var Background = diagnose.Analyzer{
	Name:  "background",
	Stage: diagnose.CPUUse,
	Doc: "Counts CPU samples of goroutines that serve no request and that no request waits for, by the function in which " +
		"they started, at 10 % or more of the service's CPU; also those that a dependency runs on its own.",
	Causes: []diagnose.Cause{{
		ID: "background-work", Title: "Background work uses too much CPU",
		Doc: "Goroutines that serve no request take CPUs from those that do: an index that is rebuilt, a " +
			"sweep over all entries, a flush or a poll in a tight loop.",
		Knows: "CPU samples of goroutines that run the service's own code, do not serve a connection, and for which the " +
			"execution trace shows no request waiting (a worker that does requests' work is not background work), by the " +
			"function in which they started; at least 10 % of the service's CPU. A dependency's goroutines count if none of them " +
			"runs code of the service or reads and writes connections, and they belong to no client, logger or metrics. Work " +
			"that a request starts, or wakes a goroutine for, without waiting for it is the request's own if the trace shows " +
			"that; work that may be of that kind is reported with low confidence. Where: the innermost function that holds nearly " +
			"all of it.",
		Remedy: "Do it less often, only for changed data, in small steps, on a copy, or in another process.",
		Example: diagnose.Example{Lang: "go",
			Before: "for {\n\tm.reindex() // all of it, whether anything changed or not\n\ttime.Sleep(2 * time.Millisecond)\n}",
			After:  "for range m.changed { // a channel of capacity 1, sent to when a stall changes\n\tm.reindex()\n}"},
		Verify: verify, Cases: []string{"stall-index"},
	}},
	Needs: []diagnose.Need{diagnose.NeedCPUProfile, diagnose.NeedAnatomy},
	Run:   runBackground,
}

// ofRequests reports whether the trace saw requests start the work or wake who does it, and then notes that it is theirs.
func ofRequests(p *diagnose.Pass, b usage.Background) bool {
	if b.Requests {
		p.Reject("background-work", "goroutines started in %s take %s of the CPU and no request waits for them, but requests start "+
			"or wake them: the work is the requests' own", callstack.Short(b.Entry), diagnose.Percent(b.Share))
	}
	return b.Requests
}

// runBackground reports every entry function above the limit, largest first: a
// poller and a sweeper have different remedies.
func runBackground(p *diagnose.Pass) ([]diagnose.Finding, error) {
	const cause = "background-work"
	use, err := p.Use()
	if err != nil || !p.Sampled(use, cause) {
		return nil, err
	}
	// Without the trace a pool of workers looks like a background loop, so nothing
	// is reported.
	all, _ := p.Background()
	var found []diagnose.Finding
	for _, b := range all {
		if b.Share < leastBackground || ofRequests(p, b) {
			continue
		}
		name := callstack.Short(b.Place.Function)
		f := diagnose.Finding{
			Cause: cause, Share: min(1, b.Share), ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(b.Place),
			Title: fmt.Sprintf("Background work takes %s of the service's CPU, in %s at %s",
				diagnose.Percent(b.Share), name, diagnose.At(b.Place)),
			Remedy: fmt.Sprintf("Run %s less often, only for changed data, or in small steps; it serves no request.", name),
			Evidence: []findings.Evidence{
				diagnose.Fact(diagnose.FromProfile, b.Share, diagnose.Ratio,
					"%s of %s belong to goroutines started in %s that serve no connection",
					diagnose.Percent(b.Share), samples(use), callstack.Short(b.Entry)),
				diagnose.Fact(diagnose.FromTrace, 0, diagnose.Ratio, "no request waits for them"),
			},
		}
		if b.Dependency {
			f.Remedy = fmt.Sprintf("%s belongs to a dependency and serves no request: make it run less often or over less (its interval, "+
				"lifetimes, limits, fewer entries), or use a version or another library that does.", name)
		}
		diagnose.Promise(&f, p.Ran(evidence.Work{Share: b.Share}))
		// The work can run later, elsewhere, or in small steps, so a lower gain
		// counts as a defect than for work that a response needs.
		f.Confidence = confidence(p, f.GainCeiling, leastWorth)
		if queued := p.Waits().Share(callstack.Queued); queued >= leastQueued && b.Share >= leastQueued {
			// They compete with requests for the CPUs. CPU that other programs on
			// the host take does not excuse this work.
			diagnose.Promise(&f, p.Waited(queued))
			if f.Confidence == findings.Low {
				f.Confidence = findings.Medium
			}
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, queued, diagnose.Ratio,
				"requests are ready to run but wait for a CPU for %s of their time", diagnose.Percent(queued)))
		}
		// A goroutine that a request started without waiting for it may do the
		// request's own deferred work (an audit line, a cache write). A profile
		// does not distinguish the two.
		if b.Started {
			f.Confidence = findings.Low
		}
		f.Evidence = append(f.Evidence, saturation(p)...)
		found = append(found, f)
	}
	return found, nil
}
