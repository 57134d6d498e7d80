package wait_test

import (
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
)

// TestQueueOfSeveralRoutes: requests of several routes queue at one place for a goroutine that mostly syncs a file and closes the
// channel of each. What it does is the same for all of them.
func TestQueueOfSeveralRoutes(t *testing.T) {
	const loop, do = "shop/store.(*Store).loop", "shop/store.(*Store).do@store.go:30"
	b := New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, 2*ms, 3)
	for _, route := range []string{"shop/web.put@web.go:10", "shop/web.post@web.go:20", "shop/web.patch@web.go:30"} {
		b.Wait(breakdown.StateChannel, 10*ms, 0.33, "runtime.chanrecv1", do, route).Waker(loop + "@store.go:70").
			Behind(chain(breakdown.Link{Goroutine: loop, State: breakdown.StateSyscall,
				Stack: Stack("syscall.Fsync", "os.(*File).Sync", loop+"@store.go:66")}))
	}
	b.Path(nil, breakdown.Serial{Goroutine: loop, Goroutines: 1, Requests: 3000, WaitNS: int64(30 * ms), Utilization: 0.99, OnCPU: 0.05,
		ServiceNS: int64(600 * us)})
	Expect(t, wait.Channel, b, "channel-bottleneck at store.go:30")
}
