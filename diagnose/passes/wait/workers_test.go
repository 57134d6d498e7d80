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
	Expect(t, wait.Channel, waits(1))
}
