package wait_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
)

// holding is a chain whose goroutine, in the lock, is in a state for part of the wait.
func holding(state breakdown.State, of time.Duration) breakdown.Chain {
	c := chain(breakdown.Link{Goroutine: "shop/web.handle", Request: true, State: state,
		Stack: append(Stack("sync.(*Mutex).Unlock", set), Serving()...)})
	c.NS = int64(of)
	return c
}

// TestHolderWaitsForCPU: the time for which a holder is ready but has no CPU is due to the
// CPUs, not to the lock.
func TestHolderWaitsForCPU(t *testing.T) {
	locked := func(runs, queued time.Duration) *Builder {
		return busy().Wait(breakdown.StateLock, 10*ms, 1, mutex(get)...).Behind(holding(breakdown.StateRunning, runs),
			holding(breakdown.StateRunnable, queued))
	}
	Expect(t, wait.Lock, locked(ms, 9*ms))
	found := Expect(t, wait.Lock, idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(get)...).
		Behind(holding(breakdown.StateRunning, 27*ms), holding(breakdown.StateRunnable, 3*ms)), "lock-contention at cache.go:41")
	if len(found) == 1 && !strings.Contains(fmt.Sprint(found[0].Evidence), "for 10 % of that the holder is ready to run") {
		t.Errorf("what the share of %.2f leaves out is not told: %+v", found[0].Share, found[0].Evidence)
	}
}

// TestWorkUnderLock: the finding names what the holder does, and not only that it runs.
func TestWorkUnderLock(t *testing.T) {
	under := func(frames ...string) findings.Finding {
		t.Helper()
		b := idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(get)...).Behind(holding(breakdown.StateRunning, 28*ms)).
			Held(8*time.Second, "sync.(*Mutex).Unlock", set)
		b.Busy(time.Second).Sample(4*time.Second, append(frames, set)...)
		found := Expect(t, wait.Lock, b, "lock-contention at cache.go:60")
		if len(found) != 1 {
			return findings.Finding{}
		}
		return found[0]
	}
	for _, c := range []struct {
		title  string
		frames []string
	}{
		{"held while (*Cache).Set sorts (slices.SortFunc)", []string{"slices.insertionSortCmpFunc", "slices.SortFunc"}},
		{"held while (*Cache).Set compresses (gzip.(*Writer).Write)", []string{"compress/flate.(*compressor).deflate", "compress/gzip.(*Writer).Write"}},
		{"held while (*Cache).Set allocates", []string{"runtime.memclrNoHeapPointers", "runtime.mallocgc", "runtime.makeslice"}},
	} {
		if f := under(c.frames...); !strings.Contains(strings.ReplaceAll(f.Title, "cache.", ""), c.title) ||
			!strings.Contains(f.Remedy, "outside") {
			t.Errorf("%q (%s), want %q", f.Title, f.Remedy, c.title)
		} else if math.Abs(f.GainLow-4) > 0.1 || f.GainCeiling < 5 || f.GainHigh < f.GainCeiling {
			t.Errorf("worth %.2f, %.2f to %.2f; without the queue requests take a quarter as long, and without the work less",
				f.GainCeiling, f.GainLow, f.GainHigh)
		}
	}
}

// TestHolderInTheBackground: requests wait for a lock that none of them holds; the remedy is
// at the holder.
func TestHolderInTheBackground(t *testing.T) {
	const refresh, price = "shop/cache.(*Cache).refresh", "shop/cache.price"
	holds := func(request bool) breakdown.Chain {
		return breakdown.Chain{NS: int64(27 * ms), Links: []breakdown.Link{{Goroutine: "shop/cache.Start.func1",
			Request: request, State: breakdown.StateRunning}}}
	}
	path := []breakdown.PathNode{{
		Kind: breakdown.PathGoroutine, Function: "shop/cache.Start.func1", Own: true, Share: 0.9, Nodes: []breakdown.PathNode{
			{Kind: breakdown.PathState, State: breakdown.StateRunning, Share: 0.9, Nodes: []breakdown.PathNode{
				{Kind: breakdown.PathWork, Function: price, File: "/src/price.go", Line: 9, Own: true, Share: 0.9}}}}}}
	locked := func(request bool) *Builder {
		return idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(get)...).Behind(holds(request)).Path(path).
			Held(8*time.Second, "sync.(*Mutex).Unlock", refresh+"@cache.go:70", "shop/cache.Start.func1@cache.go:20")
	}
	found := Expect(t, wait.Lock, locked(false), "lock-contention at cache.go:70")
	if len(found) == 1 && (!strings.Contains(found[0].Title,
		"at cache.go:41; cache.(*Cache).refresh holds it in the background, 100 % of that in cache.price price.go:9") ||
		!strings.Contains(found[0].Where.Detail, "cache.go:41")) {
		t.Errorf("%q, %+v", found[0].Title, found[0].Where)
	}
	Expect(t, wait.Lock, locked(true), "lock-contention at cache.go:70")
}

