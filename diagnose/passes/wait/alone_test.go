package wait_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
)

const (
	storeLoop  = "shop/store.(*Store).loop"
	storeCheck = "shop/store.(*Store).checkConsistency"
	put        = "shop/orders.(*Orders).Put@orders.go:77"
)

// behindLoop is the path of requests that spend a share of their time behind the
// store's loop, which spends 70 % of that in checkConsistency.
func behindLoop(share float64) []breakdown.PathNode {
	work := breakdown.PathNode{Kind: breakdown.PathWork, Function: storeCheck, File: "/src/store.go", Line: 88,
		Own: true, Share: 0.7 * share,
		Nodes: []breakdown.PathNode{{Kind: breakdown.PathWork, Function: "sort.Slice", Share: 0.5 * share}}}
	return []breakdown.PathNode{{
		Kind: breakdown.PathGoroutine, Function: storeLoop, File: "/src/store.go", Line: 50, Own: true, Share: share,
		Nodes: []breakdown.PathNode{
			{Kind: breakdown.PathState, State: breakdown.StateRunning, Share: 0.8 * share, Nodes: []breakdown.PathNode{
				{Kind: breakdown.PathWork, Function: storeLoop, File: "/src/store.go", Line: 52, Own: true, Share: 0.8 * share,
					Nodes: []breakdown.PathNode{work}}}},
			{Kind: breakdown.PathState, State: breakdown.StateAssist, Share: 0.2 * share},
		},
	}, {Kind: breakdown.PathState, State: breakdown.StateRunning, Share: 1 - share}}
}

func lone(requests int) breakdown.Serial {
	return breakdown.Serial{Goroutine: storeLoop, Goroutines: 1, Requests: requests, WaitNS: 30e6,
		Utilization: 0.97, OnCPU: 0.9, Queued: 0.05, ServiceNS: 600e3}
}

// TestServesAlone: a goroutine that does the work of all requests is the finding,
// and the function below it that works is the place, however it signals that it is
// done, and even if requests also start goroutines of their own.
func TestServesAlone(t *testing.T) {
	working := breakdown.Chain{Links: []breakdown.Link{{Goroutine: storeLoop, State: breakdown.StateRunning}}}
	waits := func(waker ...string) *Builder {
		return idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).
			Waker(append(waker, storeLoop+"@store.go:52")...).Behind(working).Path(behindLoop(0.79), lone(400))
	}
	for name, b := range map[string]*Builder{
		"replies":         waits("runtime.chansend1"),
		"closes":          waits(),
		"broadcasts":      waits("sync.(*Cond).Broadcast"),
		"runs a closure":  waits("runtime.chansend1", "shop/quotes.(*Desk).Get.func1@cache.go:43"),
		"spawned besides": waits("runtime.chansend1").Spawned(3).Left(1, 2, "runtime.gopark", storeLoop+"@store.go:52"),
		"from two methods": waits("runtime.chansend1").Wait(breakdown.StateChannel, 2*ms, 1, "runtime.chansend1",
			put).Waker("runtime.chanrecv2", storeLoop+"@store.go:51"),
	} {
		found := Expect(t, wait.Channel, b, "channel-bottleneck at store.go:88")
		if len(found) != 1 {
			t.Errorf("%s: %d findings", name, len(found))
			continue
		}
		f := found[0]
		if want := "Requests queue for one goroutine, store.(*Store).loop, which spends 70 % of its time " +
			"in checkConsistency store.go:88"; f.Title != want {
			t.Errorf("%s: title %q", name, f.Title)
		}
		if f.Where.Function != storeCheck || !strings.Contains(f.Where.Detail, "cache.go:41") {
			t.Errorf("%s: where %+v", name, f.Where)
		}
		// One goroutine of 1,600 requests/s, 70 % of its work gone: three times as many,
		// which the idle CPUs can carry.
		if f.GainCeiling < 1.5 || f.GainCeiling > 5 {
			t.Errorf("%s: worth %.2f", name, f.GainCeiling)
		}
	}
	own := behindLoop(0.79)
	own[0].Nodes[0].Nodes[0].Nodes = nil // it works itself
	itself := idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).
		Waker("runtime.chansend1", storeLoop+"@store.go:52").Behind(working).Path(own, lone(400))
	if found := Expect(t, wait.Channel, itself, "channel-bottleneck at store.go:52"); len(found) == 1 {
		if f := found[0]; !strings.Contains(f.Title, "of its time at store.go:52") ||
			!strings.HasPrefix(f.Remedy, "Make its work at store.go:52 cheaper") {
			t.Errorf("works itself: title %q, remedy %q", f.Title, f.Remedy)
		}
	}
	// Its waits for each request stay with the request, however many there are.
	calls := breakdown.Chain{Links: []breakdown.Link{{Goroutine: storeLoop, State: breakdown.StateNetwork,
		Stack: Stack("net.(*conn).Read", storeLoop)}}}
	slow := lone(400)
	slow.ServiceNS = 10e6
	waiting := Expect(t, wait.Channel, idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).
		Waker("runtime.chansend1", storeLoop+"@store.go:52").Behind(calls).Path(nil, slow), "channel-bottleneck at cache.go:41")
	if len(waiting) == 1 && (waiting[0].GainCeiling < 2 || waiting[0].GainCeiling > 2.3) { // of 38 ms 20 go
		t.Errorf("worth %.2fx", waiting[0].GainCeiling)
	}
	// A request that hands over on one channel and waits for the answer on another waits for the whole of the first.
	apart := Expect(t, wait.Channel, idle().Achieved(90).Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chansend1", get).
		Waker("runtime.chanrecv1", storeLoop+"@store.go:51").Behind(calls).
		Wait(breakdown.StateChannel, 10*ms, 1, "runtime.chanrecv1", put).
		Waker("runtime.chansend1", storeLoop+"@store.go:52").Behind(calls).Path(nil, slow), "channel-bottleneck at cache.go:41")
	if len(apart) == 1 && (apart[0].GainCeiling < 2.6 || apart[0].GainCeiling > 2.8) { // of 48 ms 30 go
		t.Errorf("worth %.2fx, its answer waited for elsewhere", apart[0].GainCeiling)
	}
	// Work for which hardly anything waits is not reported.
	Expect(t, wait.Channel, idle().Wait(breakdown.StateChannel, ms, 1, "runtime.chanrecv1", get).
		Waker("runtime.chansend1", storeLoop+"@store.go:52").Behind(working).Path(behindLoop(0.1), lone(400)).
		Background(time.Second, storeCheck+"@store.go:88"))
}

