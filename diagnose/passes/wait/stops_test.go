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
	reads = "runtime.ReadMemStats"
	stats = "shop/web.stats@web.go:9"
)

// stopped waits for stops of the world by a call.
func stopped(b *Builder, each time.Duration, frames ...string) *Builder {
	return b.Wait(breakdown.StateStoppedByCall, each, 2, frames...)
}

func TestStops(t *testing.T) {
	found := Expect(t, wait.Stops, stopped(stopped(idle(), 10*ms, reads, stats), 20*ms, "runtime.stopTheWorld", reads, stats),
		"stops-the-world at web.go:9")
	if len(found) == 1 && (found[0].Share < 0.78 || found[0].GainCeiling < 2 ||
		found[0].Title != "web.stats stops the world to read memory statistics: requests wait 79 % of their time") {
		t.Errorf("%.2f, worth %.2f: %s", found[0].Share, found[0].GainCeiling, found[0].Title)
	}
	// A stop is no hand-over, however short.
	tiny := func(stop time.Duration) *Builder {
		return stopped(New(8, 200*us).CPU(2, 0.9, 0.5, 0.1, 0).Wait(breakdown.StateRunning, 100*us, 2), stop, reads, stats)
	}
	Expect(t, wait.Stops, tiny(60*us), "stops-the-world at web.go:9")
	Expect(t, wait.Stops, tiny(8*us))
	Expect(t, wait.Stops, stopped(busy(), 30*ms, reads, stats), "stops-the-world at web.go:9") // the others' CPUs wait as well
	// A dump now and then, which is what slow requests wait for.
	tail := New(64, 3*ms).Rate(500).Late(40*ms, 0.011).CPU(2, 0.4, 0.2, 0.06, 0.1).Wait(breakdown.StateRunning, 2*ms, 3)
	Expect(t, wait.Stops, tail.Slow(breakdown.StateStoppedByCall, 30*ms, "runtime.Stack", stats), "stops-the-world at web.go:9")
	// In an open loop that keeps its schedule nothing waits for it.
	Expect(t, wait.Stops, tiny(60*us).Rate(300))
	Expect(t, wait.Stops, idle().Wait(breakdown.StateSTW, 30*ms, 2)) // the collector's
	Expect(t, wait.Stops, stopped(idle(), 30*ms, "runtime.gcStart", "runtime.GC", "runtime/debug.FreeOSMemory", stats))
	ExpectUnjudged(t, wait.Stops, New(64, 40*ms), "stops-the-world")
}

// TestStopsForWhat: the finding says what the call is for, and what to do instead.
func TestStopsForWhat(t *testing.T) {
	const client = "github.com/prometheus/client_golang/prometheus.(*goCollector).Collect"
	for _, c := range []struct {
		frames, title, remedy string
	}{
		{reads, "to read memory statistics", "Read runtime/metrics at web.go:9 instead of runtime.ReadMemStats"},
		{reads + " " + client, "to read memory statistics", "Call prometheus.(*goCollector).Collect less often, or use a version"},
		{"runtime.Stack runtime/pprof.writeGoroutineStacks runtime/pprof.(*Profile).WriteTo", "to see all goroutines",
			"Call pprof.(*Profile).WriteTo on demand, not for each request at web.go:9"},
		{"runtime.goroutineProfileWithLabelsConcurrent runtime/pprof.(*Profile).WriteTo", "to see all goroutines", "runtime.NumGoroutine"},
		{"runtime/debug.WriteHeapDump", "to write the heap to a file", "on demand, not for each request at web.go:9"},
		{"runtime.stopTheWorldGC runtime.GOMAXPROCS", "to change GOMAXPROCS", "as the service starts, not at web.go:9"},
		{"runtime.reread", "with runtime.reread", "Call runtime.reread once, or on demand"},
		{"", "with a call", "Make that call once, or on demand"},
	} {
		found := Expect(t, wait.Stops, stopped(idle(), 30*ms, append(strings.Fields(c.frames), stats)...), "stops-the-world at web.go:9")
		if len(found) == 1 && (!strings.Contains(found[0].Title, c.title+":") || !strings.Contains(found[0].Remedy, c.remedy)) {
			t.Errorf("%s: %q, %q", c.frames, found[0].Title, found[0].Remedy)
		}
	}
}

// TestStopsOnThePath: what requests lose to a lock's holder that stops the world counts, and so do stops by a goroutine that
// serves no request.
func TestStopsOnThePath(t *testing.T) {
	halted := func(share float64, stack ...string) breakdown.PathNode {
		return breakdown.PathNode{Kind: breakdown.PathState, State: breakdown.StateStoppedByCall,
			NS: int64(share * float64(40*ms)), Share: share, Stack: Stack(stack...)}
	}
	locked := func(nodes ...breakdown.PathNode) *Builder {
		request := breakdown.PathNode{Kind: breakdown.PathRequest, State: breakdown.StateLock, Function: "shop/cache.(*Cache).Get"}
		request.Nodes = nodes
		for _, n := range nodes {
			request.NS, request.Share = request.NS+n.NS, request.Share+n.Share
		}
		return idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(get)...).Path([]breakdown.PathNode{request})
	}
	found := Expect(t, wait.Stops, locked(halted(0.5, reads, set), halted(0.2, "runtime.stopTheWorld", reads, set)),
		"stops-the-world at cache.go:60")
	if len(found) == 1 && (found[0].Share < 0.69 || found[0].Share > 0.71) {
		t.Errorf("the path has %.2f of it, want 0.70", found[0].Share)
	}
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "runtime/metrics") {
		t.Error(found[0].Remedy)
	}
	Expect(t, wait.Stops, locked(halted(0.7, "runtime.GC", set)))
	found = Expect(t, wait.Stops, locked(halted(0.7, "runtime.Stack", "shop/web.watch@web.go:70")), "stops-the-world at web.go:70")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "not so often at web.go:70") {
		t.Error(found[0].Remedy)
	}
	// What requests wait for themselves, and behind the lock, is one thing.
	found = Expect(t, wait.Stops, stopped(locked(halted(0.3, reads, set), halted(0.2, reads, set)), 10*ms, reads, set),
		"stops-the-world at cache.go:60")
	if len(found) == 1 && (found[0].Share < 0.49 || found[0].Share > 0.51) {
		t.Errorf("the path has %.2f of it, want 0.50", found[0].Share)
	}
}
