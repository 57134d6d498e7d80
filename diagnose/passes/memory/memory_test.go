package memory_test

import (
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/memory"
	"github.com/redline-go/redline/record"
)

const (
	s      = time.Second
	ms     = time.Millisecond
	render = "shop/orders.render@orders.go:130"
)

func collecting(cpu time.Duration) *Builder {
	return Healthy().Background(cpu, "runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker")
}

func TestAllocation(t *testing.T) {
	n := int64(Healthy().Requests())
	Expect(t, memory.Allocation, collecting(4*s).Alloc(n, 200<<10*n, "bytes.growSlice", "bytes.(*Buffer).Write", render), "alloc-hot at orders.go:130")
	Expect(t, memory.Allocation, collecting(4*s).Alloc(400*n, 6000*n, "runtime.newobject", render), "alloc-hot at orders.go:130") // many small objects
	Expect(t, memory.Allocation, Healthy().Alloc(n, 20<<10*n, "bytes.growSlice", render).NoProfile("cpu").Sample(9*s, render))    // costs nothing
	Expect(t, memory.Allocation, collecting(4*s))                                                                                 // spread
	ExpectUnjudged(t, memory.Allocation, Healthy().NoProfile("allocs"), "alloc-hot")
}

func TestCollector(t *testing.T) {
	Expect(t, memory.Collector, Healthy())
	Expect(t, memory.Collector, collecting(6*s), "gc-cpu")
	idle := Healthy().Background(9*s, "runtime.gcDrain", "runtime.gcDrainMarkWorkerIdle", "runtime.gcBgMarkWorker")
	Expect(t, memory.Collector, idle) // on CPUs that had nothing else to do
	Expect(t, memory.Collector, Healthy().Wait(record.StateAssist, 4*ms, 2), "gc-assist")
	// The tail alone assists.
	tail := New(64, 3*ms).Rate(500).CPU(2, 0.4, 0.2, 0.06, 0.1).Busy(2*s).Wait(record.StateRunning, 2*ms, 3)
	Expect(t, memory.Collector, tail.Slow(record.StateAssist, 6*ms), "gc-assist")
	// A busy service's tail meets a cycle now and then.
	Expect(t, memory.Collector, Healthy().Slow(record.StateAssist, 30*ms))
	// Both at once are one thing.
	Expect(t, memory.Collector, collecting(9*s).Wait(record.StateAssist, 4*ms, 2), "gc-assist")
	ExpectUnjudged(t, memory.Collector, New(64, 3*ms), "gc-assist", "gc-cpu")
}