// TestReadyOnUsedUpCPUs: one goroutine serves all, and is mostly ready to run while other programs use the CPUs up (etcd, whose loop takes
// all readers at once). A slot's holders that run compete for the same CPUs (VictoriaMetrics). Where CPUs are free, or the goroutine works
// most of the time, it is the limit.
func TestReadyOnUsedUpCPUs(t *testing.T) {
	ready := breakdown.Chain{NS: int64(25 * ms), Links: []breakdown.Link{{Goroutine: storeLoop, State: breakdown.StateRunnable}}}
	runs := breakdown.Chain{NS: int64(5 * ms), Links: []breakdown.Link{{Goroutine: storeLoop, State: breakdown.StateRunning}}}
	behind := func(busy, working float64) *Builder {
		one := lone(400)
		one.Utilization, one.OnCPU, one.Queued = working+0.3, working, 0.3
		return New(64, 40*ms).CPU(2, busy, 0.4, 0.1, 0.1).Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateRunnable, 6*ms, 3).
			Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", get).Waker("runtime.chansend1", storeLoop+"@store.go:52").
			Behind(ready, runs).Path(behindLoop(0.79), one)
	}
	Expect(t, wait.Channel, behind(1.98, 0.1))
	Expect(t, wait.Channel, behind(1.98, 0.6), "channel-bottleneck")
	Expect(t, wait.Channel, behind(0.9, 0.1), "channel-bottleneck")

	const entry = "shop/api.Serve.func1"
	slot := func(busy float64) *Builder {
		b := New(64, 40*ms).CPU(2, busy, 0.4, 0.1, 0.1).Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateRunnable, 6*ms, 3)
		return b.Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chansend1", get).Waker("runtime.chanrecv1", get).
			Behind(breakdown.Chain{Links: []breakdown.Link{{Goroutine: entry, Request: true, State: breakdown.StateRunning}}})
	}
	Expect(t, wait.Channel, slot(1.98))
	Expect(t, wait.Channel, slot(0.9), "concurrency-limit")
}