// TestHolderAmongRequests: a framework serves each request on a goroutine of its own, and these take the lock in
// turn. None of them is in the background.
func TestHolderAmongRequests(t *testing.T) {
	const entry, set = "vendor.example/web.handler.ServeHTTP.func1", "shop/cache.(*Cache).Set"
	link := func(state breakdown.State, frames ...string) breakdown.Link {
		return breakdown.Link{Goroutine: entry, State: state, Times: 1, Stack: Stack(append(frames, entry)...)}
	}
	b := idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", "vendor.example/web.handler.ServeHTTP").
		Waker("runtime.chansend1", entry).Spawned(1).Behind(breakdown.Chain{NS: int64(28 * ms), Links: []breakdown.Link{
		link(breakdown.StateLock, mutex(get)...), link(breakdown.StateRunning, set+"@cache.go:70")}}).
		Held(8*time.Second, "sync.(*Mutex).Unlock", set+".deferwrap1@cache.go:70", set+"@cache.go:70", entry)
	found := Expect(t, wait.Lock, b, "lock-contention at cache.go:70")
	if len(found) != 1 || !strings.HasSuffix(found[0].Title, "cache.(*Cache).Set holds it") || found[0].Where.Function != set {
		t.Errorf("%+v", found)
	}
}

// TestHolderThatTheProfileMissed: the mutex profile samples one event in several, and of a
// lock that is held rarely and long it may have only the waiting requests' own.
func TestHolderThatTheProfileMissed(t *testing.T) {
	background := breakdown.Chain{NS: int64(27 * ms), Links: []breakdown.Link{{Goroutine: "shop/cache.Start.func1",
		State: breakdown.StateRunning}}}
	b := idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(get)...).Behind(background).
		Held(time.Second, "sync.(*Mutex).Unlock", "shop/cache.(*Cache).Get@cache.go:44", "net/http.(*conn).serve")
	b.Busy(time.Second).Background(time.Second, "math.Exp", "shop/cache.price@price.go:9",
		"shop/cache.(*Cache).refresh@cache.go:70", "shop/cache.Start.func1@cache.go:20")
	Expect(t, wait.Lock, b, "lock-contention at cache.go:70")
}

// TestHeldInALibrarysClosure: the compiler names a library's closure after main where it inlines the function
// around it, and a trace's sites have no folders. Profiles do, so the closure is not the user's there: its own
// name stands for the work.
func TestHeldInALibrarysClosure(t *testing.T) {
	const closure = "main.main.(*Client).Middleware.func7"
	held := breakdown.Chain{NS: int64(27 * ms), Links: []breakdown.Link{{Goroutine: "net/http.(*conn).serve", Request: true,
		State: breakdown.StateRunning, Site: "memory.(*Adapter).Set < " + closure + " cache.go:152"}}}
	b := idle().Wait(breakdown.StateLock, 30*ms, 1, "sync.(*Mutex).Lock", "main.serve@main.go:9").Behind(held)
	b.Busy(time.Second).Sample(4*time.Second, "encoding/gob.(*Decoder).Decode", "github.com/kept/memory.(*Adapter).evict",
		closure+"@/root/go/pkg/mod/github.com/kept/cache@v1.0.0/cache.go:152")
	found := Expect(t, wait.Lock, b, "lock-contention at main.go:9")
	if len(found) == 1 && !strings.Contains(found[0].Title, "uses reflection (gob.(*Decoder).Decode)") {
		t.Errorf("%q does not say what is done under the lock", found[0].Title)
	}
}

// TestHeldByADependencysGoroutine: the time in which a holder has no CPU is not the lock's. Of the rest, a goroutine of
// a dependency's own holds most, though it is less than half of the whole wait.
func TestHeldByADependencysGoroutine(t *testing.T) {
	const sweep = "github.com/kept/cache.(*Table).sweep"
	background := breakdown.Chain{NS: int64(12 * ms), Links: []breakdown.Link{{Goroutine: sweep, State: breakdown.StateRunning}}}
	b := idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(get)...).Behind(holding(breakdown.StateRunnable, 14*ms),
		holding(breakdown.StateRunning, 4*ms), background)
	b.Busy(time.Second).Background(2*time.Second, "runtime.mapIterNext", sweep)
	found := Expect(t, wait.Lock, b, "lock-contention at lib.go:0")
	if len(found) == 1 && (found[0].Where.Function != sweep || !strings.Contains(found[0].Title, "holds it in the background")) {
		t.Errorf("%q at %+v", found[0].Title, found[0].Where)
	}
}
