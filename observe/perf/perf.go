// Package perf counts the CPUs' work for the target's threads: cycles, instructions,
// misses of the last level of cache and of branch prediction, by the hardware's own
// counters (perf_event_open(2)). The kernel's software counters, such as that of
// migrations between CPUs, are not used: one of them made a round trip of two threads
// 30 % more expensive (3.4 to 4.4 us), four times the cost of the eBPF program for the
// run queue.
//
// Each thread that the target has when the run begins gets a counter of its own
// that later threads and children inherit. A thread that is born
// between listing and attaching is not counted. If there are more events than the
// CPU has registers, the kernel multiplexes them, and a window's amount is scaled
// up by the share of time for which its counter was on.
package perf

import (
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/vitals"
	"github.com/redline-go/redline/record"
)

// Source is the observe.Source of the CPU's counters.
type Source struct {
	events []event
	vitals vitals.Vitals
	state  *state // set by Open, released by Run
}

// event is the event of one counter.
type event struct {
	series string
	kind   uint32 // perf_event_attr.type
	config uint64 // perf_event_attr.config, whose meaning follows from the type
}

var (
	_ observe.Source   = (*Source)(nil)
	_ observe.Reporter = (*Source)(nil)
)

// New returns a source that has not been opened.
func New() *Source { return &Source{events: events} }

// Describe implements observe.Source.
func (*Source) Describe() observe.Description {
	return observe.Description{
		Name: "perf",
		Doc:  "Cycles, instructions, cache and branch misses of the target's threads by the CPU's counters.",
		Needs: "Linux on hardware, or in a VM that passes the CPU's counters on; root, CAP_PERFMON, or " +
			"kernel.perf_event_paranoid of 1 or less.",
		Cost: "no code in the target; the kernel saves and loads the counters at each switch of its threads, and redline " +
			"reads one per thread and event each window.",
	}
}

// Health implements observe.Reporter. It names counters that were multiplexed with
// others, because their amounts are scaled.
func (s *Source) Health() record.SourceHealth { return s.vitals.Health(s.Describe().Name) }
