package database

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
)

// warmNS is what a statement costs on a session that is in use, in ns, besides its execution: its way to the server
// and back, parsing, and a plan from warm catalogue caches.
const warmNS = 100e3

// cold is what the first statements of new sessions cost besides their execution. A session begins with empty
// catalogue caches, and the driver prepares all that it had prepared for another.
type cold struct {
	share float64 // of request time, that the server does not spend on execution
	cpus  float64 // of the server, outside of execution
}

// coldOf finds it where the server counts statements. Where requests open as many sessions as they run statements,
// each statement is the first; where they run ten times as many, one in ten is.
func coldOf(p *diagnose.Pass, opened float64) (c cold) {
	all, load := p.Statements(), p.Load()
	if all == nil || !(opened > 0) || !(load.Requests > 0) {
		return c
	}
	calls := 0.0
	for _, s := range all.Statements {
		calls += float64(s.Calls)
	}
	if calls = demand.PerRequest(p, calls); !(calls > 0) {
		return c
	}
	first := min(1, opened/calls)
	if w := p.Waits(); w.MeanNS() > 0 {
		overhead := w.NS(callstack.DatabaseWait, callstack.PrepareWait) * (1 - demand.Executed(p))
		c.share = first * max(0, overhead-calls*warmNS) / w.MeanNS()
	}
	if outside, ok := outsideExecution(p); ok {
		c.cpus = first * max(0, outside*p.CPU().Database-calls*load.Rate*warmNS/1e9)
	}
	return c
}

// leastCold is the least part of request time for which the first statements are reported.
const leastCold = 0.02

// describe says in a finding what the first statements of its sessions cost.
func (c cold) describe(f *diagnose.Finding) {
	if c.share >= leastCold {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, c.share, diagnose.Ratio,
			"the first statements of new sessions take another %s of request time on top of their execution", diagnose.Percent(c.share)))
	}
}
