package wait_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
)

// TestWorkersThatWakeAll: several workers that wake all requests whenever one of them
// is done have a queue before them; a single wake-up is an event told to all.
func TestWorkersThatWakeAll(t *testing.T) {
	const worker = "shop/pool.(*Pool).worker"
	calls := breakdown.Chain{Links: []breakdown.Link{
		{Goroutine: worker, State: breakdown.StateSelect},
		{Goroutine: "net/http.(*persistConn).readLoop", State: breakdown.StateNetwork, Stack: Stack("net.(*conn).Read", "net/http.(*persistConn).readLoop")},
	}}
	waits := func(times float64) *Builder {
		return idle().Wait(breakdown.StateSync, 30*ms, times, "sync.(*Cond).Wait", get).
			Waker("sync.(*Cond).Broadcast", worker+"@pool.go:60").Behind(calls).
			Path(nil, breakdown.Serial{Goroutine: worker, Goroutines: 4, Requests: 4000, WaitNS: 4e6, Utilization: 0.99, ServiceNS: 1e6})
	}
	found := Expect(t, wait.Channel, waits(8), "concurrency-limit at cache.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Title, "one of the 4 goroutines of pool.(*Pool).worker") {
		t.Errorf("title %q", found[0].Title)
	}
	// 64 requests of 38 ms for 4 workers: each works 2.5 ms for a request, which more of
	// them do not shorten.
	if len(found) == 1 && (found[0].Share < 0.65 || found[0].Share > 0.75) {
		t.Errorf("share %.2f", found[0].Share)
	}
	Expect(t, wait.Channel, waits(1))
}

// TestHelperIsNoPool: two goroutines that one helper started do the work that was passed to them. Requests
// wait for one of them, and that one is named.
func TestHelperIsNoPool(t *testing.T) {
	const helper, lead = "shop/node.(*Node).start.func1@start.go:9", "shop/node.(*Node).lead@lead.go:40"
	waits := func() *Builder {
		return idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).
			Waker("runtime.chansend1", lead, helper).
			Behind(breakdown.Chain{Links: []breakdown.Link{{Goroutine: "shop/node.(*Node).start.func1", State: breakdown.StateSyscall,
				Stack: Stack("syscall.Pwrite", lead, helper)}}})
	}
	one := Expect(t, wait.Channel, waits().Left(1, 1, "syscall.Pwrite", lead, helper).
		Left(1, 1, "runtime.gopark", "shop/node.(*Node).apply@apply.go:20", helper), "channel-bottleneck at cache.go:41")
	if len(one) == 1 && strings.Contains(one[0].Title+one[0].Remedy, "start.func1") {
		t.Errorf("it names the helper: %s %s", one[0].Title, one[0].Remedy)
	}
	Expect(t, wait.Channel, waits().Left(2, 2, "syscall.Pwrite", lead, helper), "concurrency-limit at cache.go:41")
}
