package wait

import (
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
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
// A goroutine costs a fraction of a microsecond, so only many with little work
// matter; hence both count and CPU. Stacks begin at 2 KiB and double by copying
// (runtime/stack.go), which is the larger part where each goroutine goes deep.
var Spawn = diagnose.Analyzer{
	Name:  "spawn",
	Stage: diagnose.CPUUse,
	Doc: "Compares goroutines created per request (from the trace) and the CPU of starting, growing and ending them (from " +
		"the CPU profile) with 8 per request and 8 % of CPU; both must be reached.",
	Causes: []diagnose.Cause{churnCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy, diagnose.NeedCPUProfile},
	Run: func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		use, err := p.Use()
		if err != nil {
			return nil, err
		}
		cost, spawned := use.With(callstack.Spawn), startedFor(p)
		if spawned < leastSpawned || cost < leastSpawnCPU {
			return nil, nil
		}
		f := diagnose.Finding{
			Cause: "goroutine-churn", Share: cost, ShareOf: diagnose.OfCPU, Confidence: findings.Medium,
			Title:  fmt.Sprintf("Starting %s goroutines per request takes %s of the CPU", diagnose.Number(spawned), diagnose.Percent(cost)),
			Remedy: "Use a bounded pool of workers, or give each goroutine a larger piece of work.",
			Evidence: []findings.Evidence{
				diagnose.Fact(diagnose.FromTrace, spawned, diagnose.Count, "the service starts %s",
					diagnose.PerRequest(spawned, "a goroutine", "goroutines")),
				diagnose.Fact(diagnose.FromProfile, cost, diagnose.Ratio,
					"starting goroutines, growing their stacks and ending them takes %s of the CPU", diagnose.Percent(cost)),
			},
		}
		at := use.Spawners()
		more := dispatched(p, use, spawned) + handed(p, use, at)
		diagnose.Promise(&f, p.Ran(evidence.Work{Share: min(1, cost+more)}))
		f.GainAtLeast = f.GainAtLeast || runsCold(p, use, spawned)
		if more >= leastMore {
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, more, diagnose.Ratio,
				"scheduling them, and memory allocated where they are started, take another %s of the CPU", diagnose.Percent(more)))
		}
		if place, ok := started(p, p.Anatomy.Helpers); ok {
			f.Where = diagnose.WhereOf(place)
			f.Title += ", most of them at " + diagnose.At(place)
		} else if len(at) > 0 {
			f.Where = diagnose.WhereOf(at[0].Place)
			f.Title += ", most of it at " + diagnose.At(at[0].Place)
		}
		return []diagnose.Finding{f}, nil
	},
}

// coldNS is the mean work of a goroutine, in ns of CPU, below which its start counts within that work too: the
// first accesses to a new stack, and to data that another CPU wrote last. In an idle process this cost 50 ns
// for a goroutine of 30 ns. In two saturated services, run with and without their goroutines, what a finding leaves of a
// request was dearer by 290 ns per goroutine.
const coldNS = 1000

// runsCold reports whether what the goroutines of requests do themselves is so short that their start makes it dearer.
func runsCold(p *diagnose.Pass, use *usage.Table, spawned float64) bool {
	entries := map[string]bool{}
	for _, h := range p.Anatomy.Helpers {
		entries[h.Entry] = !p.Stacks.Plumbing(h.Entry)
	}
	own := use.Part(func(s usage.Booked) bool { return entries[p.Began(s.Stack)] && !s.Roles.Has(callstack.Spawn) })
	each := own * p.Own() * 1e9 / (p.Load().Rate * spawned)
	return each < coldNS // not where a figure is unknown
}

// startedFor returns how many goroutines a request starts, by itself and through those that work for it. Those of a client do not count:
// database/sql starts one for the rows of each query in a transaction, and net/http some for each connection. There are as many as
// there are queries and connections, which have causes of their own.
func startedFor(p *diagnose.Pass) float64 {
	helpers, clients := 0, 0
	for _, h := range p.Anatomy.Helpers {
		helpers += h.Count
		if p.Stacks.Plumbing(h.Entry) {
			clients += h.Count
		}
	}
	all := max(p.Anatomy.Spawned, float64(helpers)/float64(max(1, p.Anatomy.Requests+p.Anatomy.Partial)))
	return all * (1 - float64(clients)/float64(max(1, helpers)))
}

// mostStarted is the part of the goroutines that one line must start to be the place.
const mostStarted = 0.5

// started returns the user's line at which requests start most of the goroutines. The profile shows only
// where stacks grow, which is wherever a goroutine calls deeply. ok is false without such a line.
func started(p *diagnose.Pass, goroutines []breakdown.Helper) (place code.Frame, ok bool) {
	sum, lines := 0, map[code.Frame]int{}
	for _, h := range goroutines {
		sum += h.Count
		if i := p.Stacks.Innermost(h.Start); i >= 0 {
			lines[h.Start[i]] += h.Count
		}
	}
	for f, n := range lines {
		if float64(n) > mostStarted*float64(sum) {
			return f, true
		}
	}
	return code.Frame{}, false
}

// leastMore is the least part of the service's CPU at which the other costs of
// goroutines are reported.
const leastMore = 0.02

// dispatched returns the part of the service's CPU in which the scheduler puts the goroutines
// of requests on CPUs, 0 to 1. Its work is proportional to dispatches: a goroutine has at least one, and
// a request one for each time that it was runnable. Searches by idle CPUs belong to no goroutine.
func dispatched(p *diagnose.Pass, use *usage.Table, spawned float64) float64 {
	c, own := p.CPU(), 0.0
	for _, part := range p.Anatomy.All {
		if part.State == breakdown.StateRunnable {
			own += part.Times
		}
	}
	part := use.Part(func(s usage.Booked) bool { return s.Domain == callstack.Schedule && !s.Roles.Has(callstack.Spawn) })
	if c.Target < c.Limit {
		part *= c.Target / c.Limit
	}
	return part * spawned / (spawned + own)
}

// handed returns the part of the service's CPU that goes into allocating at the lines that
// start goroutines (mostly closures) and into collecting those bytes.
func handed(p *diagnose.Pass, use *usage.Table, at []usage.Hot) float64 {
	starts := func(stack []code.Frame) bool {
		i := p.Stacks.Innermost(stack)
		return i >= 0 && slices.ContainsFunc(at, func(h usage.Hot) bool { return h.Place == stack[i] })
	}
	cost := use.Part(func(s usage.Booked) bool {
		return s.Roles.Has(callstack.Allocate) && !s.Roles.Has(callstack.Spawn|callstack.GCWork|callstack.GCAssist) && starts(s.Stack)
	})
	allocs, err := p.Profile("allocs", "alloc_space")
	if err != nil || allocs.Total == 0 {
		return cost
	}
	bytes := 0.0
	for _, s := range allocs.Samples {
		if starts(s.Stack) {
			bytes += float64(s.Value)
		}
	}
	collecting := use.Part(func(s usage.Booked) bool {
		return s.Roles.Has(callstack.GCWork|callstack.GCAssist) && !s.Roles.Has(callstack.Spawn)
	})
	return cost + collecting*p.Collection().Ordinary()*bytes/float64(allocs.Total)
}
