package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record/findings"
)

const (
	// leastSpawned is the number of goroutines per request: a handful is ordinary
	// fan-out.
	leastSpawned = 8
	// leastSpawnCPU is the part of the service's CPU spent on starting, growing and
	// ending goroutines, which healthy services keep below 3 %.
	leastSpawnCPU = 0.08
)

// Spawn finds requests that start many short goroutines.
//
// A goroutine costs a fraction of a microsecond, so only many with little to do
// matter; hence count and CPU both. Stacks begin at 2 KiB and double by copying
// (runtime/stack.go), which is the larger part where each goroutine goes deep.
var Spawn = diagnose.Analyzer{
	Name:  "spawn",
	Stage: diagnose.CPUUse,
	Doc: "Compares goroutines created per request (from the trace) and the CPU of starting, growing and ending them " +
		"(from the CPU profile) with 8 per request and 8 % of CPU; both must be passed.",
	Causes: []diagnose.Cause{churnCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy, diagnose.NeedCPUProfile},
	Run: func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		use, err := p.Use()
		if err != nil {
			return nil, err
		}
		cost, spawned := use.With(callstack.Spawn), p.Anatomy.Spawned
		if spawned < leastSpawned || cost < leastSpawnCPU {
			return nil, nil
		}
		f := diagnose.Finding{
			Cause: "goroutine-churn", Share: cost, ShareOf: diagnose.OfCPU, Confidence: findings.Medium,
			Title:  fmt.Sprintf("Starting %s goroutines per request takes %s of the CPU", diagnose.Number(spawned), diagnose.Percent(cost)),
			Remedy: "Do the pieces in a bounded pool of workers, or give each goroutine a larger piece.",
			Evidence: []findings.Evidence{
				diagnose.Fact(diagnose.FromTrace, spawned, diagnose.Count, "the service starts %s",
					diagnose.PerRequest(spawned, "a goroutine", "goroutines")),
				diagnose.Fact(diagnose.FromProfile, cost, diagnose.Ratio,
					"starting goroutines, growing their stacks and ending them takes %s of the CPU", diagnose.Percent(cost)),
			},
		}
		diagnose.Promise(&f, p.Ran(evidence.Work{Share: cost}))
		if at := use.Spawners(); len(at) > 0 {
			f.Where = diagnose.WhereOf(at[0].Place)
			f.Title += ", most of it at " + diagnose.At(at[0].Place)
		}
		return []diagnose.Finding{f}, nil
	},
}
